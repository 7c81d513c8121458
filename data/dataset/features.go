package dataset

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"pawl/data/images"
)

// readSteps reads a matrix of signed bytes, the float32 by which each of its columns
// is multiplied, and a byte of label for each row.
func readSteps(files []images.Source, classes []string) (*images.Set, error) {
	var raw [3][]byte
	for i := range raw {
		var err error
		if raw[i], err = io.ReadAll(files[i].Reader); err != nil {
			return nil, err
		}
	}
	matrix, steps, labels := raw[0], raw[1], raw[2]
	width := len(steps) / 4
	if width == 0 || len(steps) != 4*width || len(matrix) != width*len(labels) {
		return nil, errors.New("the matrix, its steps and its labels do not fit together")
	}
	set := &images.Set{Shape: [3]int{1, 1, width}, Floats: make([]float32, len(matrix)), Labels: make([]int32, len(labels)), Classes: classes}
	for i, b := range matrix {
		step := math.Float32frombits(binary.LittleEndian.Uint32(steps[i%width*4:]))
		set.Floats[i] = float32(int8(b)) * step
	}
	for i, l := range labels {
		if int(l) >= len(classes) {
			return nil, errors.New("a label that is not a class")
		}
		set.Labels[i] = int32(l)
	}
	return set, nil
}
