package kernel

import "golang.org/x/sys/cpu"

// machines lists what this processor can run, best first.
func machines() []*machine {
	list := []*machine{&portable}
	x86 := &cpu.X86
	if !x86.HasAVX2 || !x86.HasFMA || !x86.HasBMI2 {
		return list
	}
	rowCopies := map[int]func(dst, src *float32, srcStride, rows int){16: copyRows16, 32: copyRows32}
	var stream func(dst []byte, schedule *[60]uint32, counter uint64)
	switch {
	case x86.HasAES && leaf7ECX()>>9&1 == 1:
		stream = func(dst []byte, schedule *[60]uint32, counter uint64) {
			keyStreamVAES(&dst[0], &schedule[0], counter, len(dst)/256)
		}
	case x86.HasAES:
		stream = keyStreamNarrow
	}
	usual := assembled(6, 16, tile6x16AVX2Loop, []tileFunc{tile1x16AVX2, tile2x16AVX2, tile3x16AVX2, tile4x16AVX2, tile5x16AVX2})
	list = append([]*machine{withLayers(machine{
		name:   "avx2",
		narrow: usual, usual: usual,
		direct:   placed(16, 12, tile1x16AVX2Direct, tile2x16AVX2Direct, tile3x16AVX2Direct, tile4x16AVX2Direct, tile5x16AVX2Direct, tile6x16AVX2Direct),
		copyRows: rowCopies, transpose8: transpose8AVX2,
		exp:       vectors(8, expAVX2, expOne),
		sigmoid:   vectors(8, sigmoidAVX2, sigmoidOne),
		tanh:      vectors(8, tanhAVX2, tanhOne),
		addScaled: scaled(8, addScaledAVX2),
		keyStream: stream,
		strips:    stripsAVX2, sumOnGrid: sumOnGridAVX2, dots: dotsAVX2, squares: squaresAVX2,
	})}, list...)
	if !x86.HasAVX512F || !x86.HasAVX512BW || !x86.HasAVX512DQ || !x86.HasAVX512VL {
		return list
	}
	return append([]*machine{withLayers(machine{
		name: "avx512",
		narrow: assembled(14, 16, tile14x16AVX512Loop, []tileFunc{
			tile1x16AVX512, tile2x16AVX512, tile3x16AVX512, tile4x16AVX512, tile5x16AVX512, tile6x16AVX512, tile7x16AVX512,
			tile8x16AVX512, tile9x16AVX512, tile10x16AVX512, tile11x16AVX512, tile12x16AVX512, tile13x16AVX512}),
		usual: assembled(14, 32, tile14x32AVX512Loop, []tileFunc{
			tile1x32AVX512, tile2x32AVX512, tile3x32AVX512, tile4x32AVX512, tile5x32AVX512, tile6x32AVX512, tile7x32AVX512,
			tile8x32AVX512, tile9x32AVX512, tile10x32AVX512, tile11x32AVX512, tile12x32AVX512, tile13x32AVX512}),
		direct: placed(32, 14, tile1x32AVX512Direct, tile2x32AVX512Direct, tile3x32AVX512Direct, tile4x32AVX512Direct, tile5x32AVX512Direct,
			tile6x32AVX512Direct, tile7x32AVX512Direct, tile8x32AVX512Direct, tile9x32AVX512Direct, tile10x32AVX512Direct,
			tile11x32AVX512Direct, tile12x32AVX512Direct, tile13x32AVX512Direct, tile14x32AVX512Direct),
		copyRows: rowCopies, transpose8: transpose8AVX2,
		exp:       vectors(16, expAVX512, expOne),
		sigmoid:   vectors(16, sigmoidAVX512, sigmoidOne),
		tanh:      vectors(16, tanhAVX512, tanhOne),
		addScaled: scaled(16, addScaledAVX512),
		keyStream: stream,
		strips:    stripsAVX512, sumOnGrid: sumOnGridAVX512, dots: dotsAVX512, squares: squaresAVX512,
	})}, list...)
}

// withLayers adds what moves more than it computes, in one width for all machines.
func withLayers(x machine) *machine {
	x.buffers = &buffers
	x.copyTiles8 = [2]func(dst *float32, step, tileStride int, src *float32, srcStride, tiles int){copyTiles1AVX2, copyTiles2AVX2}
	x.copyStrips, x.addStrips = copyStripsAVX2, addStripsAVX2
	x.maxPool2, x.disjoint, x.addWhere = maxPool2AVX2, disjointAVX2, addWhereAVX2
	x.rectify = bounded(rectifyAVX2, rectifyPortable)
	x.rectifyChain = bounded(rectifyChainAVX2, rectifyChainPortable)
	x.scale = bounded(scaleAVX2, scalePortable)
	x.tanhChain = chained(tanhChainAVX2, tanhChainPortable)
	x.sigmoidChain = chained(sigmoidChainAVX2, sigmoidChainPortable)
	return &x
}

type (
	loopFunc func(count, k int, a *float32, tileStride, rowStride, colStride int, b, c *float32, ldc, n int, from *float32, ldf int)
	tileFunc func(k int, a *float32, rowStride, colStride int, b, c *float32, ldc, n int, from *float32, ldf int)
)

// assembled makes a tile of a looping micro-kernel and those for the last rows.
func assembled(rows, cols int, loop loopFunc, edge []tileFunc) tile {
	return tile{rows: rows, cols: cols, run: func(m, k int, a []float32, tileStride, rowStride, colStride int, b, c []float32, ldc, n int, from []float32, ldf int) {
		whole := m / rows
		if whole > 0 {
			loop(whole, k, &a[0], tileStride*4, rowStride*4, colStride*4, &b[0], &c[0], ldc*4, n, place(from, 0), ldf*4)
		}
		if done := whole * rows; done < m {
			edge[m-done-1](k, &a[whole*tileStride], rowStride*4, colStride*4, &b[0], &c[done*ldc], ldc*4, n, place(from, done*ldf), ldf*4)
		}
	}}
}

type directFunc func(k int, a *float32, rowStride, colStride int, b *float32, ldb int, c *float32, ldc, n int, from *float32, ldf int)

// placed makes a direct of micro-kernels of 1, 2, … rows.
func placed(cols, most int, of ...directFunc) direct {
	return direct{rows: len(of), cols: cols, most: most, run: func(n, k int, a []float32, rowStride, colStride int, b []float32, ldb int, c []float32, ldc, w int, from []float32) {
		of[n-1](k, &a[0], rowStride*4, colStride*4, &b[0], ldb*4, &c[0], ldc*4, w, place(from, 0), ldc*4)
	}}
}

// place is that of value i of from, nil for none.
func place(from []float32, i int) *float32 {
	if from == nil {
		return nil
	}
	return &from[i]
}

// vectors runs whole vectors in assembly and the rest, with the same bits, in Go.
func vectors(lanes int, assembly func(dst, src *float32, count int), one func(float32) float32) func(dst, src []float32) {
	return func(dst, src []float32) {
		if count := len(src) / lanes; count > 0 {
			assembly(&dst[0], &src[0], count)
			dst, src = dst[count*lanes:], src[count*lanes:]
		}
		each(dst, src, one)
	}
}

func scaled(lanes int, assembly func(dst, src *float32, scale float32, count int)) func(dst, src []float32, scale float32) {
	return func(dst, src []float32, scale float32) {
		if count := len(src) / lanes; count > 0 {
			assembly(&dst[0], &src[0], scale, count)
			dst, src = dst[count*lanes:], src[count*lanes:]
		}
		addScaledPortable(dst, src, scale)
	}
}

func bounded(assembly func(dst, src *float32, bound float32, count int), rest func(dst, src []float32, bound float32)) func(dst, src []float32, bound float32) {
	return func(dst, src []float32, bound float32) {
		if count := len(src) / vectorValues; count > 0 {
			assembly(&dst[0], &src[0], bound, count)
			dst, src = dst[count*vectorValues:], src[count*vectorValues:]
		}
		rest(dst, src, bound)
	}
}

func chained(assembly func(dy, y *float32, count int), rest func(dy, y []float32)) func(dy, y []float32) {
	return func(dy, y []float32) {
		if count := len(y) / vectorValues; count > 0 {
			assembly(&dy[0], &y[0], count)
			dy, y = dy[count*vectorValues:], y[count*vectorValues:]
		}
		rest(dy, y)
	}
}

func keyStreamNarrow(dst []byte, schedule *[60]uint32, counter uint64) {
	keyStreamAES(&dst[0], &schedule[0], counter, len(dst)/128)
}
