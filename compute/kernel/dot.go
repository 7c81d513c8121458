package kernel

// dotLanes is how many sums Dot keeps apart.
const dotLanes = 16

// Dot returns Σ x[i]·y[i] in float64, in which each product is exact. From 32 values
// on, blocks of 16 are summed in 16 interleaved parts; the others in 4. Parts are
// added up in one order: the same bits on every kernel. It panics when the lengths
// differ.
func Dot(x, y []float32) float64 {
	sameLength(len(x), len(y))
	return active.dot(x, y)
}

// Dots sets dst[i] to Dot of x and the i-th of len(dst) rows. It panics when the lengths do not fit.
func Dots(dst []float64, x, rows []float32) {
	sameLength(len(dst)*len(x), len(rows))
	active.dots(dst, x, rows)
}

func (m *machine) dots(dst []float64, x, rows []float32) {
	n := len(x)
	whole := n &^ (dotLanes - 1)
	for ; m.dotRows4 != nil && n >= 2*dotLanes && len(dst) >= 4; dst, rows = dst[4:], rows[4*n:] {
		m.dotRows4(&dst[0], &x[0], &rows[0], 4*n, whole/dotLanes)
		for i := range 4 {
			dst[i] += dotShort(x[whole:], rows[i*n+whole:(i+1)*n])
		}
	}
	for i := range dst {
		dst[i] = m.dot(x, rows[i*n:(i+1)*n])
	}
}

func (m *machine) dot(x, y []float32) float64 {
	if len(x) < 2*dotLanes {
		return dotShort(x, y)
	}
	whole := len(x) &^ (dotLanes - 1)
	return m.dotBlocks(x[:whole], y[:whole]) + dotShort(x[whole:], y[whole:])
}

func dotShort(x, y []float32) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	for ; len(x) >= 4 && len(y) >= 4; x, y = x[4:], y[4:] {
		s0 += float64(x[0]) * float64(y[0])
		s1 += float64(x[1]) * float64(y[1])
		s2 += float64(x[2]) * float64(y[2])
		s3 += float64(x[3]) * float64(y[3])
	}
	for i, v := range x {
		s0 += float64(v) * float64(y[i])
	}
	return s0 + s1 + s2 + s3
}

func dotBlocksPortable(x, y []float32) float64 {
	var sums [dotLanes]float64
	for i, v := range x {
		sums[i%dotLanes] += float64(v) * float64(y[i])
	}
	for n := dotLanes / 2; n > 0; n /= 2 {
		for i := range n {
			sums[i] += sums[i+n]
		}
	}
	return sums[0]
}
