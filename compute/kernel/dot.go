package kernel

// dotLanes is how many sums a product of two vectors keeps apart.
const dotLanes = 32

// Dots sets dst[i] to Σ x[j]·y[j] in float64 for y the i-th of len(dst) rows: each product is exact, and 32 sums of every
// 32nd of them are added up by halves. The bits are the same on every kernel. It panics when the lengths do not fit.
func Dots(dst []float64, x, rows []float32) {
	sameLength(len(dst)*len(x), len(rows))
	active.products(dst, x, rows)
}

// Squares is Dots of each of len(dst) rows with itself. It panics when they are not of one length.
func Squares(dst []float64, rows []float32) {
	sameLength(len(rows)/max(len(dst), 1)*len(dst), len(rows))
	active.products(dst, nil, rows)
}

// products multiplies rows by x, or by themselves if x is nil.
func (m *machine) products(dst []float64, x, rows []float32) {
	n := len(rows) / max(len(dst), 1)
	switch {
	case m.dots == nil || n == 0:
		for i := range dst {
			dst[i] = dotPortable(x, rows[i*n:(i+1)*n])
		}
	case x == nil:
		m.squares(&dst[0], &rows[0], n, len(dst))
	default:
		m.dots(&dst[0], &x[0], &rows[0], n, len(dst))
	}
}

func dotPortable(x, y []float32) float64 {
	if x == nil {
		x = y
	}
	var sums [dotLanes]float64
	for i, v := range y {
		sums[i%dotLanes] += float64(x[i]) * float64(v)
	}
	for n := dotLanes / 2; n > 0; n /= 2 {
		for i := range n {
			sums[i] += sums[i+n]
		}
	}
	return sums[0]
}
