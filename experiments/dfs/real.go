package dfs

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/data/dataset"
	"pawl/experiments/formulas"
)

// Rows of each class to train and to test.
const trainRows, testRows = 20, 100

// Point is a way of choosing features of real rows and of classifying by them.
type Point struct {
	Ranking formulas.Ranking
	Count   int     // 0 for all features
	Epsilon float64 // +Inf for no noise
	Noise   formulas.Calibration
	Noisy   bool // points that are classified carry the noise too
}

const delta = 1e-4

// private says that the point has an honest counterpart.
func (a Point) private() bool {
	return a.Noise == formulas.Analytic && !math.IsInf(a.Epsilon, 1) && a.Ranking != formulas.TStatistic
}

// sample is one replicate: dense rows over the features that occur in training.
type sample struct {
	train, test [2][][]float64
	features    []int32
	sparse      [2][][]dataset.Entry // the rows of test with all their features
}

func (s *Source) draw(rng *rand.Rand) sample {
	var rows [2][][]dataset.Entry
	var out sample
	at := map[int32]int{}
	for k, class := range rng.Perm(len(s.byClass))[:2] {
		all := s.byClass[class]
		for _, i := range rng.Perm(len(all))[:trainRows+testRows] {
			rows[k] = append(rows[k], all[i])
		}
		for _, row := range rows[k][:trainRows] {
			for _, e := range row {
				if _, known := at[e.Feature]; !known {
					at[e.Feature] = -1
					out.features = append(out.features, e.Feature)
				}
			}
		}
	}
	slices.Sort(out.features)
	for i, j := range out.features {
		at[j] = i
	}
	for k := range rows {
		out.sparse[k] = rows[k][trainRows:]
		for i, row := range rows[k] {
			x := make([]float64, len(out.features))
			for _, e := range row {
				if j, known := at[e.Feature]; known {
					x[j] = float64(e.Value)
				}
			}
			if i < trainRows {
				out.train[k] = append(out.train[k], x)
			} else {
				out.test[k] = append(out.test[k], x)
			}
		}
	}
	return out
}

// Published returns the errors of the published procedure, point by point. All points of a
// replicate see the same rows.
func (s *Source) Published(ctx context.Context, all []Point, replicates int) ([]float64, error) {
	errors := make([]float64, len(all)*replicates)
	for r := range replicates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := s.draw(rand.New(rand.NewPCG(1, uint64(r))))
		kept := map[formulas.Ranking][]int{}
		for _, ranking := range []formulas.Ranking{formulas.Distance, formulas.TStatistic, formulas.InOrder} {
			order, err := formulas.RankFeatures(ranking, at.train)
			if err != nil {
				return nil, err
			}
			kept[ranking] = order
		}
		for i, a := range all {
			order := kept[a.Ranking]
			if a.Count != 0 {
				order = order[:min(a.Count, len(order))]
			}
			train := Cut(at.train, order)
			stdDev, err := a.Noise.StdDev(formulas.MaxNorms(train), formulas.Budget{Epsilon: a.Epsilon, Delta: delta})
			if err != nil {
				return nil, err
			}
			// The same normals, feature by feature, for every arm with as many.
			rng := rand.New(rand.NewPCG(2, uint64(r)))
			test := Cut(at.test, order)
			if stdDev > 0 {
				train = formulas.AddNoise(train, stdDev, rng)
				if a.Noisy {
					test = formulas.AddNoise(test, stdDev, rng)
				}
			}
			f, err := formulas.TrainFisher(train)
			if err != nil {
				return nil, err
			}
			errors[i*replicates+r] = share(f.Score, test, rng)
		}
	}
	return errors, nil
}

// share is that of the points on the wrong side; a score of 0 is a coin toss.
func share[Row any](score func(x Row) float64, test [2][]Row, rng *rand.Rand) float64 {
	wrong, of := 0.0, 0.0
	for k := range test {
		for _, x := range test[k] {
			of++
			v := score(x)
			switch {
			case v == 0:
				wrong += float64(rng.IntN(2))
			case (v > 0) != (k == 0):
				wrong++
			}
		}
	}
	return wrong / of
}

// Honest returns the errors of the private procedure for the points that have one,
// and a coin's for the others.
func (s *Source) Honest(ctx context.Context, all []Point, replicates int) ([]float64, error) {
	errors := make([]float64, len(all)*replicates)
	for i := range errors {
		errors[i] = .5
	}
	for r := range replicates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := s.draw(rand.New(rand.NewPCG(1, uint64(r))))
		for i, a := range all {
			if !a.private() {
				continue
			}
			e, err := s.private(at, a, rand.New(rand.NewPCG(3, uint64(r))))
			if err != nil {
				return nil, err
			}
			errors[i*replicates+r] = e
		}
	}
	return errors, nil
}

// private ranks by noisy sums over every feature, those that no row has included, and
// classifies by the nearer of two noisy means over what is kept.
func (s *Source) private(at sample, a Point, rng *rand.Rand) (float64, error) {
	multiplier, err := formulas.Budget{Epsilon: a.Epsilon, Delta: delta}.AnalyticNoiseMultiplier()
	if err != nil {
		return 0, err
	}
	each := multiplier
	if a.Ranking == formulas.Distance {
		each *= math.Sqrt2 // two releases, together exactly the budget
	}
	// Rows have norm 1; one replaced row moves a sum by 2 at most.
	noise := 2 * each / trainRows
	means := s.means(at)
	noisy := func(features []int) [2][]float64 {
		var out [2][]float64
		for k := range means {
			for _, j := range features {
				out[k] = append(out[k], means[k][j]+noise*rng.NormFloat64())
			}
		}
		return out
	}
	features := formulas.Identity(s.features)
	if a.Ranking == formulas.Distance {
		m := noisy(features)
		distances := make([]float64, s.features)
		for j := range distances {
			distances[j] = math.Abs(m[0][j] - m[1][j])
		}
		features = formulas.Descending(distances)[:a.Count]
	}
	m := noisy(features)
	weights := make([]float64, s.features)
	center := 0.0
	for i, j := range features {
		weights[j] = m[0][i] - m[1][i]
		center += weights[j] * (m[0][i] + m[1][i]) / 2
	}
	return share(func(row []dataset.Entry) float64 {
		v := -center
		for _, e := range row {
			v += float64(e.Value) * weights[e.Feature]
		}
		return v
	}, at.sparse, rng), nil
}

// means are those of the classes over every feature.
func (s *Source) means(at sample) [2][]float64 {
	var out [2][]float64
	for k := range out {
		out[k] = make([]float64, s.features)
		for _, x := range at.train[k] {
			for i, j := range at.features {
				out[k][j] += x[i] / trainRows
			}
		}
	}
	return out
}
