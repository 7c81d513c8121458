package main

// sabotage replaces one line of core: old, which must occur in the file exactly once,
// becomes new. or holds another form of the line; one of the two has to match.
// Each at least halves a noise, drops a factor of √2 or more, or removes a clip, a
// charge or a bound.
type sabotage struct {
	what, file, old, new string
	// audits are arguments of pawl audit, tried in turn until one rejects; or "test",
	// a package and the name of a test, for code outside core.
	audits []string
	or     *line
}

type line struct{ old, new string }

func mechanism(names ...string) (out []string) {
	for _, n := range names {
		out = append(out, "mechanism --name "+n)
	}
	return out
}

const (
	canary       = "canary mnist --model mnist-paw-cnn --epsilon 4"
	bandedCanary = "canary mnist --model mnist-paw-fcn --epsilon 4 --mechanism banded --batch 512 --epochs 9"
)

var sabotages = []sabotage{
	// Networks.
	{"noise of the first step in all steps", "core/gradient/network.go", "	s.drawn += uint64(len(s.noise))\n", "", mechanism("training-steps"), &line{"	s.number++\n", ""}},
	{"every other step has the same noise", "core/gradient/network.go", "s.drawn += uint64(len(s.noise))", "s.drawn ^= uint64(len(s.noise))", mechanism("training-steps"), &line{"s.number++", "s.number ^= 1"}},
	{"neighbouring steps share half of their noise", "core/gradient/network.go", "s.drawn += uint64(len(s.noise))", "s.drawn += uint64(len(s.noise) / 2)", mechanism("training-steps"), &line{"s.number*uint64(len(s.z)) + uint64(p)", "s.number*uint64(len(s.z)/2) + uint64(p)"}},
	{"half the noise on a network's sum", "core/sum/linear.go", "std := p.NoiseMultiplier * p.ClippingNorm * float64", "std := p.NoiseMultiplier / 2 * p.ClippingNorm * float64", mechanism("training-steps"), nil},
	{"rows of a unit ignored in a network's noise", "core/sum/linear.go", "* float64(permit.RowsApart()) * margin", "* min(1, float64(permit.RowsApart())) * margin", mechanism("training-steps"), nil},
	{"a network ignores the sampling rate", "core/gradient/network.go", "	if all {\n", "	if all = true; all {\n", mechanism("training-steps"), nil},
	{"masks by position", "core/gradient/clipsum.go", "own := mix(seed, s.seeds[row])", "own := mix(seed, uint64(row))", mechanism("training-masks"), nil},
	{"one mask for all steps", "core/gradient/network.go", "s.mask = s.masks.Uint64()", "s.mask = 1", mechanism("training-masks"), nil},
	{"a resumed run takes the noise from the beginning", "core/gradient/network.go", "s.drawn = uint64(steps) * uint64(len(s.params))", "s.drawn = 0 * uint64(steps)", mechanism("training-going-on"), &line{"s.number = uint64(steps)", "s.number = 0 * uint64(steps)"}},
	{"a network's gradients are not clipped", "core/gradient/clipping.go", "f := min(1, bound/norm)", "f := 1 + 0*min(1, bound/norm)", mechanism("training-steps"), nil},
	{"a network's gradients are clipped to √2 of the norm", "core/gradient/clipping.go", "f := min(1, bound/norm)", "f := min(1, math.Sqrt2*bound/norm)", mechanism("training-steps"), nil},
	{"per-layer bound not divided by √L", "core/gradient/clipping.go", "bound := k.bound / math.Sqrt(float64(len(k.squares)))", "bound := k.bound", mechanism("training-steps-per-layer"), nil},
	{"norms of the last weight alone", "core/gradient/block.go", "k.squares[b.group] += k.alone[", "k.squares[b.group] = k.alone[", mechanism("training-steps-several-weights"), nil},
	{"quantile: noise on the sum without the share of the count, and halved", "core/gradient/quantile.go", "q.stdDev, q.half = gradient*apart, count*apart", "q.stdDev, q.half = gradient*apart/2, count*apart", mechanism("training-quantile-steps"), nil},
	{"quantile: half the noise on the count", "core/gradient/quantile.go", "twice + 2*q.half*noise.Gaussian", "twice + q.half*noise.Gaussian", mechanism("training-quantile-steps"), nil},
	{"quantile: one draw for the counts of all steps", "core/gradient/quantile.go", `q.src.Split("step", q.step)`, `q.src.Split("step", 0)`, mechanism("training-quantile-steps"), nil},
	{"quantile: always the noise of the first norm", "core/gradient/network.go", "s.tuner.norm, s.tuner.stdDev*s.tuner.norm", "s.tuner.norm, s.tuner.stdDev*s.t.ClippingNorm/2", mechanism("training-quantile-steps"), nil},
	{"banded: half the noise", "core/noise/banded.go", "		y[i] *= b.norm\n", "		y[i] *= b.norm / 2\n", mechanism("training-banded"), nil},
	{"banded: noise without the norm of the coefficients", "core/noise/banded.go", "		y[i] *= b.norm\n", "		y[i] *= 1\n", mechanism("training-banded"), nil},
	{"banded: steps are not correlated", "core/noise/banded.go", "if uint64(j) >= step {", "if step > 0 {", mechanism("training-banded"), nil},
	{"banded: noise comes back with the wrong sign", "core/noise/banded.go", "y[i] -= float64(c * v)", "y[i] += float64(c * v)", mechanism("training-banded"), nil},
	{"banded: the noise of the first step in all steps", "core/noise/banded.go", "n.Fill(y, piece)", "n.Fill(y, piece-piece)", mechanism("training-banded"), nil},
	{"banded: units of every group join", "core/sum/lots.go", "group := l.groups[l.turn%len(l.groups)]", "group := l.groups[l.src.Uint64n(uint64(len(l.groups)))]", mechanism("training-banded"), nil},
	{"banded: one group takes all turns", "core/sum/lots.go", "		l.turn++\n", "", mechanism("training-banded"), nil},
	{"banded: groups by position", "core/sum/lots.go", `src.Split("group", seed)`, `src.Split("group", seed-seed, uint64(i))`, mechanism("training-banded"), nil},
	{"banded: the rate within a group is ignored", "core/sum/lots.go", "l.src.Subset(l.joined[:0], len(group), l.rate)", "l.src.Subset(l.joined[:0], len(group), 1)", mechanism("training-banded"), nil},
	{"banded: priced at half of its rounds", "core/dp/banded.go", "e.Steps / int64(e.Groups)", "e.Steps / int64(2*e.Groups)", mechanism("prices"), nil},
	{"banded: priced as a lot of all units", "core/sum/linear.go", "chance := p.SamplingRate * float64(p.Groups)", "chance := p.SamplingRate * min(1, float64(p.Groups))", mechanism("events"), nil},
	{"lots fixed over steps", "core/sum/lots.go", "l.joined = l.src.Subset(l.joined[:0], l.units, l.rate)", `l.joined = l.src.Split("lot").Subset(l.joined[:0], l.units, l.rate)`, mechanism("training-steps", "descent-lots"), nil},
	{"units join with twice the rate", "core/sum/lots.go", "l.src.Subset(l.joined[:0], l.units, l.rate)", "l.src.Subset(l.joined[:0], l.units, min(1, 2*l.rate))", mechanism("training-steps"), nil},
	{"rows join lots one by one", "core/sum/lots.go", "l.include[i] = l.member[u]", "l.include[i] = l.src.Bernoulli(l.rate) || u < 0", mechanism("training-steps"), nil},
	// Linear descent and boosting.
	{"half the noise on linear descent", "core/sum/linear.go", "std := p.NoiseMultiplier * p.ClippingNorm * float64", "std := p.NoiseMultiplier / 2 * p.ClippingNorm * float64", mechanism("descent-steps"), nil},
	{"one stream of noise, begun anew in every step of descent", "core/sum/linear.go", "noise.Perturb(r.draws, r.sum, r.stdDev)", `noise.Perturb(r.draws.Split("noise"), r.sum, r.stdDev)`, mechanism("descent-steps"), nil},
	{"one stream of noise, begun anew in every step of boosting", "core/sum/terms.go", "noise.Perturb(r.draws, sum, r.noise.Residuals)", `noise.Perturb(r.draws.Split("noise"), sum, r.noise.Residuals)`, mechanism("boosting-terms"), nil},
	{"rows of a unit ignored in descent", "core/sum/linear.go", "* float64(permit.RowsApart()) * margin", "* min(1, float64(permit.RowsApart())) * margin", mechanism("descent-steps"), nil},
	{"logistic residual not clipped", "core/sum/loss.go", "s[j] = clip(weightOf(classes, targets[j])*(p-targets[j]), c, norms[j])", "s[j] = weightOf(classes, targets[j]) * (p - targets[j])", mechanism("descent-clipping"), nil},
	{"softmax residual not clipped", "core/sum/loss.go", "s[k] *= c / length", "s[k] *= 1", mechanism("descent-clipping"), nil},
	{"residuals of one score are not clipped anywhere", "core/sum/loss.go", "return min(max(r, -most), most)", "_ = most\n\treturn r", mechanism("descent-clipping"), nil},
	{"descent priced as one step", "core/sum/linear.go", "return dp.Repeat{Count: int64(p.Steps), Event: step}", "return dp.Repeat{Count: 1 + 0*int64(p.Steps), Event: step}", mechanism("events"), nil},
	{"descent priced at half the rate", "core/sum/linear.go", "dp.PoissonSampled{Rate: p.SamplingRate, Event: step}", "dp.PoissonSampled{Rate: p.SamplingRate / 2, Event: step}", mechanism("events"), nil},
	{"boosting: sums without √(epochs·terms)", "core/sum/terms.go", "math.Sqrt(float64(t.Rounds)*terms/(1-t.CountShare))", "math.Sqrt(1/(1-t.CountShare))", mechanism("boosting-terms"), nil},
	{"boosting: sums without √terms", "core/sum/terms.go", "float64(t.Rounds)*terms/(1", "float64(t.Rounds)/(1", mechanism("boosting-terms"), nil},
	{"boosting: counts without √terms", "core/sum/terms.go", "math.Sqrt(t.CountShare) * math.Sqrt(terms) * k", "math.Sqrt(t.CountShare) * k", mechanism("boosting-terms"), nil},
	{"boosting: rows of a unit ignored", "core/sum/terms.go", "terms, k := float64(len(t.Terms)), float64(rowsApart)*rounding", "terms, k := float64(len(t.Terms)), min(1, float64(rowsApart))*rounding", mechanism("boosting-terms"), nil},
	{"boosting: residuals not clipped", "core/sum/loss.go", "s[0] = clip(s[0]-target, c, 1)", "s[0] = clip(s[0]-target, 1+c, 1)", mechanism("boosting-terms"), nil},
	// Least squares and perturbation.
	{"AdaSSP: least eigenvalue without noise", "core/sum/regression.go", `noise.Perturb(src.Split("least eigenvalue"), least, n.Least)`, `noise.Perturb(src.Split("least eigenvalue"), least, n.Least/1024)`, mechanism("adaptive-sufficient-statistics-units"), nil},
	{"AdaSSP: Xᵀy without noise", "core/sum/regression.go", `noise.Perturb(src.Split("cross"), e.Cross, n.Cross)`, `noise.Perturb(src.Split("cross"), e.Cross, n.Cross/1024)`, mechanism("adaptive-sufficient-statistics-units"), nil},
	{"AdaSSP: half the noise on XᵀX", "core/sum/regression.go", `e.Gram, len(e.Cross), n.Gram)`, `e.Gram, len(e.Cross), n.Gram/2)`, mechanism("adaptive-sufficient-statistics-units"), nil},
	{"AdaSSP: three releases without √3", "core/sum/regression.go", "s := r.NoiseMultiplier * math.Sqrt(3) * float64", "s := r.NoiseMultiplier * float64", mechanism("adaptive-sufficient-statistics-units"), nil},
	{"AdaSSP: matrix and vector without √2 and 2 under replace-one", "core/sum/regression.go", "n.Gram, n.Cross = math.Sqrt2*s, 2*s", "n.Gram, n.Cross = s, s", mechanism("adaptive-sufficient-statistics-units-replaced"), nil},
	{"output perturbation: half the sensitivity", "core/convex/output.go", "return (float64(rowsApart)*o.ResidualCap + 2*gamma)", "return (float64(rowsApart)*o.ResidualCap/2 + 2*gamma)", mechanism("output-perturbation-units"), nil},
	{"objective perturbation: not doubled under replace-one", "core/convex/objective.go", "gradient *= 2", "gradient *= 1", mechanism("objective-perturbation-units-replaced"), nil},
	{"minima perturbation: half the noise", "core/convex/amp.go", "noise.AddGaussian(from.objective, f.problem.Linear(), c.objective)", "noise.AddGaussian(from.objective, f.problem.Linear(), c.objective/2)", mechanism("minima-perturbation-units"), nil},
	// Releases.
	{"rows of a unit ignored in counts and scores", "core/sum/sum.go", "k := float64(apart) * rounding", "k := min(1, float64(apart)) * rounding", mechanism("count-units"), nil},
	{"accuracy without √2", "core/release/score.go", "Size: 2 + a.Levels, L1: 2, L2Squared: 2", "Size: 2 + a.Levels, L1: 2, L2Squared: 1", mechanism("accuracy-units"), nil},
	{"accuracy, pure, without its 2", "core/release/score.go", "Size: 2 + a.Levels, L1: 2,", "Size: 2 + a.Levels, L1: 1,", mechanism("accuracy-pure-units"), nil},
	{"absolute error without √3", "core/release/score.go", "L2Squared: 3 * grid * grid", "L2Squared: grid * grid", mechanism("absolute-error-units"), nil},
	{"absolute error: half the noise on the mean", "core/release/score.go", "L2Squared: 2 * grid * grid", "L2Squared: grid * grid / 2", mechanism("absolute-error-units"), nil},
	{"covariance: a quarter of the noise off the diagonal under replace-one", "core/noise/gaussian.go", "Perturb(src, row[1:], stdDev/math.Sqrt2)", "Perturb(src, row[1:], stdDev/math.Sqrt2/4)", mechanism("covariance-units-replaced"), nil},
	{"covariance without √2 under replace-one", "core/sum/moments.go", "return s * math.Sqrt2, nil", "return s, nil", mechanism("covariance-units-replaced"), nil},
	{"vectors are not scaled to the norm", "core/sum/moments.go", "x[j] = x[j] / largest * (most / root)", "x[j] *= 1", mechanism("input-mean-units"), nil},
	{"tables: each table with the noise of one alone", "core/release/tables.go", "L2Squared: int64(len(t.Pairs))", "L2Squared: 1", mechanism("tables-units"), nil},
	{"integer cells share their noise", "core/noise/discretegaussian.go", "dst[i] = saturatingAdd(dst[i], g.draw(src))", `dst[i] = saturatingAdd(dst[i], g.draw(src.Split("")))`, mechanism("tables-units"), nil},
	{"integer cells share their Laplace noise", "core/noise/discretelaplace.go", "dst[i] = saturatingAdd(dst[i], l.draw(src))", `dst[i] = saturatingAdd(dst[i], l.draw(src.Split("")))`, mechanism("histograms-pure-units"), nil},
	{"half the noise on integer cells", "core/sum/sum.go", "scale = e.NoiseMultiplier * math.Sqrt(float64(c.L2Squared)) * k", "scale = e.NoiseMultiplier / 2 * math.Sqrt(float64(c.L2Squared)) * k", mechanism("tables-units"), nil},
	{"half the Laplace noise on integer cells", "core/sum/sum.go", "scale = e.NoiseMultiplier * float64(c.L1) * k", "scale = e.NoiseMultiplier / 2 * float64(c.L1) * k", mechanism("count-units"), nil},
	{"integer cells do not hold a row to its bound", "core/sum/sum.go", "cell >= len(t.sums) || cost > t.left {", "cell >= len(t.sums) {", mechanism("cells-bound"), nil},
	{"integer cells take several numbers from a row", "core/sum/sum.go", "if cell < t.next || cell", "if cell < 0 || cell", mechanism("cells-bound"), nil},
	{"a row's bound is not spent", "core/sum/sum.go", "t.next, t.left = cell+1, t.left-cost", "t.next, t.left = cell+1, t.left-0*cost", mechanism("cells-bound"), nil},
	{"moments: parts do not add up", "core/sum/moments.go", "s := m.Event.NoiseMultiplier * math.Sqrt(m.parts())", "s := m.Event.NoiseMultiplier * math.Sqrt(min(1, m.parts()))", mechanism("class-sums-units"), nil},
	{"moments: half the noise", "core/sum/moments.go", "s := m.Event.NoiseMultiplier * math.Sqrt(m.parts())", "s := m.Event.NoiseMultiplier / 2 * math.Sqrt(m.parts())", mechanism("input-mean-units"), nil},
	{"moments: not doubled under replace-one", "core/sum/moments.go", "return s * 2, nil", "return s, nil", mechanism("input-mean-units-replaced"), nil},
	{"moments: rows of a unit ignored", "core/sum/moments.go", "math.Sqrt(m.parts()) * float64(rowsPerUnit)", "math.Sqrt(m.parts()) * min(1, float64(rowsPerUnit))", mechanism("covariance-units"), nil},
	{"moments: squares without noise", "core/sum/moments.go", "noise.Perturb(src, x, std*m.Norm*m.Norm)", "noise.Perturb(src, x, std*m.Norm*m.Norm/1024)", mechanism("class-sums-units"), nil},
	{"float sums are released with half their noise", "core/noise/gaussian.go", "	AddGaussian(src, dst, stdDev)\n", "	AddGaussian(src, dst, stdDev/2)\n", mechanism("input-mean-units"), nil},
	{"class sums: noise of one part", "core/sum/moments.go", "[]bool{m.Counts, m.Sums, m.Squares, m.Products}", "[]bool{m.Sums, m.Products}", mechanism("class-sums-units"), nil},
	{"levels: rows of a unit ignored", "core/sum/levels.go", "float64(len(l.Columns)) * float64(apart)", "float64(len(l.Columns)) * min(1, float64(apart))", mechanism("levels-units"), nil},
	{"levels: noise of one column", "core/sum/levels.go", "float64(l.Most) * float64(len(l.Columns)) * float64(apart)", "float64(l.Most) * min(1, float64(len(l.Columns))) * float64(apart)", mechanism("levels-units"), nil},
	{"levels: noise of one cell of a text", "core/sum/levels.go", "float64(l.Most) * float64(len(l.Columns))", "min(1, float64(l.Most)) * float64(len(l.Columns))", mechanism("levels-units"), nil},
	{"levels: half the noise", "core/sum/levels.go", "noise.Perturb(view.Noise(), counts, l.StdDev(permit.RowsApart()))", "noise.Perturb(view.Noise(), counts, l.StdDev(permit.RowsApart())/2)", mechanism("levels-units"), nil},
	{"levels: a level that one unit holds is released", "core/sum/levels.go", "if counts[i] > threshold {", "if counts[i] > threshold || threshold > 0 {", mechanism("levels-units"), nil},
	{"noisy rows: half the diameter", "core/localrows/table.go", "l.NoiseMultiplier * 2 * l.Norm", "l.NoiseMultiplier * l.Norm", mechanism("local-rows-units"), nil},
	{"noisy rows: classes answered at random half as often", "core/localrows/table.go", "src.Bernoulli(chance) || c < 0", "src.Bernoulli(chance/2) || c < 0", mechanism("local-rows-units"), nil},
	{"mean: a value is not capped", "core/release/release.go", "math.Round(min(max(x, -1), 1) * grid)", "math.Round(min(max(x, -2), 2) * grid)", mechanism("mean-units"), nil},
	// Bounds, charges and prices.
	{"a unit's rows beyond its bound stay", "core/intake/units.go", "own[:min(n, u.maxRows)]", "own[:n]", mechanism("training-steps"), nil},
	{"replace-one as add-or-remove", "core/internal/sealed/permit.go", "return 2 * p.maxRows", "return p.maxRows", mechanism("count-units-replaced"), nil},
	{"a permit can be used again and again", "core/internal/sealed/permit.go", "it.used = true", "it.used = false", mechanism("charges"), nil},
	{"a permit is valid for any scope", "core/internal/sealed/permit.go", "!it.used && it.scope == scope && pays", "!it.used && pays", mechanism("charges"), nil},
	{"a permit for one row opens units of three", "core/internal/sealed/rows.go", "if r.maxRows > p.maxRows {", "if r.maxRows > 3*p.maxRows {", mechanism("charges"), nil},
	{"rows outside of the scope are read", "core/internal/sealed/rows.go", "if scope.Contains(h) {", "if scope.Contains(h) || true {", mechanism("scopes"), nil},
	{"selection: twice as many runs", "core/selection/selection.go", "runs := number(src.Split(\"runs\"))", "runs := 2 * number(src.Split(\"runs\"))", mechanism("selection-runs"), nil},
	{"normal draws of half the width", "core/noise/gaussian.go", "Unit: z.edge[i] * 0x1p-53", "Unit: z.edge[i] * 0x1p-54", mechanism("input-mean-units"), nil},
	{"integer draws of half the scale", "core/noise/discretelaplace.go", "l := newLaplaceSampler(scale)", "l := newLaplaceSampler(scale / 2)", mechanism("count-units"), nil},
	{"integer draws of half the deviation", "core/noise/discretegaussian.go", "g := newGaussianSampler(stdDev)", "g := newGaussianSampler(stdDev / 2)", mechanism("accuracy-units"), nil},
	{"Gaussian priced at half of its μ", "core/accountant/gaussian.go", "half, shift := 0.5/sigma, epsilon*sigma", "half, shift := 0.25/sigma, 2*epsilon*sigma", mechanism("prices"), nil},
	{"releases of one permit share their noise", "core/internal/sealed/permit.go", "return p.root.Split(label, n) }), nil", "return p.root.Split(label, n-n) }), nil", mechanism("streams"), nil},
	{"a bias is left out of the norm of a single row", "core/gradient/clipsum.go", "a[i] = (aa + bias) * g[i]", "a[i] = aa*g[i] + 0*bias", mechanism("training-layers"), nil},
	{"a bias is left out of a norm", "core/gradient/clipsum.go", "sum += (aa[t] + bias) * gg[t]", "sum += aa[t]*gg[t] + 0*bias", []string{"test ./core/gradient TestNetworkContributionNormIsBounded"}, nil},
	{"products of different rows are left out of a norm", "core/gradient/clipsum.go", "sum += 2 * (aa[s] + bias)", "sum += 0 * (aa[s] + bias)", mechanism("training-layers"), nil},
	{"tokens are left out of a norm", "core/gradient/block.go", "k.squares[b.group] += k.merge(tr, from, to)", "k.squares[b.group] += 0 * k.merge(tr, from, to)", mechanism("training-layers"), nil},
	{"formed gradients are left out of a norm", "core/gradient/block.go", "kernel.Squares(k.sole[:], w)", "kernel.Squares(k.sole[:], w[:0])", mechanism("training-layers"), nil},
	{"boosting: logistic residual not clipped", "core/sum/loss.go", "s[j] = clip(weightOf(classes, targets[j])*(p-targets[j]), c, norms[j])", "s[j] = weightOf(classes, targets[j]) * (p - targets[j])", mechanism("boosting-clipping"), nil},
	{"least squares: targets not clamped", "core/sum/regression.go", "scores[i] = min(max(y, -1), 1)", "scores[i] = min(max(y, -9), 9)", mechanism("adaptive-sufficient-statistics-units"), nil},
	{"scores by group: losses not clamped", "core/release/scoregroups.go", "min(max(loss, 0), 1)", "min(max(loss, 0), 9)", mechanism("group-scores-units"), nil},
	// Scores in bins: what a test convicts, since a score is put together outside of core.
	{"bins: one unit counted in both halves", "workflow/scoreprice.go", "{{Lower: s.Lower, Upper: middle}, {", "{{Lower: s.Lower, Upper: s.Upper}, {", []string{"test ./workflow TestHalvesAreDisjoint"}, nil},
	{"bins: labels at a requested threshold counted on all units for each half", "workflow/scoreprice.go", `(name == "labels" || name == groupLabels) && p.Decision.Given()`, `(name == "labels" || name == groupLabels) && !p.Decision.Given()`, []string{"test ./workflow TestHalvesAreDisjoint"}, nil},
	{"bins: calibration and threshold from the half that is judged", "evidence/quality/classes.go", "other := halves[1-i].Table", "other := halves[i].Table", []string{"test ./evidence/quality TestHalvesChooseForEachOther"}, nil},
	{"bins: answers calibrated by the half that is judged", "evidence/quality/answers.go", "first, _ := halves[1].Calibrate()", "first, _ := halves[0].Calibrate()", []string{"test ./evidence/quality TestHalvesOfAnswersChooseForEachOther"}, nil},
	{"bins: rows of a unit ignored in the stated noise", "core/release/bins.go", "return b.cells().StdDev(apart) / float64(b.unit())", "return b.cells().StdDev(min(1, apart)) / float64(b.unit())", []string{"test ./core/release TestBinsNoise"}, nil},
	{"bins: no noise", "core/sum/sum.go", "stdDev, add = scale*math.Sqrt2, noise.AddDiscreteLaplace", "stdDev, add = scale*math.Sqrt2, noise.AddDiscreteLaplace\n\t\tscale /= 1024", []string{"test ./core/release TestBinsNoise"}, nil},
	{"bins: a row counts whole in both of its nodes", "core/release/bins.go", "add.Add(bin, unit-q)", "add.Add(bin, unit)", []string{"test ./core/release TestBinsBetweenNodesAreExact"}, nil},
	// The additive model: what a row is multiplied by, and how its releases share one precision.
	{"maps: the norms of vectors are left out", "data/encode/mapped.go", "append(b.norms, norm)", "append(b.norms, 0*norm)", mechanism("descent-maps"), nil},
	{"maps: a norm is that of the shortest vector", "data/encode/mapped.go", "append(b.norms, norm)", "append(b.norms, min(norm, 0.25))", mechanism("descent-maps"), nil},
	{"maps: a bound for rows of norm 1, on shorter ones, one score", "core/sum/loss.go", "return min(max(r, -most), most)", "return min(max(r, -most/norm), most/norm)", mechanism("descent-maps"), nil},
	{"maps: a bound for rows of norm 1, on shorter ones, several classes", "core/sum/loss.go", "length := math.Sqrt(square) * norm\n", "length := math.Sqrt(square) * norm * norm\n", mechanism("descent-maps"), nil},
	{"maps: a row has the vector of the next level", "data/encode/mapped.go", "for j, x := range v {\n				g[j", "for j := range v {\n				x := b.vectors[(l+1)%b.Levels*b.Dim+j]\n				g[j", mechanism("descent-maps"), nil},
	{"additive model: marginals at the noise of the whole", "learn/gam.go", "g.NoiseMultiplier / math.Sqrt(marginalShare)}", "g.NoiseMultiplier / math.Sqrt(1+0*marginalShare)}", []string{"test ./learn TestGAMPrecisionsAddUp"}, nil},
	{"additive model: screening at the noise of the whole", "learn/gam.go", "StepNoise(g.NoiseMultiplier/math.Sqrt(screenShare), 1)", "StepNoise(g.NoiseMultiplier, 1)", []string{"test ./learn TestGAMPrecisionsAddUp"}, nil},
	{"additive model: shares of more than the whole", "learn/gam.go", "0.05, 0.30, 0.10, 0.55", "0.05, 0.30, 0.10, 1.55", []string{"test ./learn TestGAMPrecisionsAddUp"}, nil},
	{"additive model: a descent priced as one step", "learn/gam.go", "StepNoise(g.NoiseMultiplier/math.Sqrt(share), steps)", "StepNoise(g.NoiseMultiplier/math.Sqrt(share), 1)", []string{"test ./learn TestGAMPrecisionsAddUp"}, nil},
	{"additive model: screening is not charged", "learn/gam.go", "g.screening(nil).Privacy.Event(),", "", []string{"test ./learn TestGAMFindsPairs"}, nil},
	{"additive model: pairs start at the price of the mains", "learn/gam.go", "d := f.descent(enc, pairShare, pairMovement)", "d := f.descent(enc, pairShare*16, pairMovement)", []string{"test ./learn TestGAMFindsPairs"}, nil},
	{"lots: a norm is rounded to the nearest", "core/internal/design/scalar.go", "if float64(n) < norm {", "if float64(n) < norm/2 {", []string{"test ./core/internal/design TestPackedSumMatchesDenseRows"}, nil},
	{"lots: rows of a lot without their norms", "core/internal/design/scalar.go", "mark(p.key[(i+1)*p.stride-marks:], norm, target)", "mark(p.key[(i+1)*p.stride-marks:], norm/1024, target)", mechanism("descent-lots"), nil},
	{"lots: the row at the end of a chunk counts twice", "core/internal/design/scalar.go", "slices.BinarySearch(rows, int32(hi))", "slices.BinarySearch(rows, int32(hi+1))", []string{"test ./core/internal/design TestLotsCrossChunks"}, nil},
	// Units, permits and what sums rest on.
	{"units: one hash stands for two units", "core/internal/sealed/rows.go", "	if t.unit != nil {\n		return uint64", "	if t.unit != nil && row < 0 {\n		return uint64", []string{"test ./core/internal/sealed TestUnitsOfOneHashAreTwo"}, nil},
	{"units: a number and a text of its digits are one record", "reader/table.go", "case cells[f].typed && t.marked", "case false && t.marked", []string{"test ./reader TestEqualRecordsAreEqualRows"}, nil},
	{"units: runs made outside pawl share the places of a column", "core/ledger/state.go", "case foreign, booked ==", "case booked ==", []string{"test ./core/ledger/pricing TestForeignRunsHavePlacesOfTheirOwn"}, nil},
	{"units: a replay for units in other places", "core/ledger/reserve.go", " || old.Assignment != assignment {", " {", []string{"test ./core/ledger TestReplayCostsNothing"}, nil},
	{"units: children outlive their permit", "core/internal/sealed/permit.go", "		p.pool.closed = true\n", "", []string{"test ./core/internal/sealed TestChildrenTakeFromTheParent"}, nil},
	{"units: a permit travels although a part of it draws here", "core/internal/sealed/travel.go", "case len(p.taken) > 0, len(p.handed) > 0:", "case len(p.taken) > 0:", []string{"test ./core/internal/sealed TestOnlyWhatIsReservedTravels"}, nil},
	{"units: rows of any length, and of none", "core/internal/design/design.go", "* m.enc.Scale; norm <= longest {", "* m.enc.Scale; true {", []string{"test ./core/internal/design TestNoRowIsLongerThanOne"}, nil},
	{"units: sums beside products at the noise of products alone", "core/sum/moments.go", "if m.Products && m.parts() == 1 {", "if m.Products {", []string{"test ./core/sum TestMomentsMoveByTheirBound"}, nil},
	{"units: two numbers of a row in one cell", "core/sum/sum.go", "if cell < t.next || cell", "if cell < 0 || cell", []string{"test ./core/sum TestNoCellTwice"}, nil},
	// Seen through the network named.
	{"canaries: half the noise, claim of 4", "core/sum/linear.go", "std := p.NoiseMultiplier * p.ClippingNorm * float64", "std := p.NoiseMultiplier / 2 * p.ClippingNorm * float64", []string{canary}, nil},
	{"canaries: half the noise, claim of 1", "core/sum/linear.go", "std := p.NoiseMultiplier * p.ClippingNorm * float64", "std := p.NoiseMultiplier / 2 * p.ClippingNorm * float64", []string{"canary mnist --model mnist-paw-cnn --epsilon 1"}, nil},
	{"canaries: clipping off", "core/gradient/clipping.go", "f := min(1, bound/norm)", "f := 1 + 0*min(1, bound/norm)", []string{canary}, nil},
	{"canaries: lots fixed", "core/sum/lots.go", "l.joined = l.src.Subset(l.joined[:0], l.units, l.rate)", `l.joined = l.src.Split("lot").Subset(l.joined[:0], l.units, l.rate)`, []string{canary}, nil},
	{"canaries under banded noise: half the noise", "core/noise/banded.go", "		y[i] *= b.norm\n", "		y[i] *= b.norm / 2\n", []string{bandedCanary}, nil},
	{"canaries under banded noise: steps are not correlated", "core/noise/banded.go", "if uint64(j) >= step {", "if step > 0 {", []string{bandedCanary}, nil},
}
