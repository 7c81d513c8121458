package scatter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func randomImages(n, size int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n*size)
	for i := range x {
		x[i] = rng.Float32()
	}
	return x
}

// The sizes of MNIST and CIFAR-10, and others that are not square.
func TestAgainstConvolution(t *testing.T) {
	for _, c := range []struct {
		height, width, colours int
		full                   bool
	}{
		{28, 28, 1, false}, {28, 28, 1, true}, {32, 32, 1, true}, {32, 32, 3, false},
		{8, 8, 1, false}, {12, 16, 1, false}, {12, 16, 1, true}, {16, 8, 3, false},
	} {
		t.Run(fmt.Sprintf("%d×%d×%d full=%v", c.height, c.width, c.colours, c.full), func(t *testing.T) {
			s, err := New(c.height, c.width, c.colours, Options{Full: c.full})
			if err != nil {
				t.Fatal(err)
			}
			image := randomImages(1, s.Inputs(), 3)
			got := make([]float32, s.Dim())
			s.Apply(got, image, 2)
			o := oracle{c.height, c.width, c.height + 8, c.width + 8, c.full}
			at, worst := 0, 0.0
			for colour := range c.colours {
				one := make([]float32, c.height*c.width)
				for i := range one {
					one[i] = image[i*c.colours+colour]
				}
				for _, want := range o.features(one) {
					off := math.Abs(float64(got[at]) - want)
					if !(off <= 1e-5) {
						t.Fatalf("feature %d is %g, by convolution %g", at, got[at], want)
					}
					worst = max(worst, off)
					at++
				}
			}
			if at != s.Dim() {
				t.Fatalf("%d features, want %d", s.Dim(), at)
			}
			t.Logf("largest error %.1e", worst)
		})
	}
}

// A plane wave answers most in the channel of its own scale and orientation, and of the
// channels behind the moduli of scale 0 in those of that orientation. Orientation k has
// its wave vector at (3−k)·π/8 from the downward axis, towards the right.
func TestOrderOfChannels(t *testing.T) {
	const side = 32
	s, err := New(side, side, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for scale, length := range []float64{0.75 * math.Pi, 0.375 * math.Pi} {
		for angle := range Angles {
			sin, cos := math.Sincos(float64(3-angle) * math.Pi / 8)
			image := make([]float32, side*side)
			for i := range side {
				for j := range side {
					image[i*side+j] = float32(0.5 + 0.5*math.Cos(length*(float64(i)*cos+float64(j)*sin)))
				}
			}
			got := make([]float32, s.Dim())
			s.Apply(got, image, 1)
			// the middle of the image, away from what reflection does to a wave
			middle := func(channel int) float32 { return got[channel*s.outputs+s.outputs/2+side/stride/2] }
			best, most := 0, float32(0)
			for channel := 1; channel < 1+2*Angles; channel++ {
				if v := middle(channel); v > most {
					best, most = channel, v
				}
			}
			if want := 1 + scale*Angles + angle; best != want {
				t.Errorf("scale %d, orientation %d: strongest is channel %d, want %d", scale, angle, best, want)
			}
		}
	}
}

// The orientation of scale 0 is the outer one of the last 64 channels: fine waves down
// that fade in and out to the right answer at (3, 7) and hardly at (7, 3).
func TestOuterOrientation(t *testing.T) {
	const side = 32
	s, err := New(side, side, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	image, got := make([]float32, side*side), make([]float32, s.Dim())
	for i := range side {
		for j := range side {
			image[i*side+j] = float32(0.5 + 0.25*math.Cos(0.75*math.Pi*float64(i))*(1+math.Cos(0.375*math.Pi*float64(j))))
		}
	}
	s.Apply(got, image, 1)
	middle := func(outer, inner int) float32 {
		return got[(1+2*Angles+outer*Angles+inner)*s.outputs+s.outputs/2+side/stride/2]
	}
	if a, b := middle(3, 7), middle(7, 3); a < 10*b {
		t.Errorf("%g at (3, 7), %g at (7, 3)", a, b)
	}
}

// What moves by four pixels over black ground moves by one position in the features.
func TestTranslation(t *testing.T) {
	const side, positions = 32, 8
	for _, full := range []bool{false, true} {
		s, err := New(side, side, 1, Options{Full: full})
		if err != nil {
			t.Fatal(err)
		}
		blob := randomImages(1, 64, 6)
		place := func(top, left int) []float32 {
			image := make([]float32, side*side)
			for i := range blob {
				image[(top+i/8)*side+left+i%8] = blob[i]
			}
			got := make([]float32, s.Dim())
			s.Apply(got, image, 1)
			return got
		}
		here, there := place(12, 8), place(8, 16) // one position up, two to the right
		for channel := range Channels {
			for i := 1; i < positions; i++ {
				for j := range positions - 2 {
					a, b := here[channel*s.outputs+i*positions+j], there[channel*s.outputs+(i-1)*positions+j+2]
					if math.Abs(float64(a-b)) > 1e-6 {
						t.Fatalf("full=%v, channel %d at %d, %d: %g, moved %g", full, channel, i, j, a, b)
					}
				}
			}
		}
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct{ side, colours, dim int }{{28, 1, 3969}, {32, 1, 5184}, {32, 3, 15552}} {
		if got, err := Size(c.side, c.side, c.colours); err != nil || got != c.dim {
			t.Errorf("%d: %d features (%v), want %d", c.side, got, err, c.dim)
		}
	}
	for _, bad := range [][3]int{{27, 28, 1}, {4, 8, 1}, {28, 28, 0}, {128, 128, 1}, {0, 0, 1}, {-4, 28, 1}, {28, 30, 1}, {28, 28, 17}} {
		if _, err := New(bad[0], bad[1], bad[2], Options{}); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

// A constant has no response but its average, and no direction.
func TestConstantImage(t *testing.T) {
	s, err := New(8, 8, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	image, got := slices.Repeat([]float32{0.5}, 64), make([]float32, s.Dim())
	s.Apply(got, image, 1)
	for i, v := range got {
		want := 0.0
		if i < s.outputs {
			want = 0.5
		}
		if math.Abs(float64(v)-want) > 1e-5 {
			t.Fatalf("feature %d is %g, want %g", i, v, want)
		}
	}
	zero := make([]float32, s.Dim())
	s.Apply(zero, make([]float32, 64), 1)
	s.Normalize(zero)
	for _, v := range zero {
		if v != 0 {
			t.Fatalf("a black image normalizes to %g", v)
		}
	}
}

// Every three channels by the formula, in float64; rows of photographs' contrast come to
// a norm close below 1.
func TestNormalize(t *testing.T) {
	s, err := New(8, 12, 3, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]float32, 5*s.Dim())
	s.Apply(rows, randomImages(5, s.Inputs(), 4), 2)
	for i := range s.Dim() { // one row far from the small numbers of noise
		rows[i] = 30*rows[i] + float32(i%7)
	}
	got := slices.Clone(rows)
	s.Normalize(got)
	const size = 3 * 2 * 3 // channels × positions
	for lo := 0; lo < len(rows); lo += size {
		mean, variance := 0.0, 0.0
		for _, v := range rows[lo : lo+size] {
			mean += float64(v) / size
		}
		for _, v := range rows[lo : lo+size] {
			variance += (float64(v) - mean) * (float64(v) - mean) / size
		}
		for i, v := range rows[lo : lo+size] {
			want := (float64(v) - mean) / math.Sqrt(variance+1e-5) / math.Sqrt(3*81*2*3)
			if math.Abs(float64(got[lo+i])-want) > 1e-7 {
				t.Fatalf("number %d is %g, want %g", lo+i, got[lo+i], want)
			}
		}
	}
	for i := range 5 {
		square := 0.0
		for _, v := range got[i*s.Dim() : (i+1)*s.Dim()] {
			square += float64(v) * float64(v)
		}
		least := 0.2 // noise has little variance between places, and 1e-5 counts
		if i == 0 {
			least = 0.999
		}
		if !(square <= 1+1e-6 && square > least) {
			t.Errorf("row %d has norm² %g", i, square)
		}
	}
}

func TestResultDoesNotDependOnWorkersOrCompany(t *testing.T) {
	s, err := New(8, 8, 2, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 2*chunk + 3
	images := randomImages(n, s.Inputs(), 5)
	one, two, alone := make([]float32, n*s.Dim()), make([]float32, n*s.Dim()), make([]float32, s.Dim())
	s.Apply(one, images, 1)
	s.Apply(two, images, 3)
	if !slices.Equal(one, two) {
		t.Error("another number of workers gives other bits")
	}
	s.Apply(alone, images[40*s.Inputs():41*s.Inputs()], 1)
	if !slices.Equal(alone, one[40*s.Dim():41*s.Dim()]) {
		t.Error("an image alone has other features than in company")
	}
	s.Apply(nil, nil, 2)
}

// Of shapes, numbers of images and workers at random: the features of an image alone.
func TestShapesAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.SampledFrom([]int{8, 12, 16, 8, 12, 16, 8, 0, 4, 10, 13})
		height, width, colours := side.Draw(t, "height"), side.Draw(t, "width"), rapid.IntRange(0, 3).Draw(t, "colours")
		want := height%4 == 0 && width%4 == 0 && height >= 8 && width >= 8 && colours > 0
		s, err := New(height, width, colours, Options{Full: rapid.Bool().Draw(t, "full")})
		if (err == nil) != want {
			t.Fatalf("error %v, want one: %v", err, !want)
		}
		if err != nil {
			return
		}
		if d, err := Size(height, width, colours); err != nil || d != s.Dim() || d != colours*81*height*width/16 {
			t.Fatalf("sizes %d and %d (%v)", d, s.Dim(), err)
		}
		n := rapid.IntRange(0, 9).Draw(t, "images")
		images := randomImages(n, s.Inputs(), rapid.Uint64().Draw(t, "seed"))
		got, one := make([]float32, n*s.Dim()), make([]float32, s.Dim())
		s.Apply(got, images, rapid.IntRange(0, 4).Draw(t, "workers"))
		for i := range n {
			s.Apply(one, images[i*s.Inputs():(i+1)*s.Inputs()], 1)
			if !slices.Equal(one, got[i*s.Dim():(i+1)*s.Dim()]) {
				t.Fatalf("image %d of %d has other features alone", i, n)
			}
		}
	})
}

// A broken image spoils its own features and no others.
func TestNotANumberStaysAtHome(t *testing.T) {
	s, err := New(8, 8, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	images := randomImages(3, 64, 7)
	want, got := make([]float32, 3*s.Dim()), make([]float32, 3*s.Dim())
	s.Apply(want, images, 1)
	images[64+9] = float32(math.NaN())
	s.Apply(got, images, 1)
	if !slices.Equal(got[:s.Dim()], want[:s.Dim()]) || !slices.Equal(got[2*s.Dim():], want[2*s.Dim():]) {
		t.Error("the neighbours of a broken image have changed")
	}
	if v := got[s.Dim()]; v == v {
		t.Error("the broken image has a number for a feature")
	}
}

func BenchmarkApply(b *testing.B) {
	for _, c := range []struct {
		side, colours int
		full          bool
	}{{28, 1, false}, {28, 1, true}, {32, 3, false}} {
		b.Run(fmt.Sprintf("%d×%d×%d/full=%v", c.side, c.side, c.colours, c.full), func(b *testing.B) {
			s, err := New(c.side, c.side, c.colours, Options{Full: c.full})
			if err != nil {
				b.Fatal(err)
			}
			images := randomImages(256, s.Inputs(), 1)
			dst := make([]float32, 256*s.Dim())
			b.ReportAllocs()
			for b.Loop() {
				s.Apply(dst, images, 2)
			}
			b.ReportMetric(float64(256*b.N)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
