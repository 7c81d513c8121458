package describe

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"pawl/report"
)

// marginal is the counts of a column. By least squares its L cells, of noise v each, are moved so
// that they add up to one total of noise w, as all columns' do:
//
//	c'_l = c_l + (n − Σc)/L.
//
// What is left of a cell's own noise is orthogonal to the total, so a sum over g of the L cells has
// the variance v·g(1−g/L) + w·g²/L².
type marginal struct {
	counts   []float64
	variance float64 // v, of one cell before
}

// reading is what was released, in rows.
type reading struct {
	r                       Release
	k                       float64 // rows of one unit
	counts, target, sums    float64 // deviations of the noise
	ranks                   float64
	marginals               []marginal
	tables                  [][]float64
	moments                 [][2]float64
	n, nVariance            float64
	exact, declared         bool
	targetSum, targetSumVar float64
	notes                   []string
}

// reading takes the released vector apart; apart 0 says that it is exact.
func (r Release) reading(cells []int64, apart int) *reading {
	l := r.Layout
	g := &reading{r: r, k: float64(l.perUnit), exact: apart == 0}
	if apart > 0 {
		g.counts, g.target, g.sums, g.ranks = r.StdDevs(apart)
	}
	a, t, s := r.groups()
	at := l.places()
	take := func(from, n int, weight int64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = float64(cells[from+i]) / float64(weight)
		}
		return out
	}
	for j := range l.columns {
		L := l.columns[j].levels()
		g.marginals = append(g.marginals, marginal{take(at.counts[j], L, a.weight), g.counts * g.counts})
		var table []float64
		if at.tables[j] >= 0 {
			table = take(at.tables[j], L*max(l.classes(), l.planes()), t.weight)
		}
		g.tables = append(g.tables, table)
		var m [2]float64
		if at.sums[j] >= 0 {
			m = [2]float64(take(at.sums[j], 2, s.weight))
		}
		g.moments = append(g.moments, m)
	}
	g.total()
	if l.classes() > 0 {
		g.joinTables()
	}
	g.addUp()
	if l.classes() > 0 {
		g.alignTables()
	} else if l.target >= 0 {
		g.alignSums()
	}
	return g
}

func sumOf(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// total is the number of rows: as declared where that is public and the release agrees, else the
// mean of what the columns' cells add up to, each by its precision.
func (g *reading) total() {
	weights := 0.0
	for _, m := range g.marginals {
		if g.exact {
			g.n = sumOf(m.counts)
			return
		}
		w := 1 / (float64(len(m.counts)) * m.variance)
		g.n += w * sumOf(m.counts)
		weights += w
	}
	g.n, g.nVariance = g.n/weights, 1/weights
	declared := float64(g.r.Layout.rows)
	if declared == 0 {
		return
	}
	if math.Abs(g.n-declared) > 5*math.Sqrt(g.nVariance) {
		g.notes = append(g.notes, fmt.Sprintf("The declared number of rows, %.0f, does not fit the released counts, and was not used.", declared))
		return
	}
	g.n, g.nVariance, g.declared = declared, 0, true
}

// joinTables takes from the tables what they say about the margins: the sum over the K classes of
// a table's row has noise of variance K·t², that over its L rows L·t², beside a count's own.
func (g *reading) joinTables() {
	if g.exact {
		return
	}
	l := g.r.Layout
	K, t2 := l.classes(), g.target*g.target
	classes := &g.marginals[l.target]
	precision := 1 / classes.variance
	for k := range classes.counts {
		classes.counts[k] *= precision
	}
	for j, table := range g.tables {
		if table == nil {
			continue
		}
		m := &g.marginals[j]
		L := len(m.counts)
		own, other := 1/m.variance, 1/(float64(K)*t2)
		column := 1 / (float64(L) * t2)
		for i := range m.counts {
			row := sumOf(table[i*K : (i+1)*K])
			m.counts[i] = (own*m.counts[i] + other*row) / (own + other)
			for k := range K {
				classes.counts[k] += column * table[i*K+k]
			}
		}
		m.variance = 1 / (own + other)
		precision += column
	}
	for k := range classes.counts {
		classes.counts[k] /= precision
	}
	classes.variance = 1 / precision
}

// addUp moves the cells of every column to the one total.
func (g *reading) addUp() {
	for j := range g.marginals {
		c := g.marginals[j].counts
		if g.exact {
			continue // rows whose cell is in no level are missing from it
		}
		d := (g.n - sumOf(c)) / float64(len(c))
		for i := range c {
			c[i] += d
		}
	}
}

// variance is that of the noise on a sum over size cells of column j.
func (g *reading) variance(j, size int) float64 {
	L, s := float64(len(g.marginals[j].counts)), float64(size)
	return g.marginals[j].variance*s*(1-s/L) + g.nVariance*s*s/(L*L)
}

// alignTables moves the cells of every table to its margins, which are in order now: the nearest
// table, in squares, that has them.
func (g *reading) alignTables() {
	if g.exact {
		return
	}
	l := g.r.Layout
	K, classes := l.classes(), g.marginals[l.target].counts
	for j, table := range g.tables {
		if table == nil {
			continue
		}
		rows := g.marginals[j].counts
		L := len(rows)
		whole := (g.n - sumOf(table)) / float64(K*L)
		byClass := make([]float64, K)
		for i := range table {
			byClass[i%K] += table[i]
		}
		for i := range rows {
			row := (rows[i] - sumOf(table[i*K:(i+1)*K])) / float64(K)
			for k := range K {
				table[i*K+k] += row + (classes[k]-byClass[k])/float64(L) - whole
			}
		}
	}
}

// tableVariance is that of the noise on a sum over size rows of a table, in one class. Its row
// effects, class effects and the rest are orthogonal.
func (g *reading) tableVariance(j, size int) float64 {
	l := g.r.Layout
	K, L, s := float64(l.classes()), float64(len(g.marginals[j].counts)), float64(size)
	classes := g.marginals[l.target].variance
	return g.marginals[j].variance*s*(1-s/L)/(K*K) + classes*(1-1/K)*s*s/(L*L) +
		g.target*g.target*(1-1/K)*s*(1-s/L) + g.nVariance*s*s/(K*K*L*L)
}

// alignSums moves the sums of a numeric target by level to one total, that of all of them and of
// the sum of its own.
func (g *reading) alignSums() {
	l := g.r.Layout
	planes := l.planes()
	if g.exact {
		g.targetSum = g.moments[l.target][0]
		return
	}
	precision := 1 / (g.sums * g.sums)
	g.targetSum = precision * g.moments[l.target][0]
	byLevel := func(j int) (s float64) {
		for i := 0; i < len(g.tables[j]); i += planes {
			s += g.tables[j][i]
		}
		return s
	}
	for j := range g.tables {
		if g.tables[j] != nil {
			w := 1 / (float64(len(g.marginals[j].counts)) * g.target * g.target)
			g.targetSum += w * byLevel(j)
			precision += w
		}
	}
	g.targetSum, g.targetSumVar = g.targetSum/precision, 1/precision
	g.moments[l.target][0] = g.targetSum
	for j := range g.tables {
		if g.tables[j] == nil {
			continue
		}
		d := (g.targetSum - byLevel(j)) / float64(len(g.marginals[j].counts))
		for i := 0; i < len(g.tables[j]); i += planes {
			g.tables[j][i] += d
		}
	}
}

// number keeps nine digits of a figure.
func number(x float64) report.Number {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 9, 64), 64)
	if err != nil {
		return report.Number(x)
	}
	return report.Number(y)
}

// noise is the deviation of the noise on a count in a column that is not the target.
func (g *reading) noise() float64 {
	if g.exact {
		return 0
	}
	j := 0
	if j == g.r.Layout.target && len(g.marginals) > 1 {
		j = 1
	}
	return math.Sqrt(g.marginals[j].variance)
}

// count is a number of rows with the noise's variance.
func (g *reading) count(shown, estimate, variance float64) report.Count {
	half := z95 * math.Sqrt(variance)
	c := report.Count{Value: number(shown), Estimate: number(estimate), Interval: [2]report.Number{number(math.Max(estimate-half, 0)), number(math.Max(estimate+half, 0))}}
	if g.declared {
		for i := range c.Interval {
			c.Interval[i] = min(c.Interval[i], number(g.n))
		}
	}
	return c
}

// description is all but the correlations, and the scales by which ranks are taken.
func (g *reading) description() (*report.Description, []rankScale) {
	l := g.r.Layout
	d := &report.Description{Version: report.DescriptionVersion, Exact: g.exact, RowsDeclared: g.declared,
		Noise: report.DescriptionNoise{Count: number(g.noise()), Target: number(g.target), Sum: number(g.sums), Correlation: number(g.ranks)},
		Rows:  g.count(math.Max(g.n, 0), g.n, g.nVariance), Left: append([]report.ColumnLeftOut{}, l.left...), Columns: []report.DescribedColumn{}}
	if l.target >= 0 {
		d.Target = l.columns[l.target].name
	}
	var shares [][]float64 // counts of known levels, as shown
	for j := range l.columns {
		c := &l.columns[j]
		m := g.marginals[j].counts
		std := math.Sqrt(g.variance(j, 1))
		show := shown(m, std)
		out := report.DescribedColumn{Name: c.name, Type: string(c.typ), Logarithmic: c.log, Levels: []report.DescribedLevel{}}
		for i := range m {
			level := report.DescribedLevel{Name: c.levelName(i), Count: g.count(show[i], m[i], g.variance(j, 1)), Share: g.share(j, i, show[i])}
			if i == c.known() {
				out.Missing = &level
				continue
			}
			if c.numeric() {
				lower, upper := c.ends(i)
				a, b := number(lower), number(upper)
				level.Lower, level.Upper = &a, &b
			}
			out.Levels = append(out.Levels, level)
		}
		known := show[:c.known()]
		shares = append(shares, known)
		if c.numeric() {
			mean, deviation := g.mean(j)
			out.Mean, out.StdDev = &mean, &deviation
			out.Quantiles = g.quantiles(j, known)
		}
		if l.target >= 0 && j != l.target {
			out.Target = g.byLevel(j, show)
		}
		d.Columns = append(d.Columns, out)
	}
	d.Notes = append([]string{}, g.notes...)
	var scales []rankScale
	for _, j := range l.scored {
		scales = append(scales, newRankScale(shares[j], g.n))
	}
	return d, scales
}

// share is that of a level among all rows; shown is its count as shown.
func (g *reading) share(j, level int, shown float64) report.Figure {
	m := g.marginals[j].counts
	f := ratio{part: m[level], whole: g.n, partVariance: g.variance(j, 1), covariance: g.nVariance / float64(len(m)),
		wholeVariance: g.nVariance, perUnit: g.k}.share()
	if g.n > 0 {
		f.Value = number(math.Min(shown/g.n, 1)) // so that shares add up
	}
	return f
}

// knownRows are those in which a number is known.
func (g *reading) knownRows(j int) (n, variance float64) {
	c := &g.r.Layout.columns[j]
	if g.exact || c.unknown {
		return sumOf(g.marginals[j].counts[:c.known()]), g.variance(j, c.known())
	}
	return g.n, g.nVariance
}

// momentsOf are mean and variance of a number in [−1, 1], without noise's share of them.
func (g *reading) momentsOf(j int) (mean, variance float64) {
	n, _ := g.knownRows(j)
	if !(n > 0) {
		return 0, 1
	}
	mean = math.Min(math.Max(g.moments[j][0]/n, -1), 1)
	return mean, math.Min(math.Max(g.moments[j][1]/n-mean*mean, 0), 1-mean*mean)
}

// mean is that of a number and its standard deviation. The sampling variance of a variance wants
// the fourth moment: that of the released histogram.
func (g *reading) mean(j int) (mean, deviation report.Figure) {
	c := &g.r.Layout.columns[j]
	n, nVariance := g.knownRows(j)
	m, v := g.momentsOf(j)
	first := g.sums * g.sums
	if j == g.r.Layout.target {
		first = g.targetSumVar
	}
	// Sampling is judged by a spread that the noise on it does not make too small.
	spread := v
	if n > 0 {
		spread = math.Min(v+g.sums/n, 1-m*m)
	}
	mean = ratio{part: g.moments[j][0], whole: n, partVariance: first, wholeVariance: nVariance, perUnit: g.k}.mean(spread, c.unscaled)
	half := (c.upper - c.lower) / 2
	nothing := report.Figure{Value: number(math.NaN()), Interval: [2]report.Number{0, number(half)}}
	if !(n > 0) || nVariance > n*n/16 {
		return mean, nothing
	}
	fourth := 0.0
	for l := range c.known() {
		lower, upper := c.edges[l], c.edges[l+1]
		z := c.scaled((lower + upper) / 2)
		fourth += math.Max(g.marginals[j].counts[l], 0) / n * math.Pow(z-m, 4)
	}
	// s² = Q/n − (S/n)²; what an error of n does cancels to the first order in both terms but for
	// their difference.
	variance := (g.sums*g.sums+4*m*m*first+nVariance*(v-m*m)*(v-m*m))/(n*n) + g.k*math.Max(fourth-v*v, 0)/n
	d := z95 * math.Sqrt(variance)
	low, high := math.Sqrt(math.Max(v-d, 0)), math.Sqrt(math.Min(v+d, 1))
	if low == 0 && (high == 1 || v == 0) {
		nothing.Interval[1] = number(high * half)
		return mean, nothing
	}
	return mean, report.Figure{Value: number(math.Sqrt(v) * half), Interval: [2]report.Number{number(low * half), number(high * half)}}
}

// byLevel is the target by level, or for a number by groups of neighbouring bins.
func (g *reading) byLevel(j int, shown []float64) (out []report.TargetGroup) {
	l := g.r.Layout
	c, t := &l.columns[j], &l.columns[l.target]
	var groups [][]int
	if c.numeric() && (!c.single || c.known() > mostSingles) {
		groups = c.mergeBins(shown[:c.known()], math.Sqrt(g.variance(j, 1)))
	} else {
		for i := range c.known() {
			groups = append(groups, []int{i})
		}
	}
	if c.unknown {
		groups = append(groups, []int{c.known()})
	}
	for _, of := range groups {
		name := c.levelName(of[0])
		if c.numeric() && of[0] < c.known() {
			name = c.rangeName(of[0], of[len(of)-1])
		}
		x := report.TargetGroup{Name: name, Levels: of}
		if of[0] == c.known() {
			x.Levels = []int{}
		}
		if t.numeric() {
			f := g.targetMean(j, of)
			x.Mean = &f
		} else {
			g.rates(&x, j, of)
		}
		out = append(out, x)
	}
	return out
}

// rates fills in the shares of the classes among the rows of levels of column j.
func (g *reading) rates(x *report.TargetGroup, j int, of []int) {
	l := g.r.Layout
	t := &l.columns[l.target]
	K := l.classes()
	whole, wholeVariance := 0.0, g.variance(j, len(of))
	parts := make([]float64, K)
	for _, i := range of {
		whole += g.marginals[j].counts[i]
		for k := range K {
			parts[k] += g.tables[j][i*K+k]
		}
	}
	variance := g.tableVariance(j, len(of))
	show := shown(parts, math.Sqrt(variance))
	for k := range K {
		x.Classes = append(x.Classes, t.levelName(k))
		x.Counts = append(x.Counts, g.count(show[k], parts[k], variance))
		f := ratio{part: parts[k], whole: whole, partVariance: variance, covariance: wholeVariance / float64(K), wholeVariance: wholeVariance, perUnit: g.k}.share()
		switch total := sumOf(show); {
		case f.Interval[0] == 0 && f.Interval[1] == 1:
			f.Value = number(math.NaN())
		case total > 0:
			f.Value = number(show[k] / total) // so that rates add up
		}
		x.Rates = append(x.Rates, &f)
	}
}

// targetMean is the mean of a numeric target among the rows of levels of column j. Within a level it
// is taken to spread as among all rows.
func (g *reading) targetMean(j int, of []int) report.Figure {
	l := g.r.Layout
	t := &l.columns[l.target]
	L, s, planes := float64(len(g.marginals[j].counts)), float64(len(of)), l.planes()
	part, whole := 0.0, 0.0
	wholeVariance := g.variance(j, len(of))
	for _, i := range of {
		part += g.tables[j][i*planes]
		if planes == 2 {
			whole += g.tables[j][i*planes+1]
		} else {
			whole += g.marginals[j].counts[i]
		}
	}
	if planes == 2 {
		wholeVariance = s * g.target * g.target
	}
	_, spread := g.momentsOf(l.target)
	variance := g.target*g.target*s*(1-s/L) + g.targetSumVar*s*s/(L*L)
	return ratio{part: part, whole: whole, partVariance: variance, wholeVariance: wholeVariance, perUnit: g.k}.mean(spread, t.unscaled)
}

const (
	// fewestGroups with enough rows are looked for among the partitions of bins, and so few whole
	// numbers are shown one by one.
	fewestGroups = 5
	mostSingles  = 16
)

// mergeBins makes groups of neighbouring bins, whose ends are multiples of one step or, of bins
// that grow, powers of ten. Ends that followed the counts would choose where noise is large, and the
// target of the group would be off; here the counts choose the step alone, from a public list, and
// join what is empty at both ends.
func (c *column) mergeBins(counts []float64, stdDev float64) (groups [][]int) {
	total := sumOf(counts)
	sure := func(of []int) bool {
		rows := 0.0
		for _, i := range of {
			rows += counts[i]
		}
		return rows >= math.Max(total/50, 8*stdDev*math.Sqrt(float64(len(of))))
	}
	most := -1
	for _, candidate := range slices.Backward(c.partitions()) {
		found := 0
		for _, of := range candidate {
			if sure(of) {
				found++
			}
		}
		if found > most {
			most, groups = found, candidate
		}
		if found >= fewestGroups {
			break // finer ones have more noise
		}
	}
	join := func(at int) { groups = slices.Replace(groups, at, at+2, slices.Concat(groups[at], groups[at+1])) }
	for len(groups) > 2 && !sure(groups[0]) {
		join(0)
	}
	for len(groups) > 2 && !sure(groups[len(groups)-1]) {
		join(len(groups) - 2)
	}
	return groups
}

// partitions are the public ways to group bins, from fine to coarse.
func (c *column) partitions() (all [][][]int) {
	cut := func(begins func(edge float64) bool) {
		var groups [][]int
		for i := range c.known() {
			if i == 0 || begins(c.edges[i]) {
				groups = append(groups, nil)
			}
			groups[len(groups)-1] = append(groups[len(groups)-1], i)
		}
		all = append(all, groups)
	}
	if c.log {
		cut(func(float64) bool { return true })
		cut(func(edge float64) bool {
			k := math.Log10(edge)
			return c.zero && edge == c.edges[1] || math.Abs(k-math.Round(k)) < 1e-9
		})
		cut(func(edge float64) bool { return edge == c.edges[1] })
		return all
	}
	width := c.edges[len(c.edges)-1] - c.edges[0]
	for step := roundStep(width / float64(c.known())); step < width; step = roundStep(step * 1.5) {
		cut(func(edge float64) bool {
			k := edge / step
			return math.Abs(k-math.Round(k)) < 1e-6
		})
	}
	if len(all) == 0 {
		cut(func(float64) bool { return true })
	}
	return all
}
