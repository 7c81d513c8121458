package learn

import (
	"cmp"
	"math"
	"slices"
)

// masses are the parts of the rows that levels have, from noisy counts: of ordered levels by
// their cumulative sums, made to rise, in which the noise of many empty levels cancels.
func masses(counts []float64, ordered bool) []float64 {
	p := slices.Clone(counts)
	if ordered {
		for l := 1; l < len(p); l++ {
			p[l] += p[l-1]
		}
		pool(p, nil)
		last := 0.0
		for l, s := range p {
			p[l], last = max(s, 0)-last, max(s, 0)
		}
	}
	total := 0.0
	for l := range p {
		p[l] = max(p[l], 0)
		total += p[l]
	}
	for l := range p {
		if p[l] /= total; total == 0 {
			p[l] = 1 / float64(len(p))
		}
	}
	return p
}

// pool replaces x by the closest rising numbers in weighted squares, weights nil for 1: adjacent
// violators are pooled (Ayer et al., 1955).
func pool(x, weights []float64) {
	type run struct {
		sum, weight float64
		n           int
	}
	var runs []run
	for i, v := range x {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		runs = append(runs, run{v * w, w, 1})
		for k := len(runs) - 1; k > 0 && runs[k-1].sum*runs[k].weight > runs[k].sum*runs[k-1].weight; k-- {
			runs[k-1] = run{runs[k-1].sum + runs[k].sum, runs[k-1].weight + runs[k].weight, runs[k-1].n + runs[k].n}
			runs = runs[:k]
		}
	}
	at := 0
	for _, r := range runs {
		for range r.n {
			x[at] = r.sum / r.weight
			at++
		}
	}
}

// monotone makes a curve rise, or fall where way is negative, by the least change under masses.
func monotone(curve, masses []float64, way int) {
	weights := make([]float64, len(masses))
	for l, p := range masses {
		weights[l] = p + 1e-9
		curve[l] *= float64(way)
	}
	pool(curve, weights)
	for l := range curve {
		curve[l] *= float64(way)
	}
}

// levelVectors gives every level a vector, centred under masses. Those of ordered levels are a
// thermometer whose steps are as high as there are rows beside them, with a part exact of single
// levels; other levels are as far from each other as any.
func levelVectors(masses []float64, ordered bool, exact float64) [][]float64 {
	n := len(masses)
	out := make([][]float64, n)
	add := func(at func(l int) float64) {
		mean := 0.0
		for l, p := range masses {
			mean += p * at(l)
		}
		for l := range out {
			out[l] = append(out[l], at(l)-mean)
		}
	}
	step := func(j int, low, high float64) func(l int) float64 {
		return func(l int) float64 {
			if l > j {
				return high
			}
			return low
		}
	}
	switch {
	case n == 1:
		add(func(int) float64 { return 0 })
	case !ordered && n == 2:
		add(step(0, -1, 1))
	case !ordered:
		// Helmert contrasts, an orthonormal basis of the differences between levels.
		for j := 1; j < n; j++ {
			h := math.Sqrt(float64(j * (j + 1)))
			add(func(l int) float64 {
				switch {
				case l < j:
					return 1 / h
				case l == j:
					return -float64(j) / h
				}
				return 0
			})
		}
	default:
		total := 0.0
		for j := range n - 1 {
			total += masses[j] + masses[j+1]
		}
		for j := range n - 1 {
			a := math.Sqrt((1 - exact) * (0.9*(masses[j]+masses[j+1])/total + 0.1/float64(n-1)))
			add(step(j, -a, a))
		}
		for j := range n {
			if exact == 0 {
				break
			}
			add(func(l int) float64 {
				if l == j {
					return math.Sqrt(exact)
				}
				return 0
			})
		}
	}
	return out
}

// coordinates are weights of levelVectors, scaled by any factor, whose products with them are curve,
// but for a constant.
func coordinates(vectors [][]float64, curve []float64, ordered bool) []float64 {
	n := len(vectors)
	w := make([]float64, len(vectors[0]))
	if ordered || n == 2 {
		for j := range n - 1 {
			w[j] = (curve[j+1] - curve[j]) / (vectors[j+1][j] - vectors[j][j])
		}
		return w
	}
	for j := 1; j < n; j++ {
		h := math.Sqrt(float64(j * (j + 1)))
		scale := (vectors[0][j-1] - vectors[j][j-1]) * h / float64(j+1) // of contrasts of norm 1
		for l := range j {
			w[j-1] += curve[l] / (h * scale)
		}
		w[j-1] -= curve[j] * float64(j) / (h * scale)
	}
	return w
}

// groups joins levels into at most bins groups: neighbours of like masses where levels are
// ordered, else the rarest levels into one.
func groups(masses []float64, ordered bool, bins int) []int {
	of := make([]int, len(masses))
	order := make([]int, len(masses))
	for l := range of {
		of[l], order[l] = l, l
	}
	switch {
	case len(masses) <= bins:
	case ordered:
		below, last, group := 0.0, -1, -1
		for l, p := range masses {
			if at := min(int((below+p/2)*float64(bins)), bins-1); at > last {
				last = at
				group++
			}
			of[l] = group
			below += p
		}
	default:
		slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(masses[a], masses[b]) })
		for i, l := range order {
			of[l] = min(i, bins-1)
		}
	}
	return of
}
