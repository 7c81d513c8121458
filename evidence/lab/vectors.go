package lab

import (
	"pawl/data/images"
)

// Vectors are rows of numbers with labels as a set that networks take.
func Vectors(rows [][]float64, labels []int32, classes []string) *images.Set {
	s := &images.Set{Labels: labels, Classes: classes}
	for _, r := range rows {
		s.Shape = [3]int{1, 1, len(r)}
		for _, v := range r {
			s.Floats = append(s.Floats, float32(v))
		}
	}
	return s
}
