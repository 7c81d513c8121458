package encode

import "math"

// threshold returns e_j of a thermometer: bin edges of equal width inside
// (lower, upper); for integer columns with one bin per value, halfway points.
func (b *Block) threshold(j int) float64 {
	bins := float64(b.thermoLevels())
	if b.upper-b.lower+1 == bins && !b.log {
		return b.lower + float64(j) + 0.5
	}
	return b.lower + (b.upper-b.lower)*float64(j+1)/bins
}

func (b *Block) thermoLevels() int {
	if b.Kind == Cross {
		return b.Levels / 2
	}
	return b.Levels
}

// Level returns the level of a table block for a row of cells, or None when the
// block is all zeros for it.
func (b *Block) Level(cells []float64) int {
	if b.kept != nil {
		return b.keptLevel(cells)
	}
	switch b.Kind {
	case Intercept:
		return 0
	case OneHot, Sign:
		if v := cells[b.column]; v == v {
			return int(v)
		}
		return None
	case Thermometer:
		return b.bin(cells[b.column])
	case Cross:
		l, s := b.bin(cells[b.column]), cells[b.second]
		if l == None || s != s {
			return None
		}
		return 2*l + int(s)
	case Mapped:
		return b.level(b.of.Sources(nil, cells))
	}
	return None
}

// bin counts the thresholds at or below v.
func (b *Block) bin(v float64) int {
	if v != v {
		return None
	}
	if b.log {
		v = math.Log1p(v)
	}
	n := b.thermoLevels()
	var l int
	if b.upper-b.lower+1 == float64(n) && !b.log {
		l = int(math.Floor(v - b.lower + 0.5))
	} else {
		l = int(math.Floor((v - b.lower) / (b.upper - b.lower) * float64(n)))
	}
	return min(max(l, 0), n-1)
}

// Norm2 is the squared norm of a table block's vector at a level, without the encoding's
// Scale.
func (b *Block) Norm2(level int) float64 {
	switch b.Kind {
	case Intercept:
		return b.weight * b.weight
	case Mapped:
		return b.norms[level]
	}
	return 1
}

// Value returns the coordinate of a linear block; an unknown cell is 0.
func (b *Block) Value(cells []float64) float64 {
	v := cells[b.column]
	if v != v {
		return 0
	}
	if b.log {
		v = math.Log1p(v)
	}
	return min(max(2*(v-b.lower)/(b.upper-b.lower)-1, -1), 1)
}

// Forward fills table[level*outputs+k] with the inner product of level's vector
// (without the encoding's Scale) and column k of w, where w is Dim×outputs,
// row-major, and holds this block's coordinates only.
func (b *Block) Forward(table, w []float64, outputs int) {
	switch b.Kind {
	case Intercept:
		for k := range outputs {
			table[k] = b.weight * w[k]
		}
	case OneHot:
		copy(table, w)
	case Sign:
		for k := range outputs {
			table[k], table[outputs+k] = -w[k], w[k]
		}
	case Thermometer:
		for k := range outputs {
			b.thermoForward(table[k:], w[k:], outputs, outputs)
		}
	case Cross:
		for k := range outputs {
			b.thermoForward(table[outputs+k:], w[k:], 2*outputs, outputs)
		}
		for l := 0; l < b.Levels; l += 2 {
			for k := range outputs {
				table[l*outputs+k] = -table[(l+1)*outputs+k]
			}
		}
	case Mapped:
		b.mappedForward(table, w, outputs)
	}
}

// thermoForward: level l scores (Σ_{j<l} w_j − Σ_{j>=l} w_j)/√Dim.
func (b *Block) thermoForward(table, w []float64, levelStride, dimStride int) {
	s := 1 / math.Sqrt(float64(b.Dim))
	sum := 0.0
	for j := range b.Dim {
		sum -= w[j*dimStride]
	}
	for l := 0; ; l++ {
		table[l*levelStride] = s * sum
		if l == b.Dim {
			return
		}
		sum += 2 * w[l*dimStride]
	}
}

// Backward adds to g (Dim×outputs) the sum over levels of hist[level*outputs+k]
// times level's vector: the transpose of Forward.
func (b *Block) Backward(g, hist []float64, outputs int) {
	switch b.Kind {
	case Intercept:
		for k := range outputs {
			g[k] += b.weight * hist[k]
		}
	case OneHot:
		for i := range g {
			g[i] += hist[i]
		}
	case Sign:
		for k := range outputs {
			g[k] += hist[outputs+k] - hist[k]
		}
	case Thermometer:
		for k := range outputs {
			b.thermoBackward(g[k:], outputs, func(l int) float64 { return hist[l*outputs+k] })
		}
	case Cross:
		for k := range outputs {
			b.thermoBackward(g[k:], outputs, func(l int) float64 {
				return hist[(2*l+1)*outputs+k] - hist[2*l*outputs+k]
			})
		}
	case Mapped:
		b.mappedBackward(g, hist, outputs)
	}
}

func (b *Block) thermoBackward(g []float64, stride int, hist func(l int) float64) {
	s := 1 / math.Sqrt(float64(b.Dim))
	total := 0.0
	for l := 0; l <= b.Dim; l++ {
		total += hist(l)
	}
	below := 0.0 // Σ_{l<=j} hist_l gets −1, the rest +1
	for j := range b.Dim {
		below += hist(j)
		g[j*stride] += s * (total - 2*below)
	}
}

// Vector fills x (Dim) with the dense encoding of a row, Scale included. It is
// the plain definition that Forward and Backward are tested against.
func (e *Encoding) Vector(x, cells []float64) {
	clear(x)
	for i := range e.Blocks {
		b := &e.Blocks[i]
		v := x[b.Offset : b.Offset+b.Dim]
		switch b.Kind {
		case Linear:
			v[0] = e.Scale * b.Value(cells)
			continue
		case Sparse:
			b.Entries(cells, func(j int, x float64) { v[j] = e.Scale * x })
			continue
		case Vector:
			b.Numbers(v, cells)
			for j := range v {
				v[j] *= e.Scale
			}
			continue
		}
		l := b.Level(cells)
		if l < 0 || l >= b.Levels {
			continue
		}
		switch b.Kind {
		case Intercept:
			v[0] = e.Scale * b.weight
		case OneHot:
			v[l] = e.Scale
		case Sign:
			v[0] = e.Scale * float64(2*l-1)
		case Thermometer:
			b.thermoVector(v, l, e.Scale)
		case Cross:
			b.thermoVector(v, l/2, e.Scale*float64(2*(l%2)-1))
		case Mapped:
			for j, x := range b.vectors[l*b.Dim:][:b.Dim] {
				v[j] = e.Scale * x
			}
		}
	}
}

func (b *Block) thermoVector(v []float64, level int, scale float64) {
	s := scale / math.Sqrt(float64(b.Dim))
	for j := range v {
		if j < level {
			v[j] = s
		} else {
			v[j] = -s
		}
	}
}
