package export

import (
	"math"
	"testing"
)

func convolve(t *testing.T, o *operation, in []array) array {
	x, w := in[0], in[1]
	groups, stride, pads := 1, o.ints["strides"][0], []int{0, 0, 0, 0}
	if g := o.ints["group"]; g != nil {
		groups = g[0]
	}
	if p := o.ints["pads"]; p != nil {
		pads = p
	}
	down, across := 1, 1
	if d := o.ints["dilations"]; d != nil {
		down, across = d[0], d[1]
	}
	n, channels, h, wide := x.dims[0], x.dims[1], x.dims[2], x.dims[3]
	filters, each, kh, kw := w.dims[0], w.dims[1], w.dims[2], w.dims[3]
	if each*groups != channels || filters%groups != 0 {
		t.Fatalf("%v filtered by %v in %d groups", x.dims, w.dims, groups)
	}
	oh, ow := (h+pads[0]+pads[2]-(kh-1)*down-1)/stride+1, (wide+pads[1]+pads[3]-(kw-1)*across-1)/stride+1
	out := array{dims: []int{n, filters, oh, ow}, v: make([]float64, n*filters*oh*ow)}
	for e := range n {
		for f := range filters {
			to := out.v[(e*filters+f)*oh*ow:][:oh*ow]
			if len(in) > 2 {
				for i := range to {
					to[i] = in[2].v[f]
				}
			}
			for c := range each {
				plane := x.v[(e*channels+f/(filters/groups)*each+c)*h*wide:][:h*wide]
				for r := range kh {
					for q := range kw {
						weight := w.v[((f*each+c)*kh+r)*kw+q]
						for i := range oh {
							y := i*stride + r*down - pads[0]
							if y < 0 || y >= h {
								continue
							}
							for j := range ow {
								if k := j*stride + q*across - pads[1]; k >= 0 && k < wide {
									to[i*ow+j] += weight * plane[y*wide+k]
								}
							}
						}
					}
				}
			}
		}
	}
	return out
}

func pool(o *operation, x array) array {
	k, stride := o.ints["kernel_shape"][0], o.ints["strides"][0]
	h, w := x.dims[2], x.dims[3]
	oh, ow := (h-k)/stride+1, (w-k)/stride+1
	out := array{dims: []int{x.dims[0], x.dims[1], oh, ow}}
	for p := range x.dims[0] * x.dims[1] {
		for i := range oh {
			for j := range ow {
				most, sum := math.Inf(-1), 0.0
				for r := range k {
					for q := range k {
						v := x.v[p*h*w+(i*stride+r)*w+j*stride+q]
						most, sum = math.Max(most, v), sum+v
					}
				}
				if o.op == "AveragePool" {
					most = sum / float64(k*k)
				}
				out.v = append(out.v, most)
			}
		}
	}
	return out
}

// even brings numbers to mean 0 and variance 1.
func even(x []float64, epsilon float64) []float64 {
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(len(x))
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = (v - mean) / math.Sqrt(square+epsilon)
	}
	return out
}

func instanceNorm(o *operation, in []array) array {
	x := in[0]
	out, n := array{dims: x.dims}, size(x.dims[2:])
	for p := range x.dims[0] * x.dims[1] {
		c := p % x.dims[1]
		for _, v := range even(x.v[p*n:(p+1)*n], o.floats["epsilon"]) {
			out.v = append(out.v, in[1].v[c]*v+in[2].v[c])
		}
	}
	return out
}

func layerNorm(o *operation, in []array) array {
	x := in[0]
	out, n := array{dims: x.dims}, x.dims[len(x.dims)-1]
	for i := 0; i < len(x.v); i += n {
		for j, v := range even(x.v[i:i+n], o.floats["epsilon"]) {
			out.v = append(out.v, in[1].v[j]*v+in[2].v[j])
		}
	}
	return out
}

// recur is LSTM (gates i, o, f, c) and GRU (z, r, h; linear_before_reset), as their
// equations stand in the specification. A sequence has at least one step.
func recur(t *testing.T, o *operation, in []array) []array {
	x, w, r, b, lengths := in[0], in[1], in[2], in[3], in[4]
	length, n, e, h := x.dims[0], x.dims[1], x.dims[2], o.ints["hidden_size"][0]
	gates := w.dims[1]
	if o.op == "GRU" && o.ints["linear_before_reset"][0] != 1 {
		t.Fatal("the reset comes first")
	}
	states := array{dims: []int{length, 1, n, h}, v: make([]float64, length*n*h)}
	last := array{dims: []int{1, n, h}}
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	for k := range n {
		state, cell := make([]float64, h), make([]float64, h)
		if lengths.v[k] < 1 || lengths.v[k] > float64(length) {
			t.Fatalf("%v steps of %d", lengths.v[k], length)
		}
		for step := range int(lengths.v[k]) {
			p, q := make([]float64, gates), make([]float64, gates)
			for g := range gates {
				p[g], q[g] = b.v[g], b.v[gates+g]
				for i := range e {
					p[g] += w.v[g*e+i] * x.v[(step*n+k)*e+i]
				}
				for i := range h {
					q[g] += r.v[g*h+i] * state[i]
				}
			}
			for j := range h {
				if o.op == "LSTM" {
					i, out, f, c := sigmoid(p[j]+q[j]), sigmoid(p[h+j]+q[h+j]), sigmoid(p[2*h+j]+q[2*h+j]), math.Tanh(p[3*h+j]+q[3*h+j])
					cell[j] = f*cell[j] + i*c
					state[j] = out * math.Tanh(cell[j])
					continue
				}
				z, reset := sigmoid(p[j]+q[j]), sigmoid(p[h+j]+q[h+j])
				state[j] = (1-z)*math.Tanh(p[2*h+j]+reset*q[2*h+j]) + z*state[j]
			}
			copy(states.v[(step*n+k)*h:], state)
		}
		last.v = append(last.v, state...)
	}
	return []array{states, last}
}
