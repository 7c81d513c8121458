package workflow

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/compute/nn"
	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
	"pawl/search"
	"pawl/search/space"
	"pawl/search/study"
)

const tinySpace = `version: 1
name: tiny
net: fcn
dimensions:
  units: [2, 4, 6]
  frozen: [true, false]
  learning_rate: [0.1, 1]
`

// huntInput asks for a search among nets of one hidden layer on 4×4 images.
func huntInput(t testing.TB, public bool, kind search.Kind) NetSearchInput {
	t.Helper()
	s, err := space.Decode("tiny.yaml", []byte(tinySpace))
	if err != nil {
		t.Fatal(err)
	}
	strategy, err := search.New(kind)
	if err != nil {
		t.Fatal(err)
	}
	strategy.Candidates = 12
	switch kind {
	case search.PS, search.RS, search.LT, search.Split, search.Subset, search.Public, search.STW:
		strategy.Mean = 3
	case search.PSPoisson:
		strategy.Mean = 2
	case search.MGRS:
		strategy.Sizes = []float64{2, 1.5}
	case search.PAAS, search.TuneBound:
		strategy.Generations, strategy.Population = 2, 5
	}
	if kind == search.Split || kind == search.Subset {
		strategy.Share = 0.5
	}
	in := NetSearchInput{TrainInput: trainInput(public), SearchSettings: SearchSettings{Space: s, Strategy: strategy}}
	in.Epsilon, in.Layers = "8", nn.Spec{}
	if kind == search.PSPoisson {
		in.Epsilon = "200" // its bound is loose
	}
	in.Build = func(p space.Point) (Candidate, error) {
		units, _ := p.Int("units")
		frozen, _ := p.Flag("frozen")
		rate, _ := p.Float("learning_rate")
		first := nn.Layer{Kind: "dense", Units: units}
		if frozen {
			first.Trainable = nn.TrainNone
		}
		return Candidate{Radius: 4, LearningRate: rate, Layers: nn.Spec{Layers: []nn.Layer{
			{Kind: "dct", Coefficients: 9}, first, {Kind: "tanh"}, {Kind: "dense", Units: 2}}}}, nil
	}
	if in.Rule, err = s.Parse("units=2 frozen=false learning_rate=1"); err != nil {
		t.Fatal(err)
	}
	if kind == search.Public {
		in.On, in.OnRows = "other", 200
	}
	return in
}

func huntEnv(t testing.TB, plan *Plan, l *ledger.Ledger) Env {
	t.Helper()
	seal := func(name string, public bool) *intake.Rows {
		s := *plan.problem.Schema
		s.Dataset, s.Public = name, public
		b := intake.NewBuilder(key(t, name), &s)
		set := someImages(200)
		err := plan.Inputs(set, func(i int, input []float32) error {
			return b.AddFloats([]float64{float64(set.Labels[i])}, input, schema.Record{})
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.Seal()
	}
	return Env{Ledger: l, Rows: seal("squares", plan.problem.Public), Other: seal("other", true), Images: someImages(40), Digest: bytes.Repeat([]byte{7}, 32), Workers: 2}
}

// Every strategy runs on sensitive rows with exactly what it booked, costs what it
// quoted, and shows of its trials what it may.
func TestStrategiesRunWithinTheirBooking(t *testing.T) {
	for _, kind := range search.Kinds() {
		if kind == search.TuneBound || kind == search.RS || kind == search.STW {
			continue // paas and ps under other names; stw is for public data
		}
		t.Run(string(kind), func(t *testing.T) {
			in := huntInput(t, false, kind)
			plan, err := NewNetSearchPlan(in)
			if err != nil {
				t.Fatal(err)
			}
			price, err := accountant.Epsilon(plan.Event, dp.AddOrRemoveOne, 1e-4, accountant.MethodMin)
			if asked, _ := plan.problem.epsilon.Float64(); err != nil || price.Epsilon > asked || price.Epsilon < asked*.97 {
				t.Fatalf("the event costs %v of %v (%v)", price.Epsilon, asked, err)
			}
			l := ledger.New(memoryStore(), freeAccountant{}, ledger.Options{User: "tester"})
			if err := l.Create(context.Background(), ledger.Budget{Dataset: "squares", Epsilon: "1000", Delta: "1e-4", Unit: "image", Relation: dp.AddOrRemoveOne}); err != nil {
				t.Fatal(err)
			}
			out, err := plan.Run(context.Background(), huntEnv(t, plan, l))
			if errors.Is(err, study.ErrNothing) && kind == search.PSPoisson {
				return // zero runs are possible
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := out.Statement(context.Background(), Env{Ledger: l}, "test", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			shown := len(s.Search.Trials) > 0
			reads := slices.Contains([]search.Kind{search.Grid, search.PAAS, search.TuneBound, search.Public, search.MGRS}, kind)
			if shown != reads || s.Search.Winner == nil || s.Command != "search" {
				t.Errorf("%d trials are shown, winner %v", len(s.Search.Trials), s.Search.Winner)
			}
			if kind == search.MGRS && len(s.Search.Trials) > 2 {
				t.Errorf("mgrs shows %d trials, it has 2 winners", len(s.Search.Trials))
			}
			if kind != search.None && !strings.Contains(s.Search.Paid, "a second model would have to be charged") {
				t.Errorf("on sensitive rows: %s", s.Search.Paid)
			}
		})
	}
}

// The drop-in search looks at public rows without paying, and says so.
func TestDropInSearch(t *testing.T) {
	if _, err := NewNetSearchPlan(huntInput(t, false, search.STW)); err == nil {
		t.Error("it was offered on sensitive rows")
	}
	in := huntInput(t, true, search.STW)
	in.Strategy.Mean = 3
	plan, err := NewNetSearchPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	l := memoryLedger()
	out, err := plan.Run(context.Background(), huntEnv(t, plan, l))
	if err != nil {
		t.Fatal(err)
	}
	s, err := out.Statement(context.Background(), Env{Ledger: l}, "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if !s.NotPrivate || !strings.Contains(strings.Join(s.Warnings, " "), "NOT PRIVATE as a whole") || len(s.Search.Trials) != 3 {
		t.Errorf("not private %v, %d trials, %q", s.NotPrivate, len(s.Search.Trials), s.Warnings)
	}
}

// Without a booking nothing is trained: a plan whose event is smaller than what the
// search does finds no event to take.
func TestSearchTakesWhatItBooked(t *testing.T) {
	for _, kind := range []search.Kind{search.PS, search.Grid, search.MGRS, search.Split, search.None} {
		plan, err := NewNetSearchPlan(huntInput(t, false, kind))
		if err != nil {
			t.Fatal(err)
		}
		plan.job.(*searching).quote.Noise *= 0.99 // less noise than was booked
		plan.job.(*searching).quote.FinalNoise *= 0.99
		if e, ok := plan.job.(*searching).quote.Event.(dp.Select); ok {
			e.Runs = dp.TruncatedNegativeBinomial{Mean: 50}
			plan.job.(*searching).quote.Event = e
		}
		l := ledger.New(memoryStore(), freeAccountant{}, ledger.Options{User: "tester"})
		if err := l.Create(context.Background(), ledger.Budget{Dataset: "squares", Epsilon: "1000", Delta: "1e-4", Unit: "image", Relation: dp.AddOrRemoveOne}); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Run(context.Background(), huntEnv(t, plan, l)); err == nil {
			t.Errorf("%s ran with less noise than it booked", kind)
		}
	}
}

// A study that goes on gives the same model and is charged once.
// A study of an earlier version is not gone on with, and nothing is booked for it.
func TestEarlierStudyIsRefused(t *testing.T) {
	in := huntInput(t, false, search.PS)
	in.Seed = nil
	plan, err := NewNetSearchPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	l := memoryLedger()
	env := huntEnv(t, plan, l)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte(strings.Repeat("a1", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	if env.Study, _, err = study.Open(dir); err != nil {
		t.Fatal(err)
	}
	defer env.Study.Close()
	if _, err := plan.Run(context.Background(), env); !errors.Is(err, study.ErrEarlier) {
		t.Errorf("going on: %v", err)
	}
	if names, err := l.Names(context.Background()); err != nil || len(names) > 0 {
		t.Errorf("the ledger knows %v (%v)", names, err)
	}
}

// What names a study to the ledger differs where its trainings may: other settings, other
// software.
func TestReplayNamesTheComputation(t *testing.T) {
	in := huntInput(t, false, search.PS)
	in.Seed = nil
	kept, _, err := study.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	seen := map[string]string{}
	for name, edit := range map[string]func(*NetSearchInput, *Env){
		"as it is": func(*NetSearchInput, *Env) {}, "software": func(_ *NetSearchInput, env *Env) { env.Software = "other" },
		"clipping norm": func(in *NetSearchInput, _ *Env) { in.ClippingNorm = 0.25 }, "data": func(_ *NetSearchInput, env *Env) { env.Digest = []byte{2} },
	} {
		in, env := in, Env{Study: kept, Digest: []byte{1}}
		edit(&in, &env)
		plan, err := NewNetSearchPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		r, err := plan.replay(env)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[string(r.Of)]; ok {
			t.Errorf("%s is named as %s", name, other)
		}
		seen[string(r.Of)] = name
	}
}

func TestStudyGoesOnAtNoCost(t *testing.T) {
	for _, kind := range []search.Kind{search.PS, search.PAAS} {
		in := huntInput(t, false, kind)
		in.Seed = nil
		l := ledger.New(memoryStore(), freeAccountant{}, ledger.Options{User: "tester"})
		if err := l.Create(context.Background(), ledger.Budget{Dataset: "squares", Epsilon: "1000", Delta: "1e-4", Unit: "image", Relation: dp.AddOrRemoveOne}); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		var models [][]float32
		for i := range 3 {
			plan, err := NewNetSearchPlan(in)
			if err != nil {
				t.Fatal(err)
			}
			env := huntEnv(t, plan, l)
			if env.Study, _, err = study.Open(dir); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			if i == 0 {
				env.Progress = func(stage string, _, _ int) {
					if stage == "search and train" {
						cancel() // interrupted when it has just begun
					}
				}
			}
			out, err := plan.Run(ctx, env)
			cancel()
			if i == 0 {
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("interrupted: %v", err)
				}
			} else {
				if err != nil {
					t.Fatal(err)
				}
				models = append(models, out.Model.Parameters32)
			}
			if err := env.Study.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(models[0], models[1]) {
			t.Errorf("%s: another model after going on", kind)
		}
		view, err := figures.Show(context.Background(), l, "squares")
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(view.Spent.Epsilon); math.Abs(got-1) > 1e-9 {
			t.Errorf("%s: charged %v times", kind, got)
		}
	}
}

// freeAccountant counts reservations: each costs 1.
type freeAccountant struct{}

func (freeAccountant) Epsilon(dp.Event, dp.Relation, float64) (float64, string, error) {
	return 1, "count", nil
}

func (freeAccountant) Account(ledger.Cap, dp.Relation) (ledger.Account, error) {
	return new(countingAccount), nil
}

type countingAccount float64

func (c *countingAccount) Admit(ledger.Assigned) (bool, float64, float64, error) {
	return true, 1, 1000, nil
}
func (c *countingAccount) Add(ledger.Assigned) error { *c++; return nil }
func (c *countingAccount) Spent() (float64, error)   { return float64(*c), nil }

// centred puts a paid mean into the nets of points whose text holds a word.
func centred(build func(space.Point) (Candidate, error), word string) func(space.Point) (Candidate, error) {
	return func(p space.Point) (Candidate, error) {
		c, err := build(p)
		if strings.Contains(p.String(), word) {
			c.Layers.Layers = append([]nn.Layer{{Kind: "normalize"}, {Kind: "centre"}}, c.Layers.Layers[1:]...)
		}
		return c, err
	}
}

// Where candidates release the mean of their inputs, every training of the search books
// that release too: without it the training finds no permit.
func TestSearchPaysForMeans(t *testing.T) {
	in := huntInput(t, true, search.PS)
	in.Build = centred(in.Build, "")
	plan, err := NewNetSearchPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	one := plan.job.(*searching).quote.Event.(dp.Select).Event.(dp.Compose).Events[0].(dp.Scoped).Event.(dp.Compose)
	mean, ok := one.Events[0].(dp.Gaussian)
	if want := plan.sealing().centreNoise(plan.job.(*searching).quote.Noise); !ok || mean.NoiseMultiplier != want || len(one.Events) != 2 {
		t.Fatalf("a training books %+v, want a mean of noise %v and its steps", one, want)
	}
	out, err := plan.Run(context.Background(), huntEnv(t, plan, memoryLedger()))
	if err != nil || out.Found.Unsearched == nil {
		t.Fatal(err)
	}
	if plan, err = NewNetSearchPlan(in); err != nil {
		t.Fatal(err)
	}
	// The same trainings, booked without their means.
	event := plan.job.(*searching).quote.Event.(dp.Select)
	event.Event.(dp.Compose).Events[0] = dp.Scoped{Scope: plan.job.(*searching).scopes.Train, Event: one.Events[1]}
	if _, err := plan.Run(context.Background(), huntEnv(t, plan, memoryLedger())); err == nil {
		t.Error("means were released that nobody booked")
	}
}

func TestSearchRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		kind   search.Kind
		public bool
		change func(*NetSearchInput)
		want   string
	}{
		"public without data":         {search.Public, true, func(in *NetSearchInput) { in.On = "" }, "other data"},
		"other data without public":   {search.PS, true, func(in *NetSearchInput) { in.On = "x" }, "goes with"},
		"as published on own data":    {search.PAAS, false, func(in *NetSearchInput) { in.AsPublished = true }, "public data only"},
		"as published, no paper":      {search.PS, true, func(in *NetSearchInput) { in.AsPublished = true }, "no paper"},
		"nothing left for a training": {search.Grid, true, func(in *NetSearchInput) { in.Strategy.Candidates, in.Epsilon = 9000, "0.2" }, "the largest search"},
		"noise given":                 {search.PS, true, func(in *NetSearchInput) { in.NoiseMultiplier = 1 }, "epsilon of the whole"},
		"a mean in some candidates":   {search.PS, true, func(in *NetSearchInput) { in.Build = centred(in.Build, "units=2") }, "one kind of training"},
		"delta 0":                     {search.PS, true, func(in *NetSearchInput) { in.Delta = "0" }, "delta"},
	} {
		t.Run(name, func(t *testing.T) {
			in := huntInput(t, c.public, c.kind)
			c.change(&in)
			_, err := NewNetSearchPlan(in)
			var mistake *UsageError
			if !errors.As(err, &mistake) || !strings.Contains(err.Error()+mistake.Hint(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A table's search leaves out what its booking does not pay for, and says so.
func TestTableSearch(t *testing.T) {
	tab := builtin(t, "breast-cancer")
	s, ok := space.Lookup("tabular")
	if !ok {
		t.Fatal("no space tabular")
	}
	for _, kind := range []search.Kind{search.None, search.PS, search.MGRS, search.Split} {
		strategy, err := search.New(kind)
		if err != nil {
			t.Fatal(err)
		}
		if strategy.Mean > 4 {
			strategy.Mean = 4
		}
		if kind == search.MGRS {
			strategy.Sizes = []float64{2, 1.5}
		}
		if kind == search.Split {
			strategy.Share = 0.5
		}
		plan, err := NewTableSearchPlan(tab.input("4", "1e-4", 3), SearchSettings{Space: s, Strategy: strategy})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(plan.Warnings, " "), "naive-bayes") {
			t.Errorf("%s: %q", kind, plan.Warnings)
		}
		out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: tab.seal(t, 3), Test: tab.test, Digest: bytes.Repeat([]byte{7}, 32)})
		if err != nil {
			t.Fatal(kind, err)
		}
		if out.Learner == nil || out.Found == nil || out.Found.Winner.IsZero() {
			t.Errorf("%s: %+v", kind, out.Found)
		}
	}
	tuned := SearchSettings{Space: s, Strategy: search.Strategy{Kind: search.Public}, On: "x"}
	if _, err := NewTableSearchPlan(tab.input("4", "1e-4", 3), tuned); err == nil {
		t.Error("a search on other tables was accepted")
	}
}
