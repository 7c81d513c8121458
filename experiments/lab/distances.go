package lab

import (
	"math"

	"pawl/core/release"
	"pawl/encode"
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
		largest := 0.0
		for j := b.Offset; j < b.Offset+b.Dim; j++ {
			largest = max(largest, math.Abs(s.Sums[0][j]/n0-s.Sums[1][j]/n1))
		}
		out.Names = append(out.Names, b.Name)
		out.Distance = append(out.Distance, largest/enc.Scale)
		out.Deviation = append(out.Deviation, noise*math.Hypot(1/n0, 1/n1)/enc.Scale)
	}
	return out
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
