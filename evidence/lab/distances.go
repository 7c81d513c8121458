package lab

import (
	"math"

	"pawl/core/release"
	"pawl/data/encode"
)

// distances reads what was released with noise of that deviation on every number.
func distances(enc *encode.Encoding, s *release.Sums, noise float64) *Distances {
	// A class that noise emptied has as many rows as the noise hides.
	n0, n1 := max(s.Counts[0], noise, 1), max(s.Counts[1], noise, 1)
	out := &Distances{}
	for _, b := range enc.Blocks {
		if b.Kind == encode.Intercept {
			continue
		}
		largest, squares := 0.0, 0.0
		deviation := noise * math.Hypot(1/n0, 1/n1) / enc.Scale
		for j := b.Offset; j < b.Offset+b.Dim; j++ {
			m0, m1 := s.Sums[0][j]/n0/enc.Scale, s.Sums[1][j]/n1/enc.Scale
			largest = max(largest, math.Abs(m0-m1))
			// What is left after the noise and, where a coordinate has two values, after
			// the draw of the rows.
			squares += (m0-m1)*(m0-m1) - deviation*deviation - twoValued(b.Kind, m0)/n0 - twoValued(b.Kind, m1)/n1
		}
		out.Names = append(out.Names, b.Name)
		out.Distance = append(out.Distance, largest)
		out.Deviation = append(out.Deviation, deviation)
		out.squares = append(out.squares, squares)
		out.coordinates += b.Dim
	}
	return out
}

// twoValued is the variance of a coordinate of ±1 or of 0 and 1 with the given mean, and
// 0 for others, whose variance the mean does not say.
func twoValued(k encode.Kind, mean float64) float64 {
	switch k {
	case encode.Sign:
		return max(1-mean*mean, 0)
	case encode.OneHot:
		return max(mean*(1-mean), 0)
	}
	return 0
}

// Holding is Beyond where those columns hold nearly all of the squared distance between
// the classes that there can be, noise that hides it included; nil where they do not:
// then many columns may matter a little each.
func (d *Distances) Holding() []string {
	limit := math.Sqrt(2 * math.Log(2*float64(len(d.Names))))
	var names []string
	held, rest, hidden := 0.0, 0.0, 0.0
	for j, v := range d.Distance {
		if v > limit*d.Deviation[j] {
			names = append(names, d.Names[j])
			held += d.squares[j]
		} else {
			rest += d.squares[j]
		}
		hidden = d.Deviation[j] * d.Deviation[j]
	}
	// Two deviations of a sum of so many squares of noise.
	hidden *= 2 * math.Sqrt(2*float64(d.coordinates))
	if max(rest, 0)+hidden > held/4 {
		return nil
	}
	return names
}

// Beyond returns the columns whose distance exceeds what the largest of so many
// distances would be by noise alone, about √(2·ln 2m) deviations.
func (d *Distances) Beyond() []string {
	limit := math.Sqrt(2 * math.Log(2*float64(len(d.Names))))
	var names []string
	for j, v := range d.Distance {
		if v > limit*d.Deviation[j] {
			names = append(names, d.Names[j])
		}
	}
	return names
}
