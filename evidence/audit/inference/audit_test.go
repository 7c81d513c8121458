package inference

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
)

// memory is a recipe that is surer of members by leak and says noise of others: records
// differ in how hard they are, so that shadow models have something to tell.
func memory(labels []int, classes int, leak float64) Recipe {
	return func(_ context.Context, number int, members []int) ([]float64, error) {
		rng := rand.New(rand.NewPCG(uint64(number), 7))
		hard := rand.New(rand.NewPCG(99, 0))
		in := map[int]bool{}
		for _, r := range members {
			in[r] = true
		}
		p := make([]float64, len(labels)*classes)
		for i, y := range labels {
			logit := 1.5*hard.NormFloat64() + 0.5*rng.NormFloat64()
			if in[i] {
				logit += leak
			}
			q := 1 / (1 + math.Exp(-logit))
			for k := range classes {
				p[i*classes+k] = (1 - q) / float64(classes-1)
			}
			p[i*classes+y] = q
		}
		return p, nil
	}
}

func audited(records int, kind Kind, leak float64) Audit {
	const classes = 3
	a := Audit{Classes: classes, Attack: kind, Seed: [2]uint64{1, 2}}
	for i := range records {
		a.Label = append(a.Label, i%classes)
		a.Identity = append(a.Identity, fmt.Append(nil, i))
	}
	a.Train = memory(a.Label, classes, leak)
	return a
}

// Null hypothesis: posteriors do not depend on membership. AUC then lies outside of its
// 95 % interval in one audit of twenty, and of 1e-6 with probability far below that; the
// bound of an audit in one run exceeds a true claim with probability 1e-3. Power: a leak
// of four deviations of a model's noise is found by every attack.
func TestAttacks(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			records := 1200
			claim := bound.Claim{Epsilon: 0.5, Delta: Delta(records)}
			for name, leak := range map[string]float64{"null": 0, "leak": 2} {
				a := audited(records, kind, leak)
				a.Claim, a.At = &claim, &claim
				r, err := a.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if leak == 0 && (r.Report.AUC.Estimate > 0.6 || r.OneRun.Convicted) {
					t.Errorf("%s: AUC %v, %+v", name, r.Report.AUC, r.OneRun)
				}
				if leak > 0 && r.Report.AUC.Lower < 0.6 {
					t.Errorf("%s: AUC %v", name, r.Report.AUC)
				}
				if leak > 0 && kind == LiRA && !r.OneRun.Convicted {
					t.Errorf("%s: a claim of 0.5 goes free: %+v", name, r.OneRun)
				}
				if len(r.Classes) != a.Classes {
					t.Errorf("%d classes", len(r.Classes))
				}
			}
		})
	}
}

// Shadow models that know the records' difficulty beat a threshold that does not.
func TestLiRABeatsThresholds(t *testing.T) {
	auc := map[Kind]float64{}
	for _, kind := range []Kind{LiRA, Loss} {
		r, err := audited(1200, kind, 1).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		auc[kind] = r.Report.AUC.Estimate
	}
	if auc[LiRA] < auc[Loss]+0.05 {
		t.Errorf("%v", auc)
	}
}

// Pools are what the attacks need: disjoint, of coins, every record in half of the shadow
// models of LiRA.
func TestDesign(t *testing.T) {
	for _, kind := range Kinds() {
		d, err := newDesign(kind, 1000, kind.Shadows(), rand.New(rand.NewPCG(1, 0)))
		if err != nil {
			t.Fatal(err)
		}
		trained := len(chosen(d.attacked, d.in))
		if mean := float64(len(d.attacked)) / 2; math.Abs(float64(trained)-mean) > 5*math.Sqrt(mean/2) {
			t.Errorf("%s: %d of %d coins fell", kind, trained, len(d.attacked))
		}
		if d.common {
			for i := range d.attacked {
				n := 0
				for _, in := range d.shadows {
					if in[i] {
						n++
					}
				}
				if n != kind.Shadows()/2 {
					t.Errorf("%s: a record is in %d of %d shadow models", kind, n, kind.Shadows())
				}
			}
		}
		seen := slices.Concat(d.attacked, d.population)
		if !d.common {
			seen = slices.Concat(append(d.pool, seen)...)
		}
		slices.Sort(seen)
		if before := len(seen); len(slices.Compact(seen)) != before {
			t.Errorf("%s: pools overlap", kind)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Audit)
		want   error
		says   string
	}{
		"one shadow model": {func(a *Audit) { a.Attack, a.Shadows = LiRA, 1 }, ErrInput, "at least 4"},
		"one shadow, RMIA": {func(a *Audit) { a.Attack, a.Shadows = RMIA, 1 }, ErrInput, "at least 2"},
		"few records":      {func(a *Audit) { a.Attack, a.Shadows = SVM, 40 }, ErrInput, "at least 40"},
		"names that lack":  {func(a *Audit) { a.Identity = a.Identity[1:] }, ErrInput, "names"},
		"the same record":  {func(a *Audit) { a.Identity[3] = a.Identity[4] }, attack.ErrOverlap, "overlap"},
		"unknown attack":   {func(a *Audit) { a.Attack = "guess" }, ErrInput, "no attack"},
		"NaN":              {func(a *Audit) { a.Train = constant(math.NaN(), a) }, attack.ErrInput, ""},
		"constant scores":  {func(a *Audit) { a.Train = constant(1./3, a) }, attack.ErrConstant, "equal"},
		"a short answer":   {func(a *Audit) { a.Train = func(context.Context, int, []int) ([]float64, error) { return nil, nil } }, ErrInput, "probabilities"},
		"training fails": {func(a *Audit) {
			a.Train = func(context.Context, int, []int) ([]float64, error) { return nil, errBroken }
		}, errBroken, "model 0"},
		"no shadow, logits": {func(a *Audit) { a.Train = constant(2, a) }, attack.ErrInput, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := audited(200, Loss, 1)
			c.change(&a)
			r, err := a.Run(t.Context())
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || r != nil {
				t.Errorf("got %v, %v", r, err)
			}
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := audited(200, Loss, 1).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

var errBroken = errors.New("broken")

func constant(p float64, a *Audit) Recipe {
	n := len(a.Label) * a.Classes
	return func(context.Context, int, []int) ([]float64, error) { return slices.Repeat([]float64{p}, n), nil }
}

// Equal seeds give equal audits.
func TestSeed(t *testing.T) {
	a := audited(300, RMIA, 1)
	x, err := a.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	y, err := a.Run(t.Context())
	if err != nil || x.Report.AUC != y.Report.AUC {
		t.Errorf("%v, %v, %v", x.Report.AUC, y.Report.AUC, err)
	}
}
