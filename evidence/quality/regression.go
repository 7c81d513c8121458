package quality

import (
	"math"
	"slices"
)

// Errors, targets and gains of a regression are counted between nodes, as fractions of the
// target's range: a row gives 1−t to a node and t to the next one.
var (
	ErrorNodes  = errorNodes()
	TargetNodes = targetNodes()
	GainNodes   = gainNodes()
)

// errorNodes are 0 and 2⁻⁸ to 1, two an octave.
func errorNodes() []float64 {
	nodes := []float64{0}
	for i := range 17 {
		nodes = append(nodes, math.Exp2(-8+float64(i)/2))
	}
	return nodes
}

func targetNodes() []float64 {
	nodes := make([]float64, 17)
	for i := range nodes {
		nodes[i] = float64(i) / 16
	}
	return nodes
}

// gainNodes are 0 and ±2⁻⁷ to ±1, one an octave.
func gainNodes() (nodes []float64) {
	for i := range 8 {
		nodes = append(nodes, -math.Exp2(-float64(i)))
	}
	nodes = append(nodes, 0)
	for i := range 8 {
		nodes = append(nodes, math.Exp2(float64(i)-7))
	}
	return nodes
}

// Place is the node at or below v and v's place between it and the next; v is held to the nodes.
func Place(nodes []float64, v float64) (node int, next float64) {
	if !(v > nodes[0]) {
		return 0, 0
	}
	for node < len(nodes)-2 && v >= nodes[node+1] {
		node++
	}
	return node, min((v-nodes[node])/(nodes[node+1]-nodes[node]), 1)
}

// Spread is noisy numbers of rows at nodes.
type Spread struct {
	Nodes, Rows  []float64
	Std, PerUnit float64
}

// reach is the last node that can be told to have rows, and three more: the noise of those
// beyond counts with that one's value, which is far below their own.
func (s Spread) reach(from, step int) int {
	last := from
	for i := from; i >= 0 && i < len(s.Rows); i += step {
		if s.Rows[i] > 4*s.Std {
			last = i
		}
	}
	return min(max(last+3*step, 0), len(s.Rows)-1)
}

// values are those of a function at the nodes, held beyond reach. zero is where the nodes begin.
func (s Spread) values(f func(node int) float64, zero int) []float64 {
	out := make([]float64, len(s.Nodes))
	up, down := s.reach(zero, 1), s.reach(zero, -1)
	if s.Std == 0 {
		up, down = len(s.Rows)-1, 0
	}
	for i := range out {
		out[i] = f(min(max(i, down), up))
	}
	return out
}

// told says that the noise leaves no doubt that there are rows, and some of where they are.
func (s Spread) told() bool {
	return total(s.Rows) > 16*s.Std && slices.Max(s.Rows) > 4*s.Std
}

func (s Spread) mean(f func(node int) float64, zero int, low, high float64) Estimate {
	if !s.told() {
		return Estimate{}
	}
	return cells{s.Rows, s.values(f, zero), s.Std, s.PerUnit}.mean(low, high)
}

// square is the mean square of what lies around a node: between two nodes a square is below
// its chord, by w²/6 in the mean.
func (s Spread) square(around float64) func(node int) float64 {
	return func(i int) float64 {
		v := (s.Nodes[i] - around) * (s.Nodes[i] - around)
		if i > 0 {
			v -= sq(s.Nodes[i]-s.Nodes[i-1]) / 12
		}
		if i < len(s.Nodes)-1 {
			v -= sq(s.Nodes[i+1]-s.Nodes[i]) / 12
		}
		return max(v, 0)
	}
}

func sq(x float64) float64 { return x * x }

// Centre are the mean and the median of targets, as fractions of the range; 1/2 where the noise
// leaves no rows.
func (s Spread) Centre() (mean, median float64) {
	n := total(s.Rows)
	if !(n > 0) {
		return 0.5, 0.5
	}
	for i, x := range s.Rows {
		mean += x * s.Nodes[i] / n
	}
	return min(max(mean, 0), 1), s.quantile(0.5)
}

// quantile is where a share of the rows lies below, by the smallest rise of the cumulated rows
// that fits them (isotonic regression).
func (s Spread) quantile(share float64) float64 {
	var rows []float64
	done := 0.0
	for _, x := range s.Rows {
		done += x
		rows = append(rows, done)
	}
	rows = isotonic(rows)
	all := rows[len(rows)-1]
	before := 0.0
	for i, x := range rows {
		if x >= share*all {
			// A node's rows lie about it, halfway to its neighbours.
			low, high := s.Nodes[max(i-1, 0)], s.Nodes[min(i+1, len(s.Nodes)-1)]
			low, high = (low+s.Nodes[i])/2, (high+s.Nodes[i])/2
			if x > before {
				return low + (high-low)*min(max((share*all-before)/(x-before), 0), 1)
			}
			return s.Nodes[i]
		}
		before = x
	}
	return s.Nodes[len(s.Nodes)-1]
}

// isotonic is the rising sequence next to xs in squares, by pooling neighbours that fall.
func isotonic(xs []float64) []float64 {
	type pool struct{ mean, n float64 }
	var pools []pool
	for _, x := range xs {
		p := pool{x, 1}
		for len(pools) > 0 && pools[len(pools)-1].mean >= p.mean {
			l := pools[len(pools)-1]
			p = pool{(p.mean*p.n + l.mean*l.n) / (p.n + l.n), p.n + l.n}
			pools = pools[:len(pools)-1]
		}
		pools = append(pools, p)
	}
	var out []float64
	for _, p := range pools {
		for range int(p.n) {
			out = append(out, p.mean)
		}
	}
	return out
}

// Regression is how good the predictions of a number are, in units of the target.
type Regression struct {
	RMSE Estimate `json:"rmse"`
	// R2 is the share of the target's variance that the predictions explain; below 0 they are
	// worse than its mean.
	R2 Estimate `json:"r2"`
	// MedianBaseline and MeanBaseline are the mean absolute errors of predicting always the
	// median, or mean, of the scored rows.
	MedianBaseline Estimate `json:"median_baseline"`
	MeanBaseline   Estimate `json:"mean_baseline"`
	// Intervals say how far predictions are from the truth.
	Intervals []PredictionInterval `json:"prediction_intervals,omitempty"`
}

// PredictionInterval holds the truth of a share of the rows: prediction ± HalfWidth.
type PredictionInterval struct {
	Level     float64 `json:"level"`
	HalfWidth float64 `json:"half_width"`
}

// IntervalLevels are those of prediction intervals.
var IntervalLevels = []float64{0.5, 0.8, 0.9, 0.95}

// RegressionScores reads the spread of errors, of targets and of the gain over the median.
// Everything is in fractions of the range: span makes units of the target.
func RegressionScores(errors, targets, gains Spread, span float64) (mae, gain Estimate, r *Regression) {
	mae = errors.mean(func(i int) float64 { return errors.Nodes[i] }, 0, 0, 1)
	zero := len(gains.Nodes) / 2
	gain = gains.mean(func(i int) float64 { return gains.Nodes[i] }, zero, -1, 1)
	r = &Regression{}
	square := errors.mean(errors.square(0), 0, 0, 1)
	if square.Known() {
		root := math.Sqrt(*square.Value)
		r.RMSE = of(root, [2]float64{math.Sqrt(square.Interval[0]), math.Sqrt(square.Interval[1])}, 0, 1).Scaled(span, 0)
	}
	centre, median := targets.Centre()
	r.R2 = rSquared(errors, targets, centre)
	r.MeanBaseline = targets.constant(centre).Scaled(span, 0)
	r.MedianBaseline = targets.constant(median).Scaled(span, 0)
	n := total(errors.Rows)
	for _, level := range IntervalLevels {
		// The tail beyond must be more than noise.
		if (1-level)*n > 2*errors.Std*math.Sqrt(float64(len(errors.Nodes))) {
			r.Intervals = append(r.Intervals, PredictionInterval{level, errors.quantile(level) * span})
		}
	}
	return mae.Scaled(span, 0), gain.Scaled(span, 0), r
}

// constant is the mean absolute error of a constant. Between the two nodes about it the error
// is below its chord, by u(w−u)/w in the mean for a constant at u of w.
func (s Spread) constant(c float64) Estimate {
	at, t := Place(s.Nodes, c)
	w := s.Nodes[min(at+1, len(s.Nodes)-1)] - s.Nodes[at]
	below := t * (1 - t) * w / 2
	return s.mean(func(i int) float64 {
		v := math.Abs(s.Nodes[i] - c)
		if i == at || i == at+1 {
			v -= below
		}
		return max(v, 0)
	}, at, 0, 1)
}

// worstR2 is as low as an R² is told apart.
const worstR2 = -4

// rSquared compares two sums over the same rows: Fieller's limits of their ratio. What the two
// have to do with each other row by row is not known and taken to be nothing.
func rSquared(errors, targets Spread, centre float64) Estimate {
	at, _ := Place(targets.Nodes, centre)
	f, g := errors.values(errors.square(0), 0), targets.values(targets.square(centre), at)
	var e1, e2, d1, d2, ne, nd float64
	for i, x := range errors.Rows {
		e1, e2, ne = e1+x*f[i], e2+x*f[i]*f[i], ne+f[i]*f[i]
	}
	for i, x := range targets.Rows {
		d1, d2, nd = d1+x*g[i], d2+x*g[i]*g[i], nd+g[i]*g[i]
	}
	n := (total(errors.Rows) + total(targets.Rows)) / 2
	if !(n > 0 && d1 > 0 && e1 > 0 && errors.told() && targets.told()) {
		return Estimate{}
	}
	// What squares between nodes are below their chords is known to a tenth.
	chord := func(s Spread, around float64, below float64) float64 {
		all := 0.0
		for i, x := range s.Rows {
			all += x * sq(s.Nodes[i]-around)
		}
		return math.Abs(all-below) / below / 10
	}
	doubt := chord(errors, 0, e1) + chord(targets, centre, d1)
	ratio := fieller(e1, d1, func(a float64) float64 {
		sampling := max(e2+a*a*d2-2*a*e1*d1/n, 0)
		return errors.Std*errors.Std*ne + a*a*targets.Std*targets.Std*nd + errors.PerUnit*sampling
	}, 0, 1-worstR2)
	if !ratio.Known() {
		return ratio
	}
	r := ratio.Scaled(-1, 1)
	wide := doubt * (1 - *r.Value)
	return of(*r.Value, [2]float64{r.Interval[0] - wide, r.Interval[1] + wide}, worstR2, 1)
}
