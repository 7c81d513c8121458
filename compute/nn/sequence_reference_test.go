package nn

import (
	"math"
	"slices"
)

// referenceSequence is the layers of sequences, one number at a time.
func referenceSequence(l Layer, take func(int) []float64, x []float64, in *Shape, steps *int) ([]float64, bool) {
	d := in.Channels
	row := func(t int) []float64 { return x[t*d : (t+1)*d] }
	apply := func(w, b, v []float64) []float64 {
		y := slices.Clone(b)
		for i, u := range v {
			for j := range y {
				y[j] += u * w[i*len(y)+j]
			}
		}
		return y
	}
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	var states [][]float64
	h := l.Units
	switch {
	case l.Kind == "embedding":
		w := take(l.Vocabulary * h)
		var y []float64
		for _, token := range x[1 : 1+int(x[0])] {
			y = append(y, w[int(token)*h:int(token+1)*h]...)
		}
		*in, *steps = Shape{len(x) - 1, 1, h}, int(x[0])
		return y, true
	case *steps == 0:
		return nil, false
	case l.Kind == "lstm":
		w, b := take((d+h)*4*h), take(4*h)
		state, cell := make([]float64, h), make([]float64, h)
		for t := range *steps {
			g := apply(w, b, append(slices.Clone(row(t)), state...))
			state = make([]float64, h)
			for j := range state {
				cell[j] = sigmoid(g[h+j])*cell[j] + sigmoid(g[j])*math.Tanh(g[2*h+j])
				state[j] = sigmoid(g[3*h+j]) * math.Tanh(cell[j])
			}
			states = append(states, state)
		}
	case l.Kind == "gru":
		wx, bx, wh, bh := take(d*3*h), take(3*h), take(h*3*h), take(3*h)
		state := make([]float64, h)
		for t := range *steps {
			p, q := apply(wx, bx, row(t)), apply(wh, bh, state)
			next := make([]float64, h)
			for j := range next {
				z := sigmoid(p[h+j] + q[h+j])
				next[j] = (1-z)*math.Tanh(p[2*h+j]+sigmoid(p[j]+q[j])*q[2*h+j]) + z*state[j]
			}
			state = next
			states = append(states, state)
		}
	case l.Kind == "mean_over_time":
		for t := range *steps {
			states = append(states, row(t))
		}
		l.Mode = "mean"
	case l.Kind == "dense":
		w, b := take(d*h), take(h)
		for t := range *steps {
			states = append(states, apply(w, b, row(t)))
		}
		l.Mode = "sequence"
	case l.Kind == "layer_norm":
		g := take(2 * d)
		for t := range *steps {
			states = append(states, referenceNorm(1, d, func(int) []float64 { return g }, row(t)))
		}
		l.Mode = "sequence"
	default:
		return nil, false
	}
	switch l.Mode {
	case "sequence":
		*in = Shape{in.Height, 1, len(states[0])}
		return slices.Concat(states...), true
	case "mean":
		y := make([]float64, len(states[0]))
		for _, state := range states {
			for j, v := range state {
				y[j] += v / float64(*steps)
			}
		}
		*in, *steps = Vector(len(y)), 0
		return y, true
	}
	*in, *steps = Vector(h), 0
	return states[len(states)-1], true
}

func referenceNorm(groups, channels int, take func(int) []float64, x []float64) []float64 {
	p := take(2 * channels)
	y := make([]float64, len(x))
	for g := range groups {
		var mean, square, n float64
		each := func(do func(i int)) {
			for i := range x {
				if i%channels/(channels/groups) == g {
					do(i)
				}
			}
		}
		each(func(i int) { mean, n = mean+x[i], n+1 })
		mean /= n
		each(func(i int) { square += (x[i] - mean) * (x[i] - mean) / n })
		each(func(i int) { y[i] = p[i%channels]*(x[i]-mean)/math.Sqrt(square+1e-5) + p[channels+i%channels] })
	}
	return y
}

func referenceStandard(w []float64, filters int) []float64 {
	y := make([]float64, len(w))
	for f := range filters {
		var mean, square float64
		for i := f; i < len(w); i += filters {
			mean += w[i] / float64(len(w)/filters)
		}
		for i := f; i < len(w); i += filters {
			square += (w[i] - mean) * (w[i] - mean)
		}
		for i := f; i < len(w); i += filters {
			y[i] = (w[i] - mean) / math.Sqrt(square+1e-4)
		}
	}
	return y
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}
