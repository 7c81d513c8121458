package audit

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"runtime"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/release"
	"pawl/evidence/audit/bound"
)

func TestRunIsRepeatable(t *testing.T) {
	m := mustFind(t, "count")
	o := Options{Runs: 300, Source: entropy.Seeded(5)}
	a, err := Run(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b, err := Run(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
	if a.Verdict.Confidence != bound.Conviction || a.Runs != 300 || a.Entry != m.Entry || a.Verdict.Convicted {
		t.Errorf("%+v", a)
	}
	if _, err := json.Marshal(a); err != nil {
		t.Error(err)
	}
}

func TestRunRefuses(t *testing.T) {
	boom := errors.New("boom")
	count := mustFind(t, "count")
	failing, nan, free := count, count, count
	failing.Score = func(context.Context, World, *entropy.Source) (float64, error) { return 0, boom }
	nan.Score = func(context.Context, World, *entropy.Source) (float64, error) { return math.NaN(), nil }
	free.Event = dp.NonPrivate{}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, c := range []struct {
		name string
		ctx  context.Context
		m    Mechanism
		o    Options
		want error
	}{
		{"no source", context.Background(), count, Options{Runs: 10}, nil},
		{"no runs", context.Background(), count, Options{Source: entropy.Seeded(1)}, nil},
		{"too few runs", context.Background(), count, Options{Runs: 3, Source: entropy.Seeded(1)}, bound.ErrInput},
		{"no claim", context.Background(), free, Options{Runs: 10, Source: entropy.Seeded(1)}, bound.ErrInput},
		{"failing", context.Background(), failing, Options{Runs: 10, Source: entropy.Seeded(1)}, boom},
		{"failing is named", context.Background(), failing, Options{Runs: 10, Source: entropy.Seeded(1)}, ErrMechanism},
		{"NaN", context.Background(), nan, Options{Runs: 10, Source: entropy.Seeded(1)}, bound.ErrInput},
		{"stopped", stopped, count, Options{Runs: 10, Source: entropy.Seeded(1)}, context.Canceled},
	} {
		r, err := Run(c.ctx, c.m, c.o)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || r.Verdict.Convicted {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
	}
}

// Made-up rows take the way of sensitive ones: no mechanism opens them without a permit,
// and a permit of another event does not.
func TestRowsAreSealed(t *testing.T) {
	c := release.Count{Scope: dp.WholeScope, NoiseMultiplier: 1}
	b, err := addOrRemove(nil, one, c.Event())
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.Release(context.Background(), nil, b.worlds[In]); err == nil {
		t.Errorf("a count without a permit was released: %v", v)
	}
	permit, err := b.desk.next(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	quieter := release.Count{Scope: dp.WholeScope, NoiseMultiplier: 0.5}
	if v, err := quieter.Release(context.Background(), permit, b.worlds[In]); err == nil {
		t.Errorf("half the noise was released: %v", v)
	}
}

// The permits of a desk pay for as many runs as are asked for, and each for one.
func TestDeskPaysForEveryRun(t *testing.T) {
	ctx := context.Background()
	m := mustFind(t, "count")
	for i := range 2*batch + 1 {
		if _, err := m.Score(ctx, Out, entropy.Seeded(1).Split("run", uint64(i))); err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
	}
}
