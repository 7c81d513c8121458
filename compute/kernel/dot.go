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
