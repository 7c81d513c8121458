package table5

import (
	"pawl/data/images"
	"pawl/evidence/lab"
)

// project replaces images by their principal components, fitted on the training images
// as they are: as published, and not paid for.
func project(data *lab.Images, count int) (*lab.Images, error) {
	c, err := images.PrincipalComponents(data.Train, count)
	if err != nil {
		return nil, err
	}
	return &lab.Images{Name: data.Name, Target: data.Target, Train: onto(c, data.Train), Test: onto(c, data.Test)}, nil
}

func onto(c *images.Components, s *images.Set) *images.Set {
	out := &images.Set{Shape: [3]int{1, 1, c.Count}, Labels: s.Labels, Classes: s.Classes, Floats: make([]float32, s.Len()*c.Count)}
	x := make([]float32, s.Size())
	for i := range s.Len() {
		s.At(i, x)
		y := out.Floats[i*c.Count:][:c.Count]
		for j := range x {
			v := x[j] - c.Mean[j]
			for k, u := range c.Vectors[j*c.Count:][:c.Count] {
				y[k] += v * u
			}
		}
	}
	return out
}

// sparse keeps every second pixel of every second line, for a quick look.
func sparse(s *images.Set) *images.Set {
	h, w := s.Shape[0]/2, s.Shape[1]/2
	out := &images.Set{Shape: [3]int{h, w, 1}, Labels: s.Labels, Classes: s.Classes}
	for i := range s.Len() {
		image := s.Bytes[i*s.Size():][:s.Size()]
		for y := range h {
			for x := range w {
				out.Bytes = append(out.Bytes, image[2*y*s.Shape[1]+2*x])
			}
		}
	}
	return out
}
