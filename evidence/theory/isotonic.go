package theory

// nonIncreasing replaces values by the non-increasing sequence that is closest to
// them in weighted least squares (pool adjacent violators). Weights are positive.
// The blocks are scratch, reused between calls.
func nonIncreasing(values, weights []float64, blocks []block) []block {
	blocks = blocks[:0]
	for i, v := range values {
		blocks = append(blocks, block{v, weights[i], 1})
		for len(blocks) > 1 && blocks[len(blocks)-2].value < blocks[len(blocks)-1].value {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			into := &blocks[len(blocks)-1]
			weight := into.weight + last.weight
			into.value += (last.value - into.value) * last.weight / weight
			into.weight = weight
			into.size += last.size
		}
	}
	at := 0
	for _, b := range blocks {
		for range b.size {
			values[at] = b.value
			at++
		}
	}
	return blocks
}

// block is a run of equal values.
type block struct {
	value, weight float64
	size          int
}
