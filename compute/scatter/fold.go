package scatter

import (
	"math"

	"pawl/compute/kernel"
)

// Responses to waves are convolutions on a periodic plane, and a wave mirrored in an axis
// is another wave of the same scale. So a plane is cut into four classes, functions that
// are even or odd down and even or odd across, and each wave into parts of one class.
// Under a part, a class goes to one class; each is known from a quarter of the points.
// Products have a quarter of the work, and all points come back as sums and differences
// of four.
//
// A class is two bits: 2 for odd down, 1 for odd across. Class a under a part of class b
// goes to class a xor b.
const classes = 4

// parts counts those of all waves of a scale. Orientations k and 6−k, for k = 0, 1, 2,
// are each other's mirror image across: sum and difference of a part that is even across
// and one that is odd. Orientations 3 and 7 are their own image, 7 with the imaginary
// part negated.
const parts = 2 * Angles

// The parts in their order, by class: four each of orientations 0, 1 and 2, then two of
// 3 and two of 7. Real parts are even under a turn by half a circle, imaginary ones odd.
var (
	ofPair  = []int{0, 3, 2, 1} // real even, real odd, imaginary even, imaginary odd across
	ofThree = []int{0, 2}       // real, imaginary
	ofSeven = []int{0, 1}
)

// part is a real function on the plane of one class.
type part struct {
	filter
	class     int
	imaginary bool
}

// at is the component of the filter in the class.
func (p part) at(i, j int) float64 {
	sum := complex(0, 0)
	for mirror := range classes {
		v := p.filter.at(mirrored(i, mirror&2), mirrored(j, mirror&1))
		sum += complex(sign(p.class&mirror), 0) * v
	}
	if p.imaginary {
		return imag(sum) / classes
	}
	return real(sum) / classes
}

func mirrored(i, mirror int) int {
	if mirror != 0 {
		return -i
	}
	return i
}

// sign is that of a function of a class under a mirror that has these bits in common
// with it.
func sign(common int) float64 {
	if common == 1 || common == 2 {
		return -1
	}
	return 1
}

func partsOf(rows, cols, scale int) []part {
	var out []part
	add := func(angle int, of []int) {
		f := morlet(rows, cols, scale, angle)
		for i, class := range of {
			out = append(out, part{f, class, i >= len(of)/2})
		}
	}
	for angle := range 3 {
		add(angle, ofPair)
	}
	add(3, ofThree)
	add(7, ofSeven)
	return out
}

// mirror is one axis of a plane of which every step-th point is kept. For functions that
// are even (0) and odd (1) along it, it lists the points that stand for all, each with its
// mirror image. A point on the mirror is its own image, and there odd functions vanish.
type mirror [2][][2]int

// newMirror is the mirror that takes position s of n to −to−s: of points that lie to
// apart, none is on it.
func newMirror(n, step, to int) mirror {
	var m mirror
	for i := range n / step {
		image := (2*n - to - i*step) % n / step
		if i <= image {
			m[0] = append(m[0], [2]int{i, image})
		}
		if i < image {
			m[1] = append(m[1], [2]int{i, image})
		}
	}
	return m
}

// bank takes functions on the plane to the moduli of their responses to the waves of a
// scale.
type bank struct {
	rows, cols       int // of the values it takes
	down, across     mirror
	outRows, outCols int // of the moduli
	classOf          [parts]int
	// products take a class of values to all parts, each at a quarter of the points.
	products [classes]*kernel.Packed
}

// newBank is the bank of a scale on values at every from-th point, for moduli at every
// to-th. Each value stands for from² points.
func (g grid) newBank(scale, from, to int) *bank {
	b := &bank{
		rows: g.rows / from, cols: g.cols / from,
		down: newMirror(g.rows, from, to), across: newMirror(g.cols, from, to),
		outRows: g.rows / to, outCols: g.cols / to,
	}
	tables := make([][]float64, parts)
	for k, p := range partsOf(g.rows, g.cols, scale) {
		b.classOf[k] = p.class
		tables[k] = make([]float64, g.rows*g.cols)
		for i := range tables[k] {
			tables[k][i] = float64(from*from) / classes * p.at(i/g.cols, i%g.cols)
		}
	}
	quarter := b.quarter()
	for class := range b.products {
		sources := b.size(class)
		entries := make([]float32, sources*parts*quarter)
		at := 0
		for _, i := range b.down[class>>1] {
			for _, j := range b.across[class&1] {
				for _, table := range tables {
					for p := range b.outRows / 2 {
						for q := range b.outCols / 2 {
							sum := 0.0 // over the point and its three images
							for m := range classes {
								u, v := p*to-i[m>>1]*from, q*to-j[m&1]*from
								sum += sign(class&m) * table[(u+g.rows)%g.rows*g.cols+(v+g.cols)%g.cols]
							}
							entries[at] = entry(sum)
							at++
						}
					}
				}
			}
		}
		b.products[class] = kernel.Pack(kernel.Dense(entries, sources, parts*quarter))
	}
	return b
}

// quarter is the number of points at which parts are evaluated.
func (b *bank) quarter() int { return b.outRows / 2 * (b.outCols / 2) }

// outputs is the number of points of a modulus.
func (b *bank) outputs() int { return b.outRows * b.outCols }

// size is the number of values of a class.
func (b *bank) size(class int) int { return len(b.down[class>>1]) * len(b.across[class&1]) }

// fold sets to, of b.size(class) values, to those of a class: each the sum of a point of
// the plane and its images, negated where the class is odd.
func (b *bank) fold(to, plane []float32, class int) {
	at := 0
	downSign, acrossSign := float32(sign(class&2)), float32(sign(class&1))
	for _, i := range b.down[class>>1] {
		row, image := plane[i[0]*b.cols:][:b.cols], plane[i[1]*b.cols:][:b.cols]
		if i[0] == i[1] {
			for _, j := range b.across[class&1] {
				v := row[j[0]]
				if j[0] != j[1] {
					v += acrossSign * row[j[1]]
				}
				to[at] = v
				at++
			}
			continue
		}
		for _, j := range b.across[class&1] {
			v := row[j[0]] + downSign*image[j[0]]
			if j[0] != j[1] {
				v += acrossSign * (row[j[1]] + downSign*image[j[1]])
			}
			to[at] = v
			at++
		}
	}
}

// foldBuffer and partBuffer say how much memory modulus needs for a number of planes.
func (b *bank) foldBuffer(planes int) int { return planes * b.rows * b.cols }
func (b *bank) partBuffer(planes int) int { return planes * classes * parts * b.quarter() }

// modulus sets to (planes × Angles × points) to the moduli of the responses of planes,
// each plane on its own.
func (b *bank) modulus(to, planes []float32, folded, responses []float32) {
	points := b.rows * b.cols
	n := len(planes) / points
	width := parts * b.quarter()
	var byClass [classes][]float32
	for class, product := range b.products {
		size := b.size(class)
		values := folded[:n*size]
		for i := range n {
			b.fold(values[i*size:(i+1)*size], planes[i*points:(i+1)*points], class)
		}
		byClass[class] = responses[class*n*width:][:n*width]
		kernel.MatMulPacked(kernel.Dense(byClass[class], n, width), kernel.Dense(values, n, size), product, false)
	}
	out := b.outputs()
	for i := range n {
		wave := func(angle int) []float32 { return to[(i*Angles+angle)*out:][:out] }
		response := func(k int) quarters {
			var q quarters
			for class := range q {
				q[class] = byClass[class^b.classOf[k]][i*width+k*b.quarter():][:b.quarter()]
			}
			return q
		}
		for k := range 3 {
			b.spreadPair(wave(k), wave(6-k), response(4*k), response(4*k+1), response(4*k+2), response(4*k+3))
		}
		b.spread(wave(3), response(12), response(13))
		b.spread(wave(7), response(14), response(15))
	}
}

// quarters are the four classes of the response to one part, by their own class.
type quarters [classes][]float32

// points are the values at a point, its mirror image across, down, and both.
func (q *quarters) points(i int) (here, across, down, both float32) {
	a, b, c, d := q[0][i], q[1][i], q[2][i], q[3][i]
	return a + b + (c + d), a - b + (c - d), a + b - (c + d), a - b - (c - d)
}

// spread sets to to the moduli of one wave at all points.
func (b *bank) spread(to []float32, re, im quarters) {
	half, last := b.outCols/2, b.outCols-1
	for i := range b.outRows / 2 {
		top, bottom := to[i*b.outCols:][:b.outCols], to[(b.outRows-1-i)*b.outCols:][:b.outCols]
		for j := range half {
			r0, r1, r2, r3 := re.points(i*half + j)
			i0, i1, i2, i3 := im.points(i*half + j)
			top[j], top[last-j], bottom[j], bottom[last-j] = length(r0, i0), length(r1, i1), length(r2, i2), length(r3, i3)
		}
	}
}

// spreadPair is spread for two waves that are sum and difference of an even and an odd
// part.
func (b *bank) spreadPair(sum, difference []float32, re, odd, im, oddIm quarters) {
	half, last := b.outCols/2, b.outCols-1
	for i := range b.outRows / 2 {
		top, bottom := sum[i*b.outCols:][:b.outCols], sum[(b.outRows-1-i)*b.outCols:][:b.outCols]
		topD, bottomD := difference[i*b.outCols:][:b.outCols], difference[(b.outRows-1-i)*b.outCols:][:b.outCols]
		for j := range half {
			r0, r1, r2, r3 := re.points(i*half + j)
			s0, s1, s2, s3 := odd.points(i*half + j)
			i0, i1, i2, i3 := im.points(i*half + j)
			t0, t1, t2, t3 := oddIm.points(i*half + j)
			top[j], top[last-j] = length(r0+s0, i0+t0), length(r1+s1, i1+t1)
			bottom[j], bottom[last-j] = length(r2+s2, i2+t2), length(r3+s3, i3+t3)
			topD[j], topD[last-j] = length(r0-s0, i0-t0), length(r1-s1, i1-t1)
			bottomD[j], bottomD[last-j] = length(r2-s2, i2-t2), length(r3-s3, i3-t3)
		}
	}
}

// length rounds each square, so that no compiler fuses one with the sum and changes bits.
func length(re, im float32) float32 {
	return float32(math.Sqrt(float64(float32(re*re) + float32(im*im))))
}
