package export

import (
	"math"
	"slices"
	"testing"
)

// evaluate computes one operator on numbers of 64 bits. What is cast to floats is
// rounded to them.
func evaluate(t *testing.T, o *operation, in []array) []array {
	t.Helper()
	unary := map[string]func(x float64) float64{
		"Identity": func(x float64) float64 { return x }, "IsNaN": func(x float64) float64 { return truth(x != x) },
		"Relu": func(x float64) float64 { return max(x, 0) }, "Tanh": math.Tanh, "Exp": math.Exp, "Log": math.Log, "Sqrt": math.Sqrt,
		"Sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	}
	binary := map[string]func(x, y float64) float64{
		"Add": func(x, y float64) float64 { return x + y }, "Sub": func(x, y float64) float64 { return x - y },
		"Mul": func(x, y float64) float64 { return x * y }, "Div": func(x, y float64) float64 { return x / y },
		"Max": math.Max, "Min": math.Min, "Equal": func(x, y float64) float64 { return truth(x == y) },
		"Greater": func(x, y float64) float64 { return truth(x > y) }, "GreaterOrEqual": func(x, y float64) float64 { return truth(x >= y) },
		"Less": func(x, y float64) float64 { return truth(x < y) }, "And": func(x, y float64) float64 { return x * y },
	}
	if f, ok := unary[o.op]; ok {
		return []array{broadcast(t, func(x []float64) float64 { return f(x[0]) }, in...)}
	}
	if f, ok := binary[o.op]; ok {
		return []array{broadcast(t, func(x []float64) float64 { return f(x[0], x[1]) }, in...)}
	}
	switch o.op {
	case "Where":
		return []array{broadcast(t, func(x []float64) float64 {
			if x[0] != 0 {
				return x[1]
			}
			return x[2]
		}, in...)}
	case "LeakyRelu":
		return []array{broadcast(t, func(x []float64) float64 { return math.Max(x[0], 0) + o.floats["alpha"]*math.Min(x[0], 0) }, in...)}
	case "Clip":
		return []array{broadcast(t, func(x []float64) float64 { return math.Min(math.Max(x[0], x[1]), x[2]) }, in...)}
	case "Cast":
		return []array{broadcast(t, func(x []float64) float64 {
			switch o.ints["to"][0] {
			case 1:
				return float64(float32(x[0]))
			case 6, 7:
				return math.Trunc(x[0])
			case 11:
				return x[0]
			}
			t.Fatalf("cast to %v", o.ints["to"])
			return 0
		}, in...)}
	case "LabelEncoder":
		return []array{encodeLabels(t, o, in[0])}
	case "Reshape":
		return []array{{dims: newShape(t, in[0], in[1].v), v: in[0].v}}
	case "Transpose":
		return []array{transpose(in[0], o.ints["perm"])}
	case "Concat":
		return []array{concat(in, o.ints["axis"][0])}
	case "Slice":
		return []array{slice(in[0], int(in[1].v[0]), int(in[2].v[0]), int(in[3].v[0]))}
	case "Pad":
		return []array{reflectPad(t, o, in)}
	case "Gather":
		return []array{gather(t, in[0], in[1])}
	case "ReduceSum":
		return []array{reduce(in[0], int(in[1].v[0]), o.ints["keepdims"][0] == 1, false)}
	case "ReduceMean":
		return []array{reduce(in[0], o.ints["axes"][0], o.ints["keepdims"][0] == 1, true)}
	case "ArgMax":
		return []array{argMax(in[0])}
	case "Softmax":
		return []array{softmax(in[0])}
	case "MatMul":
		return []array{matMul(t, in[0], in[1])}
	case "Gemm":
		return []array{broadcast(t, func(x []float64) float64 { return x[0] + x[1] }, matMul(t, in[0], in[1]), in[2])}
	case "Conv":
		return []array{convolve(t, o, in)}
	case "MaxPool", "AveragePool":
		return []array{pool(o, in[0])}
	case "GlobalAveragePool":
		return []array{reduce(reduce(in[0], 3, true, true), 2, true, true)}
	case "InstanceNormalization":
		return []array{instanceNorm(o, in)}
	case "LayerNormalization":
		return []array{layerNorm(o, in)}
	case "LSTM", "GRU":
		return recur(t, o, in)
	}
	t.Fatalf("operator %q", o.op)
	return nil
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// broadcast applies f to the numbers at each place of arrays of compatible shapes.
func broadcast(t *testing.T, f func([]float64) float64, in ...array) array {
	t.Helper()
	rank := 0
	for _, a := range in {
		rank = max(rank, len(a.dims))
	}
	dims := make([]int, rank)
	for i := range dims {
		dims[i] = 1
		for _, a := range in {
			k := i - rank + len(a.dims)
			if k < 0 || a.dims[k] == 1 {
				continue
			}
			if dims[i] != 1 && dims[i] != a.dims[k] {
				t.Fatalf("shapes %v do not go together", in)
			}
			dims[i] = a.dims[k]
		}
	}
	out := array{dims: dims, v: make([]float64, size(dims))}
	x := make([]float64, len(in))
	for i := range out.v {
		for k, a := range in {
			at, step, rest := 0, 1, i
			for d := rank - 1; d >= 0; d-- {
				place := rest % dims[d]
				rest /= dims[d]
				if own := d - rank + len(a.dims); own >= 0 {
					if a.dims[own] > 1 {
						at += place * step
					}
					step *= a.dims[own]
				}
			}
			x[k] = a.v[at]
		}
		out.v[i] = f(x)
	}
	return out
}

func encodeLabels(t *testing.T, o *operation, in array) array {
	if o.domain != "ai.onnx.ml" {
		t.Fatalf("LabelEncoder of domain %q", o.domain)
	}
	out := array{dims: in.dims}
	if keys := o.ints["keys_int64s"]; keys != nil {
		for _, v := range in.v {
			out.texts = append(out.texts, o.strings["values_strings"][slices.Index(keys, int(v))])
		}
		return out
	}
	keys, values := o.strings["keys_strings"], o.ints["values_int64s"]
	if len(keys) != len(values) {
		t.Fatalf("%d keys, %d values", len(keys), len(values))
	}
	for _, s := range in.texts {
		code := o.ints["default_int64"][0]
		if i := slices.Index(keys, s); i >= 0 {
			code = values[i]
		}
		out.v = append(out.v, float64(code))
	}
	return out
}

func newShape(t *testing.T, a array, want []float64) []int {
	dims, known, open := make([]int, len(want)), 1, -1
	for i, d := range want {
		if dims[i] = int(d); d < 0 {
			open = i
			continue
		}
		known *= int(d)
	}
	if open >= 0 {
		dims[open] = len(a.v) / known
	}
	if size(dims) != len(a.v) {
		t.Fatalf("%v cannot become %v", a.dims, want)
	}
	return dims
}

func strides(dims []int) []int {
	s, n := make([]int, len(dims)), 1
	for i, d := range slices.Backward(dims) {
		s[i] = n
		n *= d
	}
	return s
}

func transpose(a array, perm []int) array {
	out := array{dims: make([]int, len(perm)), v: make([]float64, len(a.v))}
	for i, p := range perm {
		out.dims[i] = a.dims[p]
	}
	from, to := strides(a.dims), strides(out.dims)
	for i := range out.v {
		at := 0
		for d := range perm {
			at += i / to[d] % out.dims[d] * from[perm[d]]
		}
		out.v[i] = a.v[at]
	}
	return out
}

// around splits a shape at an axis: how many before it, and after.
func around(dims []int, axis int) (outer, inner int) { return size(dims[:axis]), size(dims[axis+1:]) }

func concat(in []array, axis int) array {
	out := array{dims: slices.Clone(in[0].dims)}
	out.dims[axis] = 0
	for _, a := range in {
		out.dims[axis] += a.dims[axis]
	}
	outer, inner := around(out.dims, axis)
	for i := range outer {
		for _, a := range in {
			n := a.dims[axis] * inner
			out.v = append(out.v, a.v[i*n:(i+1)*n]...)
		}
	}
	return out
}

func slice(a array, from, to, axis int) array {
	out := array{dims: slices.Clone(a.dims)}
	to = min(to, a.dims[axis])
	out.dims[axis] = to - from
	outer, inner := around(a.dims, axis)
	for i := range outer {
		n := a.dims[axis] * inner
		out.v = append(out.v, a.v[i*n+from*inner:i*n+to*inner]...)
	}
	return out
}

func reflectPad(t *testing.T, o *operation, in []array) array {
	a, pads := in[0], in[1].v
	if o.strings["mode"][0] != "reflect" || len(a.dims) != 4 || pads[0] != 0 || pads[1] != 0 || pads[4] != 0 || pads[5] != 0 {
		t.Fatalf("pad %v %v", o.strings, pads)
	}
	top, left := int(pads[2]), int(pads[3])
	h, w := a.dims[2], a.dims[3]
	out := array{dims: []int{a.dims[0], a.dims[1], h + top + int(pads[6]), w + left + int(pads[7])}}
	mirror := func(i, n int) int {
		if i < 0 {
			return -i
		}
		return min(i, 2*(n-1)-i)
	}
	for p := range a.dims[0] * a.dims[1] {
		for i := range out.dims[2] {
			for j := range out.dims[3] {
				out.v = append(out.v, a.v[p*h*w+mirror(i-top, h)*w+mirror(j-left, w)])
			}
		}
	}
	return out
}

func gather(t *testing.T, a, index array) array {
	n := size(a.dims[1:])
	out := array{dims: append(slices.Clone(index.dims), a.dims[1:]...)}
	for _, i := range index.v {
		if int(i) < 0 || int(i) >= a.dims[0] {
			t.Fatalf("row %v of %v", i, a.dims)
		}
		out.v = append(out.v, a.v[int(i)*n:(int(i)+1)*n]...)
	}
	return out
}

func reduce(a array, axis int, keep, mean bool) array {
	outer, inner := around(a.dims, axis)
	n := a.dims[axis]
	out := array{v: make([]float64, outer*inner)}
	for i := range outer {
		for j := range inner {
			for k := range n {
				out.v[i*inner+j] += a.v[(i*n+k)*inner+j]
			}
			if mean {
				out.v[i*inner+j] /= float64(n)
			}
		}
	}
	out.dims = append(out.dims, a.dims[:axis]...)
	if keep {
		out.dims = append(out.dims, 1)
	}
	out.dims = append(out.dims, a.dims[axis+1:]...)
	return out
}

func argMax(a array) array {
	out := array{dims: a.dims[:1]}
	for r := range a.dims[0] {
		row := a.v[r*a.dims[1] : (r+1)*a.dims[1]]
		out.v = append(out.v, float64(slices.Index(row, slices.Max(row))))
	}
	return out
}

func softmax(a array) array {
	out := array{dims: a.dims, v: make([]float64, len(a.v))}
	for r := 0; r < len(a.v); r += a.dims[1] {
		row, total := a.v[r:r+a.dims[1]], 0.0
		for k, v := range row {
			out.v[r+k] = math.Exp(v - slices.Max(row))
			total += out.v[r+k]
		}
		for k := range row {
			out.v[r+k] /= total
		}
	}
	return out
}

// matMul multiplies rows by a matrix.
func matMul(t *testing.T, a, b array) array {
	m, n := b.dims[0], b.dims[1]
	if a.dims[len(a.dims)-1] != m || len(b.dims) != 2 {
		t.Fatalf("%v times %v", a.dims, b.dims)
	}
	rows := len(a.v) / m
	out := array{dims: append(slices.Clone(a.dims[:len(a.dims)-1]), n), v: make([]float64, rows*n)}
	for r := range rows {
		to := out.v[r*n : (r+1)*n]
		for i, x := range a.v[r*m : (r+1)*m] {
			if x == 0 {
				continue
			}
			for j, w := range b.v[i*n : (i+1)*n] {
				to[j] += x * w
			}
		}
	}
	return out
}
