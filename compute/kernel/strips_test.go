package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Assembly gives the bits of Go for words at the ends of a strip, of the sign and of the point, at every length.
func TestStripsAreTheSameOnEachMachine(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var table [256]Strip
	for i := range table {
		table[i] = Strip{Inside: 1 << 53 / 256 * uint64(i), Unit: rng.Float64() * 0x1p-53}
	}
	table[255].Inside = 1 << 53
	const n = 300
	words := make([]byte, 8*n)
	for i := range n {
		u := rng.Uint64()
		switch strip := u & 255; i % 5 {
		case 1:
			u &= 1<<11 - 1 // the point 0, of either sign
		case 2:
			u |= ^uint64(1<<11 - 1) // the last point
		case 3:
			u = table[strip].Inside<<11 | u&(1<<11-1) // the first one beyond; of strip 255 the point 0
		case 4:
			u = (table[strip].Inside-1)<<11 | u&(1<<11-1) // the last one within; of strip 0 the last one
		}
		binary.LittleEndian.PutUint64(words[8*i:], u)
	}
	onEach(t, func(t *testing.T, x *machine) {
		for length := range n + 1 {
			want, got := make([]float64, length), make([]float64, length+1)
			marks, beyond := make([]uint8, (length+7)/8), slices.Repeat([]uint8{0xa5}, (length+7)/8+1)
			got[length] = 7
			stripsPortable(want, words, &table, marks)
			x.points(got[:length], words, &table, beyond)
			for i, v := range want {
				if math.Float64bits(got[i]) != math.Float64bits(v) {
					t.Fatalf("length %d, word %d: %x, not %x", length, i, got[i], v)
				}
			}
			if !slices.Equal(beyond[:len(marks)], marks) || beyond[len(marks)] != 0xa5 || got[length] != 7 {
				t.Fatalf("length %d: marks %x, not %x, or more was written", length, beyond, marks)
			}
		}
	})
	within, all := 0, make([]float64, n)
	marks := make([]uint8, (n+7)/8)
	stripsPortable(all, words, &table, marks)
	for i, v := range all {
		u := binary.LittleEndian.Uint64(words[8*i:])
		want := float64(u>>11) * table[u&255].Unit
		if u>>8&1 == 1 {
			want = -want
		}
		if v != want || v == 0 && math.Signbit(v) {
			t.Fatalf("word %x: %g, not %g", u, v, want)
		}
		if in := u>>11 < table[u&255].Inside; in == (marks[i/8]>>(i%8)&1 == 1) {
			t.Fatalf("word %x: within %v, with the mark of the other", u, in)
		} else if in {
			within++
		}
	}
	if within < n/4 || within > 3*n/4 {
		t.Errorf("%d of %d words lie within: the test does not tell them apart", within, n)
	}
}

// Assembly stops where Go stops and gives its bits up to there, also for numbers that are not finite and at the ends of
// what is near.
func TestSumsOnAGridAreTheSameOnEachMachine(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n, cell = 70, 0x1p-12
	const shift, near = 0x1.8p52 * cell, 0x1p51 * cell
	inf := math.Inf(1)
	odd := []float64{near, -near, math.Nextafter(near, 0), math.Nextafter(-near, 0), 2 * near, inf, -inf, math.NaN(), 1.5 * cell, 2.5 * cell, -0.5 * cell, 0, math.Copysign(0, -1), 5e-324}
	onEach(t, func(t *testing.T, x *machine) {
		for length := range n {
			for try := range 2 * len(odd) {
				a, b, z := make([]float32, length), make([]float32, length), make([]float64, length)
				for i := range a {
					a[i], b[i], z[i] = float32(rng.NormFloat64()), float32(rng.NormFloat64()), rng.NormFloat64()
				}
				scale := 0.7
				if try < len(odd) && length > 0 {
					i := rng.IntN(length)
					a[i], b[i], z[i], scale = 0, float32(math.Copysign(0, -1)), odd[try], 1
				}
				want, got := make([]float32, length), make([]float32, length+1)
				got[length] = 7
				stop := sumOnGridPortable(want, a, b, z, scale, shift, near, 250)
				if at := x.gridded(got[:length], a, b, z, scale, shift, near, 250); at != stop {
					t.Fatalf("length %d, try %d: came to %d, not %d", length, try, at, stop)
				}
				for i, v := range want[:stop] {
					if math.Float32bits(got[i]) != math.Float32bits(v) {
						t.Fatalf("length %d, value %d: %x, not %x", length, i, got[i], v)
					}
					if v := float64(a[i]+b[i]) + float64(scale*z[i]); got[i] != float32(math.RoundToEven(v/cell)*cell)/250 {
						t.Fatalf("length %d, value %d: %g is not the multiple next to %g", length, i, 250*got[i], v)
					}
				}
				if got[length] != 7 {
					t.Fatal("more was written")
				}
				if stop < length {
					if v := float64(a[stop]+b[stop]) + float64(scale*z[stop]); math.Abs(v) < near {
						t.Fatalf("stopped at %g", v)
					}
				}
			}
		}
	})
}
