package kernel

// portableTile keeps two rows and four columns of C in registers.
var portableTile = tile{rows: 2, cols: 4, run: func(m, k int, a []float32, tileStride, rowStride, colStride int, b, c []float32, ldc, n int, from []float32, ldf int) {
	for i := 0; i < m; i += 2 {
		first := i / 2 * tileStride
		second := first + rowStride
		if i+1 == m {
			second = first // computed twice rather than in a loop of its own
		}
		top, bottom := productRows(k, a[first:], a[second:], colStride, b)
		for r, sums := range [2][4]float32{top, bottom} {
			if i+r == m {
				break
			}
			row := c[(i+r)*ldc : (i+r)*ldc+n]
			for j := range row {
				if from != nil { // which may be the row
					sums[j] += from[(i+r)*ldf+j]
				}
				row[j] = sums[j]
			}
		}
	}
}}

func productRows(k int, a0, a1 []float32, step int, b []float32) (top, bottom [4]float32) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	at := 0
	for range k {
		p := (*[4]float32)(b)
		b = b[4:]
		x, y := a0[at], a1[at]
		// The conversions keep compilers of other processors from fusing.
		s00 += float32(x * p[0])
		s01 += float32(x * p[1])
		s02 += float32(x * p[2])
		s03 += float32(x * p[3])
		s10 += float32(y * p[0])
		s11 += float32(y * p[1])
		s12 += float32(y * p[2])
		s13 += float32(y * p[3])
		at += step
	}
	return [4]float32{s00, s01, s02, s03}, [4]float32{s10, s11, s12, s13}
}

func addScaledPortable(dst, src []float32, scale float32) {
	for i, v := range src {
		dst[i] += float32(scale * v)
	}
}
