package attack

import "math"

// SVM is a support vector machine with a Gaussian kernel on standardised features, the
// attack model of the literature on shadow models. It is written here because gonum has
// none and golearn's needs C and has not changed since 2022, while the algorithm is short.
type SVM struct {
	scale   scaler
	support [][]float64
	weight  []float64 // α_i·y_i
	bias    float64
	gamma   float64
}

// SVMOptions of training. Zero values mean what the comments say.
type SVMOptions struct {
	// C bounds the weight of a record: 1.
	C float64
	// Gamma of the kernel exp(−γ‖x−x'‖²): one over the number of features, which on
	// standardised features is scikit-learn's "scale".
	Gamma float64
	// Tolerance of the optimality conditions: 1e-3, as in LIBSVM.
	Tolerance float64
	// Steps bounds the work: 10 million, or a hundred for each record where that is more.
	Steps int
}

// kernelMemory is the number of kernel values that are kept: 128 MiB.
const kernelMemory = 16 << 20

// TrainSVM solves
//
//	min ½ Σ_ij α_i α_j y_i y_j K(x_i, x_j) − Σ_i α_i,   0 <= α_i <= C,  Σ_i α_i y_i = 0,
//
// by sequential minimal optimisation: the pair that is moved is the most violating one and
// the partner that promises the largest decrease to second order (Fan, Chen and Lin, JMLR
// 6, 2005). It stops where no pair violates the conditions of Karush, Kuhn and Tucker by
// more than Tolerance.
//
// Errors: rows without both kinds, features that are not finite, ErrNotConverged.
func TrainSVM(rows [][]float64, member []bool, o SVMOptions) (*SVM, error) {
	if err := checkTraining(rows, member); err != nil {
		return nil, err
	}
	n := len(rows)
	if !(o.C > 0) {
		o.C = 1
	}
	if !(o.Gamma > 0) {
		o.Gamma = 1 / float64(len(rows[0]))
	}
	if !(o.Tolerance > 0) {
		o.Tolerance = 1e-3
	}
	if o.Steps <= 0 {
		o.Steps = max(10_000_000, 100*n)
	}
	s := &SVM{scale: newScaler(rows), gamma: o.Gamma}
	p := &smo{c: o.C, x: make([][]float64, n), y: make([]float64, n), alpha: make([]float64, n), slope: make([]float64, n)}
	for i, r := range rows {
		p.x[i], p.y[i], p.slope[i] = s.scale.scale(r), -1, -1
		if member[i] {
			p.y[i] = 1
		}
	}
	p.rows = newKernelRows(p.x, o.Gamma, max(2, kernelMemory/n))
	for step := 0; ; step++ {
		i, j, gap := p.pair()
		if gap <= o.Tolerance {
			break
		}
		if step == o.Steps {
			return nil, ErrNotConverged
		}
		p.move(i, j)
	}
	s.bias = p.bias()
	for i, a := range p.alpha {
		if a > 0 {
			s.support, s.weight = append(s.support, p.x[i]), append(s.weight, a*p.y[i])
		}
	}
	return s, nil
}

// Score is the decision function Σ α_i y_i K(x_i, x) + b.
func (s *SVM) Score(x []float64) float64 {
	z, sum := s.scale.scale(x), s.bias
	for i, v := range s.support {
		sum += s.weight[i] * gaussian(s.gamma, v, z)
	}
	return sum
}

func gaussian(gamma float64, a, b []float64) float64 {
	d := 0.0
	for j, v := range a {
		d += (v - b[j]) * (v - b[j])
	}
	return math.Exp(-gamma * d)
}

// smo is the state of the optimisation: slope is the gradient of the objective.
type smo struct {
	c        float64
	x        [][]float64
	y        []float64
	alpha    []float64
	slope    []float64
	rows     *kernelRows
	up, down float64 // of the last pair: the bounds between which the bias lies
}

// canRise and canFall say whether α_i may move so that y_i·α_i rises or falls.
func (p *smo) canRise(i int) bool {
	return p.y[i] > 0 && p.alpha[i] < p.c || p.y[i] < 0 && p.alpha[i] > 0
}

func (p *smo) canFall(i int) bool {
	return p.y[i] < 0 && p.alpha[i] < p.c || p.y[i] > 0 && p.alpha[i] > 0
}

// pair returns the pair to move, and by how much it violates the conditions.
func (p *smo) pair() (first, second int, gap float64) {
	first, p.up, p.down = -1, math.Inf(-1), math.Inf(1)
	for i := range p.y {
		if v := -p.y[i] * p.slope[i]; p.canRise(i) && v > p.up {
			first, p.up = i, v
		}
	}
	if first < 0 {
		return 0, 0, 0
	}
	k := p.rows.row(first)
	second = -1
	best := math.Inf(1)
	for j := range p.y {
		if !p.canFall(j) {
			continue
		}
		v := -p.y[j] * p.slope[j]
		p.down = min(p.down, v)
		if b := p.up - v; b > 0 {
			// The decrease b²/a along the pair, a = K_ii + K_jj − 2K_ij and K_ii = 1.
			a := max(2-2*k[j], 1e-12)
			if d := -b * b / a; d < best {
				second, best = j, d
			}
		}
	}
	if second < 0 {
		return 0, 0, 0
	}
	return first, second, p.up - p.down
}

// move minimises over the pair, within the box.
func (p *smo) move(i, j int) {
	ki, kj := p.rows.row(i), p.rows.row(j)
	a := max(2-2*ki[j], 1e-12)
	t := (-p.y[i]*p.slope[i] + p.y[j]*p.slope[j]) / a // y_i·α_i rises by t, y_j·α_j falls by it
	room := func(k int, rising bool) float64 {
		if (p.y[k] > 0) == rising {
			return p.c - p.alpha[k]
		}
		return p.alpha[k]
	}
	ri, rj := room(i, true), room(j, false)
	t = min(t, ri, rj)
	p.alpha[i] += p.y[i] * t
	p.alpha[j] -= p.y[j] * t
	// A bound that is reached is met exactly, so that no record stays a hair inside.
	p.alpha[i], p.alpha[j] = p.settle(i, t == ri), p.settle(j, t == rj)
	for k := range p.slope {
		p.slope[k] += p.y[k] * t * (ki[k] - kj[k])
	}
}

func (p *smo) settle(k int, reached bool) float64 {
	if reached {
		if p.alpha[k] < p.c/2 {
			return 0
		}
		return p.c
	}
	return min(max(p.alpha[k], 0), p.c)
}

// bias is the mean of −y_i·slope_i over records inside of the box, and the middle of what
// is possible where there are none.
func (p *smo) bias() float64 {
	sum, n := 0.0, 0
	for i, a := range p.alpha {
		if a > 0 && a < p.c {
			sum -= p.y[i] * p.slope[i]
			n++
		}
	}
	if n > 0 {
		return sum / float64(n)
	}
	return (p.up + p.down) / 2
}

// kernelRows keeps the most recently used rows of the kernel matrix.
type kernelRows struct {
	x     [][]float64
	gamma float64
	kept  map[int]*keptRow
	most  int
	clock int
}

type keptRow struct {
	values []float64
	used   int
}

func newKernelRows(x [][]float64, gamma float64, most int) *kernelRows {
	return &kernelRows{x: x, gamma: gamma, kept: map[int]*keptRow{}, most: most}
}

func (k *kernelRows) row(i int) []float64 {
	k.clock++
	if r, ok := k.kept[i]; ok {
		r.used = k.clock
		return r.values
	}
	r := &keptRow{used: k.clock}
	if len(k.kept) >= k.most {
		oldest := -1
		for j, v := range k.kept {
			if oldest < 0 || v.used < k.kept[oldest].used {
				oldest = j
			}
		}
		r.values = k.kept[oldest].values
		delete(k.kept, oldest)
	} else {
		r.values = make([]float64, len(k.x))
	}
	for j, v := range k.x {
		r.values[j] = gaussian(k.gamma, k.x[i], v)
	}
	k.kept[i] = r
	return r.values
}
