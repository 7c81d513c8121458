package attack

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Shadows are the scores of shadow models on the records under attack.
type Shadows struct {
	// Score[m][i] is the score of record i under model m: Logit for LiRA, TrueConfidence
	// for RMIA.
	Score [][]float64
	// In[m][i] says that model m was trained on record i. Nil means that none was.
	In [][]bool
}

func (s Shadows) check(records int) error {
	if len(s.Score) == 0 {
		return invalid("no shadow models")
	}
	if s.In != nil && len(s.In) != len(s.Score) {
		return invalid("%d shadow models and memberships of %d", len(s.Score), len(s.In))
	}
	for m, scores := range s.Score {
		if len(scores) != records || s.In != nil && len(s.In[m]) != records {
			return invalid("shadow model %d does not have %d records", m, records)
		}
		if slices.ContainsFunc(scores, notFinite) {
			return invalid("shadow model %d: a score is not a finite number", m)
		}
	}
	return nil
}

// of returns the scores of record i under models that were trained on it and under those
// that were not.
func (s Shadows) of(i int) (in, out []float64) {
	for m, scores := range s.Score {
		if s.In != nil && s.In[m][i] {
			in = append(in, scores[i])
		} else {
			out = append(out, scores[i])
		}
	}
	return in, out
}

// LiRA is the likelihood ratio attack (Carlini, Chien, Nasr, Song, Terzis and Tramèr,
// arXiv:2112.03570). It compares the target's score on a record with the normal laws of
// shadow models that were trained on the record and of those that were not:
//
//	online    ln N(s; μ_in, σ_in²) − ln N(s; μ_out, σ_out²)
//	offline   (s − μ_out)/σ_out
//
// The offline score orders records as the published Pr[N(μ_out, σ_out²) <= s] does, and
// does not round to 1.
type LiRA struct {
	Offline bool
	// Pooled takes one σ over all records, which is better from few shadow models;
	// where it is not set, that is done below PooledBelow models of a kind.
	Pooled bool
}

const (
	// PooledBelow is the number of shadow models of a kind from which a record's own
	// variance is worth more than that of all records; the paper finds 64 models, which
	// is 32 of a kind.
	PooledBelow = 32
	// LeastDeviation is the floor on σ, in units of the logit. Shadow models that all say
	// the same of a record would make its ratio infinite, which says how few they are.
	LeastDeviation = 1e-3
)

// LiRAScores is the outcome of LiRA, with what its reader should know.
type LiRAScores struct {
	Score []float64
	// Pooled says that one σ was used for all records.
	Pooled bool
	// Floored is the number of deviations that were raised to LeastDeviation.
	Floored int
}

// Scores attacks records with the target's scores.
//
// Errors: scores that are not finite, lengths that do not fit, fewer than two shadow
// models of a kind for some record: no variance can be had from one.
func (l LiRA) Scores(target []float64, shadows Shadows) (LiRAScores, error) {
	if slices.ContainsFunc(target, notFinite) || len(target) == 0 {
		return LiRAScores{}, invalid("the target has no records, or a score that is not a finite number")
	}
	if err := shadows.check(len(target)); err != nil {
		return LiRAScores{}, err
	}
	inside, outside := make([]normal, len(target)), make([]normal, len(target))
	fewest := math.MaxInt
	for i := range target {
		in, out := shadows.of(i)
		if !l.Offline {
			fewest = min(fewest, len(in))
			inside[i] = normalOf(in)
		}
		fewest = min(fewest, len(out))
		outside[i] = normalOf(out)
	}
	if fewest < 2 {
		return LiRAScores{}, invalid("some record has %d shadow models of a kind: a likelihood ratio needs at least 2 that were not trained on it and, online, 2 that were", fewest)
	}
	r := LiRAScores{Score: make([]float64, len(target)), Pooled: l.Pooled || fewest < PooledBelow}
	kinds := [][]normal{outside}
	if !l.Offline {
		kinds = append(kinds, inside)
	}
	for _, laws := range kinds {
		if r.Pooled {
			pool(laws)
		}
		for i := range laws {
			if laws[i].variance < LeastDeviation*LeastDeviation {
				laws[i].variance = LeastDeviation * LeastDeviation
				r.Floored++
			}
		}
	}
	for i, s := range target {
		if l.Offline {
			r.Score[i] = (s - outside[i].mean) / math.Sqrt(outside[i].variance)
		} else {
			r.Score[i] = inside[i].logDensity(s) - outside[i].logDensity(s)
		}
	}
	return r, nil
}

// normal is a law with the freedom that its variance was estimated with.
type normal struct {
	mean, variance, freedom float64
}

func normalOf(x []float64) normal {
	if len(x) < 2 {
		return normal{}
	}
	mean, variance := stat.MeanVariance(x, nil)
	return normal{mean, variance, float64(len(x) - 1)}
}

// pool gives all laws the variance within records, weighted by freedom.
func pool(laws []normal) {
	sum, freedom := 0.0, 0.0
	for _, l := range laws {
		sum, freedom = sum+l.variance*l.freedom, freedom+l.freedom
	}
	for i := range laws {
		laws[i].variance = sum / freedom
	}
}

// logDensity leaves out the constant that all laws share.
func (n normal) logDensity(x float64) float64 {
	return -(x-n.mean)*(x-n.mean)/(2*n.variance) - math.Log(n.variance)/2
}
