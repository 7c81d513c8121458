package kernel

import (
	"fmt"
	"slices"
)

// Packed is a right factor in the order in which the kernel reads it. Pack each
// weight matrix once a step and use it for every part of the batch. It may be
// read by many goroutines at once.
type Packed struct {
	from       *machine
	tile       *tile
	rows, cols int
	data       []float32
}

// Pack copies b (k×n) into a new Packed of ⌈n/tile⌉·tile·k values.
func Pack(b Matrix) *Packed {
	p := new(Packed)
	p.Set(b)
	return p
}

// Set packs b anew and reuses the memory of p.
func (p *Packed) Set(b Matrix) { active.packInto(p, b) }

// Rows returns k.
func (p *Packed) Rows() int { return p.rows }

// Cols returns n.
func (p *Packed) Cols() int { return p.cols }

// Shape makes room for a factor of k×n, all of whose parts SetPart has to pack before it is used.
func (p *Packed) Shape(k, n int) { active.shape(p, k, n) }

// SetPart packs one of so many parts of b, which has the shape of p, numbered from 0. Goroutines may pack different
// parts side by side.
func (p *Packed) SetPart(b Matrix, part, parts int) {
	if b.Rows != p.rows || b.Cols != p.cols || part < 0 || part >= parts {
		panic(fmt.Sprintf("kernel: part %d of %d of a factor of %d×%d, in place of %d×%d", part, parts, b.Rows, b.Cols, p.rows, p.cols))
	}
	p.from.packPart(p, b, part, parts)
}

func (x *machine) packInto(p *Packed, b Matrix) {
	x.shape(p, b.Rows, b.Cols)
	x.packPart(p, b, 0, 1)
}

func (x *machine) shape(p *Packed, k, n int) {
	p.from, p.tile, p.rows, p.cols = x, x.tileFor(n), k, n
	size := k * p.tile.width(n)
	p.data = slices.Grow(p.data[:0], size)[:size]
}

// packPart packs whole panels, in the order in which they lie: block by block of k.
func (x *machine) packPart(p *Packed, b Matrix, part, parts int) {
	b.check("right factor")
	w := p.tile.width(b.Cols)
	panels := w / p.tile.cols
	lo, hi := part*panels/parts*p.tile.cols, min((part+1)*panels/parts*p.tile.cols, b.Cols)
	if lo >= hi {
		return
	}
	for k := 0; k < b.Rows; k += Chain {
		kc := min(Chain, b.Rows-k)
		x.pack(p.data[k*w+lo*kc:], b.block(k, lo, kc, hi-lo), p.tile)
	}
}

// pack lays out b (kc×n) as panels of t.cols columns: element (k, j) of a panel
// is dst[k·cols + j]. Columns past n hold anything, since they are never stored.
func (x *machine) pack(dst []float32, b Matrix, t *tile) {
	if b.ColStride == 1 {
		x.packRows(dst, b, t.cols)
		return
	}
	kc, nr := b.Rows, t.cols
	for j := 0; j < b.Cols; j += nr {
		w := min(nr, b.Cols-j)
		panel := dst[j*kc : (j+nr)*kc]
		from := b.block(0, j, kc, w)
		if b.RowStride == 1 {
			x.packColumns(panel, from, nr)
			continue
		}
		for k := range kc {
			for i := range w {
				panel[k*nr+i] = from.Data[k*from.RowStride+i*from.ColStride]
			}
		}
	}
}

// packRows copies rows of adjacent values, a few at a time through all panels:
// one row at a time would jump between panels, one panel at a time between rows.
func (x *machine) packRows(dst []float32, b Matrix, nr int) {
	const few = 8
	kc := b.Rows
	copyRows := x.copyRows[nr]
	for k0 := 0; k0 < kc; k0 += few {
		k1 := min(k0+few, kc)
		for j := 0; j < b.Cols; j += nr {
			to, from := dst[j*kc+k0*nr:j*kc+k1*nr], b.Data[k0*b.RowStride+j:]
			// Whole rows are read past column n where there is something to read.
			whole := 0
			if copyRows != nil && len(from) >= nr {
				whole = k1 - k0
				if b.RowStride > 0 {
					whole = min(whole, (len(from)-nr)/b.RowStride+1)
				}
				copyRows(&to[0], &from[0], b.RowStride*4, whole)
			}
			w := min(nr, b.Cols-j)
			for k := whole; k < k1-k0; k++ {
				copy(to[k*nr:k*nr+w], from[k*b.RowStride:])
			}
		}
	}
}

// packColumns transposes columns of adjacent values, eight by eight where the
// machine can.
func (x *machine) packColumns(panel []float32, from Matrix, nr int) {
	kc, j := from.Rows, 0
	if x.transpose8 != nil {
		for whole := kc &^ 7; whole > 0 && j+8 <= from.Cols; j += 8 {
			column := from.Data[j*from.ColStride:]
			x.transpose8(&panel[j], nr*4, &column[0], from.ColStride*4, whole/8)
			for k := whole; k < kc; k++ {
				for i := range 8 {
					panel[k*nr+j+i] = column[i*from.ColStride+k]
				}
			}
		}
	}
	for ; j < from.Cols; j++ {
		for k, v := range from.Data[j*from.ColStride : j*from.ColStride+kc] {
			panel[k*nr+j] = v
		}
	}
}

// copying says how a block of A reaches the micro-kernel.
type copying int

const (
	inPlace     copying = iota
	tiled               // copyTiles
	apart               // copyApart
	apartTurned         // copyApart of the transpose
)

// copyingA says how to read A, a left factor for n columns. Rows or columns a
// multiple of 2 KiB apart fall into the same few sets of the first-level cache;
// and steps of a transposed A are a line each, of which a tile uses little: many of
// them crowd the panel of B out. A copy pays only when enough panels use it: the
// limits were measured.
func (x *machine) copyingA(t *tile, a Matrix, n int) copying {
	transposed := a.RowStride == 1 && a.ColStride > 1
	collides := a.RowStride*a.ColStride*4%2048 == 0 // one of the two is 1
	panels := n / t.cols
	switch {
	case a.Rows <= t.rows || panels < 2:
		return inPlace
	case transposed && (panels >= 8 || panels >= 4 && a.Cols > Chain/2 || collides) && x.copyTiles8[0] != nil:
		return tiled
	case transposed && collides:
		return apartTurned
	case a.ColStride == 1 && collides && panels > 2:
		return apart
	}
	return inPlace
}

// copyA copies a block of A into buffer, and returns it with the distance between
// its tiles of rows.
func (x *machine) copyA(how copying, t *tile, buffer []float32, a Matrix) (Matrix, int) {
	switch how {
	case tiled:
		return x.copyTiles(t, buffer, a)
	case apartTurned:
		return copyApart(buffer, a.T()).T(), t.rows
	case apart:
		to := copyApart(buffer, a)
		return to, t.rows * to.RowStride
	}
	return a, t.rows * a.RowStride
}

// copyApart copies rows to a stride that is an odd number of cache lines.
func copyApart(buffer []float32, a Matrix) Matrix {
	to := Matrix{Data: buffer, Rows: a.Rows, Cols: a.Cols, RowStride: oddLines(a.Cols), ColStride: 1}
	for i := range a.Rows {
		copy(buffer[i*to.RowStride:], a.Data[i*a.RowStride:i*a.RowStride+a.Cols])
	}
	return to
}

// copyTiles copies a transposed A so that each tile is one stream: the t.rows
// values of a step of k are adjacent, and so are the steps.
func (x *machine) copyTiles(t *tile, buffer []float32, a Matrix) (Matrix, int) {
	vectors := (t.rows + vectorValues - 1) / vectorValues
	tiles := (a.Rows + t.rows - 1) / t.rows
	// Whole vectors run over into the next step, which is written later, or behind
	// the tile. Streams an odd number of lines apart fall into different sets.
	tileStride := oddLines(t.rows*(a.Cols-1) + vectors*vectorValues)
	for k := 0; k < a.Cols; k += 8 {
		dst, src := buffer[k*t.rows:], a.Data[k*a.ColStride:]
		steps, whole := min(8, a.Cols-k), 0
		if left := len(src) - 7*a.ColStride - vectors*vectorValues; steps == 8 && left >= 0 {
			whole = min(tiles, left/t.rows+1)
			x.copyTiles8[vectors-1](&dst[0], t.rows*4, tileStride*4, &src[0], a.ColStride*4, whole)
		}
		for i := whole; i < tiles; i++ {
			m := min(t.rows, a.Rows-i*t.rows)
			for s := range steps {
				copy(dst[i*tileStride+s*t.rows:][:m], src[s*a.ColStride+i*t.rows:])
			}
		}
	}
	return Matrix{Data: buffer, Rows: a.Rows, Cols: a.Cols, RowStride: 1, ColStride: t.rows}, tileStride
}

// oddLines rounds n up to an odd number of 64-byte lines, in values.
func oddLines(n int) int { return ((n+15)/16 | 1) * 16 }
