package scatter

// Margin is the number of pixels by which an image is reflected at each border, and
// Stride how far apart the positions of the features are, from the first pixel of the
// image on.
const (
	Margin = margin
	Stride = stride
)

// Filters are the numbers that the transform is made of, for a program that writes it
// down in another form: those on the periodic plane of Rows×Cols points around an image,
// row-major, the origin first. The response of values v at a point p is Σ_i f(p−i)·v(i);
// values known at every second point of both axes count four times.
type Filters struct {
	Rows, Cols int
	Average    []float64
	Waves      [2][Angles][]complex128 // by scale
}

// FiltersOf returns the filters for images of height×width pixels.
func FiltersOf(height, width int) Filters {
	f := Filters{Rows: height + 2*margin, Cols: width + 2*margin}
	for _, v := range average(f.Rows, f.Cols).values {
		f.Average = append(f.Average, real(v))
	}
	for scale := range f.Waves {
		for angle := range Angles {
			f.Waves[scale][angle] = morlet(f.Rows, f.Cols, scale, angle).values
		}
	}
	return f
}
