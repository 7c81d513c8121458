package workflow

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"pawl/evidence/quality"
)

// byUnit holds one number of each public row, and whose row it is. The rows of a unit are
// sampled together and may be alike, so intervals go by units.
type byUnit struct {
	values []float64
	// units tells units apart, by any number; NaN where the unit is not known.
	units []float64
	// perUnit is the number of rows of a unit that is not known.
	perUnit float64
}

func (b *byUnit) add(value, unit float64) {
	b.values, b.units = append(b.values, value), append(b.units, unit)
}

// of has other values of the same rows.
func (b byUnit) of(value func(i int) float64) byUnit {
	values := make([]float64, len(b.values))
	for i := range values {
		values[i] = value(i)
	}
	b.values = values
	return b
}

// estimate is a mean with what is known of its error.
type estimate struct {
	mean, variance float64 // of the mean, by the sampling of units; NaN for one unit
	freedom        float64 // degrees, of the variance
	// most is how many times the variance of independent rows the variance can be: what it
	// is if the rows of each unit are alike.
	most float64
}

// estimate clusters by units: the variance is that of the units' sums of deviations from
// the mean, with the correction G/(G−1) for G units. Where some unit is not known, rows
// count as if each unit had perUnit of them, all alike.
func (b byUnit) estimate() estimate {
	n := float64(len(b.values))
	e := estimate{mean: stat.Mean(b.values, nil), freedom: n/b.perUnit - 1, most: b.perUnit}
	type unit struct{ rows, deviation float64 }
	var units []unit
	index := map[float64]int{}
	for i, at := range b.units {
		if at != at {
			e.variance = b.perUnit * stat.Variance(b.values, nil) / n
			return e
		}
		j, known := index[at]
		if !known {
			j = len(units)
			index[at], units = j, append(units, unit{})
		}
		units[j].rows++
		units[j].deviation += b.values[i] - e.mean
	}
	rows, deviations := 0.0, 0.0
	for _, u := range units {
		rows, deviations = rows+u.rows*u.rows, deviations+u.deviation*u.deviation
	}
	g := float64(len(units))
	e.most, e.freedom = rows/n, g-1
	e.variance = g / (g - 1) * deviations / (n * n)
	return e
}

// quantile of Student's law at 0.975, +Inf without a degree of freedom.
func (e estimate) quantile() float64 {
	if !(e.freedom > 0) {
		return math.Inf(1)
	}
	return distuv.StudentsT{Sigma: 1, Nu: e.freedom}.Quantile(0.975)
}

// interval is a 95 % interval for the mean of values within [0, most], by Student's law;
// where all values are the same it is that of a share.
func (b byUnit) interval(most float64) [2]float64 {
	e := b.estimate()
	half := e.quantile() * math.Sqrt(e.variance)
	if e.variance == 0 {
		i := wilson(e.mean/most, float64(len(b.values))/e.most, e.quantile())
		return [2]float64{i[0] * most, i[1] * most}
	}
	if half != half {
		return [2]float64{0, most}
	}
	return [2]float64{max(e.mean-half, 0), min(e.mean+half, most)}
}

// ends are those of a 95 % interval for the mean of values of any size; ok is false where units
// are too few.
func (b byUnit) ends() (low, high float64, ok bool) {
	e := b.estimate()
	half := e.quantile() * math.Sqrt(e.variance)
	return e.mean - half, e.mean + half, half == half && !math.IsInf(half, 0)
}

// mean is the estimate of a mean, with no value where units are too few.
func (b byUnit) mean() quality.Estimate {
	low, high, ok := b.ends()
	if !ok {
		return quality.Estimate{}
	}
	v := stat.Mean(b.values, nil)
	return quality.Estimate{Value: &v, Interval: &[2]float64{low, high}}
}

// priorUnits is the number of units with which the worst case enters share's estimate of
// what rows are worth: of few units with a rare value one sees by chance that they differ
// little. With 2 of them intervals of 10 to 400 units held in 93.9 % of cases at worst,
// without in 79.
const priorUnits = 2

// share is a 95 % interval for the mean of values of 0 and 1: Wilson's, of as many
// independent rows as the rows at hand are worth (Korn and Graubard, Survey Methodology
// 24, 1998, for other limits). They are worth at most their number, and at least what they
// are with the rows of each unit alike.
func (b byUnit) share() [2]float64 {
	n, e := float64(len(b.values)), b.estimate()
	if n == 0 {
		return [2]float64{0, 1}
	}
	if e.most <= 1 {
		return wilson(e.mean, n, z95)
	}
	effect := e.most
	if v := e.mean * (1 - e.mean) / n; v > 0 && e.variance == e.variance {
		rare := n * min(e.mean, 1-e.mean) / e.most // in units
		effect = (rare*min(max(e.variance/v, 1), e.most) + priorUnits*e.most) / (rare + priorUnits)
	}
	return wilson(e.mean, n/effect, e.quantile())
}

const z95 = 1.959963984540054

// wilson is the interval of a share p of n independent rows, at z deviations.
func wilson(p, n, z float64) [2]float64 {
	if !(n > 0) || math.IsInf(z, 1) {
		return [2]float64{0, 1}
	}
	z2 := z * z
	centre := (p + z2/(2*n)) / (1 + z2/n)
	half := z / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return [2]float64{max(centre-half, 0), min(centre+half, 1)}
}
