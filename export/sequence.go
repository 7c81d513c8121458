package export

// tokens declares the inputs of a network on texts: tokens [N, length], and how many of
// them there are.
func (n *network) tokens(length int, listed bool) value {
	meaning := "numbers of the tokens as pawl hashes words (package text)"
	if listed {
		meaning = "numbers of the tokens: their lines in vocabulary.txt, from 0"
	}
	tokens := n.input(port("tokens", int64s, meaning+"; what is no known token counts as token 0", 0, length))
	lengths := n.input(port("lengths", int64s, "how many tokens each text has; those beyond are not read", 0))
	n.scope, n.length = "input", length
	n.lengths = n.reshape(n.op("Max", n.op("Min", lengths, n.whole(int64(length))), n.whole(0)), -1, 1)
	steps := make([]int64, length)
	for i := range steps {
		steps[i] = int64(i)
	}
	there := n.op("Less", n.tensor("steps", steps, 1, length), n.lengths)
	n.mask = n.reshape(n.to(floats, there), -1, int64(length), 1)
	return value{name: tokens}
}

// embedding looks up the vectors of the tokens.
func (n *network) embedding(l *layer, v value) value {
	known := n.op("And", n.op("GreaterOrEqual", v.name, n.whole(0)), n.op("Less", v.name, n.whole(int64(l.Vocabulary))))
	token := n.op("Where", known, v.name, n.whole(0))
	return value{n.op("Gather", n.tensor("vectors", l.table, l.Vocabulary, l.Units), token), sequence, l.info.Output}
}

// meanOverTime is the mean of the steps that there are, [N, length, d] to [N, d]; zeros
// where there are none.
func (n *network) meanOverTime(x string) string {
	// Steps beyond the end may hold anything, but nothing that is not finite.
	sum := n.add("ReduceSum", attributes{"keepdims", int64(0)}, n.op("Mul", x, n.mask), n.ints(1))
	return n.op("Div", sum, n.to(floats, n.op("Max", n.lengths, n.whole(1))))
}

// recurrent is an lstm or gru. ONNX wants its gates in the order i, o, f, c and z, r, h
// where ours are i, f, g, o and r, z, n; and sequences of at least one step, so that
// what comes out of an empty one is put to zero behind it.
func (n *network) recurrent(l *layer, v value) value {
	h, e := l.Units, l.info.Input.Channels
	op, gates := "LSTM", []int{0, 3, 1, 2}
	if l.Kind == "gru" {
		op, gates = "GRU", []int{1, 0, 2}
	}
	input, state := l.recurrent()
	var w, r, bw, br []float32
	for _, gate := range gates {
		lo, hi := gate*h, (gate+1)*h
		w, r = append(w, input.transposed(lo, hi)...), append(r, state.transposed(lo, hi)...)
		bw, br = append(bw, input.b[lo:hi]...), append(br, state.b[lo:hi]...)
	}
	all := len(gates) * h
	a := attributes{"hidden_size", int64(h)}
	if l.Kind == "gru" {
		a = append(a, "linear_before_reset", int64(1))
	}
	y, last := n.fresh("states"), n.fresh("last")
	steps := n.to(int32s, n.reshape(n.op("Max", n.lengths, n.whole(1)), -1))
	n.node(op, "", []string{y, last}, []string{n.transpose(v.name, 1, 0, 2), n.tensor("W", w, 1, all, e), n.tensor("R", r, 1, all, h),
		n.tensor("B", append(bw, br...), 1, 2*all), steps}, a)
	switch l.Mode {
	case "sequence":
		return value{n.overSteps(y, h), sequence, l.info.Output}
	case "mean":
		return value{n.meanOverTime(n.overSteps(y, h)), flat, l.info.Output}
	}
	some := n.to(floats, n.op("Greater", n.lengths, n.whole(0)))
	return value{n.op("Mul", n.reshape(last, -1, int64(h)), some), flat, l.info.Output}
}

// overSteps turns all states, [length, 1, N, h], into a sequence.
func (n *network) overSteps(y string, h int) string {
	return n.reshape(n.transpose(y, 2, 0, 1, 3), -1, int64(n.length), int64(h))
}
