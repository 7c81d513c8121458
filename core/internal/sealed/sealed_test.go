package sealed

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/data/schema"
)

const secret = 424242.5

func rows(t *testing.T) *Rows {
	t.Helper()
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{
		{Name: "x", Type: schema.Numeric, Lower: 0, Upper: 1e6}, {Name: "y", Type: schema.Boolean}}}
	return New("d", s, []float64{secret, 1, 7, 0, 9, 1}, []uint64{0, 1 << 63, math.MaxUint64})
}

func permit(t *testing.T, e dp.Event) *Permit {
	t.Helper()
	p, err := NewPermit("id", "d", dp.AddOrRemoveOne, 1, e, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Rows must not reach a log or a file by being printed, alone or inside of
// something that somebody prints.
func TestRowsAreRedacted(t *testing.T) {
	r := rows(t)
	v := r.view(dp.WholeScope)
	holder := struct {
		hidden *Rows
		Shown  *Rows
		view   *View
	}{r, r, v}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "rows", r, "view", v, "holder", holder)
	for _, x := range []any{r, *r, v, holder, &holder, []any{r, v}, map[string]any{"r": r}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			log.WriteString(fmt.Sprintf(verb, x))
		}
		b, _ := json.Marshal(x)
		log.Write(b)
	}
	if out := log.String(); strings.Contains(out, "424242") || strings.Contains(out, "48220") {
		t.Fatalf("a cell was printed:\n%.2000s", out)
	}
}

func TestOpenNeedsTheReservedEventOnce(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 2}
	half := dp.Scope{Lower: 0, Upper: 0.5}
	r := rows(t)
	tests := []struct {
		name  string
		held  dp.Event
		scope dp.Scope
		asked dp.Event
		ok    bool
	}{
		{"equal", g, dp.WholeScope, g, true},
		{"on its scope", dp.Scoped{Scope: half, Event: g}, half, g, true},
		{"on another scope", dp.Scoped{Scope: half, Event: g}, dp.WholeScope, g, false},
		{"less noise", g, dp.WholeScope, dp.Gaussian{NoiseMultiplier: 1.999}, false},
		{"more noise", g, dp.WholeScope, dp.Gaussian{NoiseMultiplier: 2.5}, true},
		{"steps that amount to it", g, dp.WholeScope, dp.Repeat{Count: 4, Event: dp.Gaussian{NoiseMultiplier: 4}}, true},
		{"one step more", g, dp.WholeScope, dp.Repeat{Count: 5, Event: dp.Gaussian{NoiseMultiplier: 4}}, false},
		{"no noise", g, dp.WholeScope, dp.Gaussian{}, false},
		{"another mechanism", g, dp.WholeScope, dp.DiscreteGaussian{NoiseMultiplier: 2}, false},
		{"sampled is another event", dp.PoissonSampled{Rate: 0.5, Event: g}, dp.WholeScope, g, false},
		{"nothing held", dp.NoOp{}, dp.WholeScope, g, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := permit(t, tt.held)
			_, err := Open(r, p, tt.scope, tt.asked)
			if (err == nil) != tt.ok {
				t.Fatalf("Open: %v, want ok %v", err, tt.ok)
			}
			if p.Opened() != tt.ok {
				t.Fatalf("Opened is %v after ok %v", p.Opened(), tt.ok)
			}
			if tt.ok {
				if _, err := Open(r, p, tt.scope, tt.asked); !errors.Is(err, ErrNotReserved) {
					t.Fatalf("the same event opened the rows twice (%v)", err)
				}
			}
		})
	}
}

func TestOpenRefusesForeignPermits(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 2}
	r := rows(t)
	other, _ := NewPermit("id", "other", dp.AddOrRemoveOne, 1, g, entropy.Seeded(1))
	if _, err := Open(r, other, dp.WholeScope, g); !errors.Is(err, ErrWrongDataset) {
		t.Errorf("permit of another data set: %v", err)
	}
	if _, err := Open(r, nil, dp.WholeScope, g); !errors.Is(err, ErrNotReserved) {
		t.Errorf("no permit: %v", err)
	}
	closed := permit(t, g)
	closed.Close()
	if _, err := Open(r, closed, dp.WholeScope, g); !errors.Is(err, ErrNotReserved) {
		t.Errorf("closed permit: %v", err)
	}
	if _, err := OpenPublic(r, dp.WholeScope); !errors.Is(err, ErrNotReserved) {
		t.Errorf("sensitive rows opened without a permit: %v", err)
	}
	r.Schema().Public = true // must not matter after sealing
	if _, err := OpenPublic(r, dp.WholeScope); !errors.Is(err, ErrNotReserved) {
		t.Errorf("sensitive rows opened after a write to their schema: %v", err)
	}
	s := *r.Schema()
	s.Unit.MaxRows = 2
	two := New("d", &s, []float64{1, 0}, []uint64{0})
	s.Unit.MaxRows = 1
	if _, err := Open(two, permit(t, g), dp.WholeScope, g); err == nil {
		t.Error("a permit for one row per unit opened rows of two per unit")
	}
}

// A partition of the hash line neither loses a unit nor counts it twice.
func TestScopesPartitionTheRows(t *testing.T) {
	r := rows(t)
	for _, cut := range []float64{1e-9, 0.25, 0.5, 2.0 / 3, 1 - 1e-9} {
		a, b := r.view(dp.Scope{Lower: 0, Upper: cut}), r.view(dp.Scope{Lower: cut, Upper: 1})
		if a.Len()+b.Len() != 3 {
			t.Errorf("cut %v: %d + %d rows, want 3", cut, a.Len(), b.Len())
		}
	}
}

// Each run of a selection gets the events of its base once; the selection itself
// is taken once.
func TestRunsOfASelection(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 2}
	sel := dp.Select{Runs: dp.TruncatedNegativeBinomial{Mean: 4}, Event: dp.Compose{Events: []dp.Event{
		dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: 0.5}, Event: g}, dp.Scoped{Scope: dp.Scope{Lower: 0.5, Upper: 1}, Event: g}}}}
	p := permit(t, sel)
	_, next, err := Runs(p, sel)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		run, err := next(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []dp.Scope{{Lower: 0, Upper: 0.5}, {Lower: 0.5, Upper: 1}} {
			if _, err := Open(rows(t), run, s, g); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(rows(t), run, s, g); err == nil {
				t.Fatal("a run opened its scope twice")
			}
		}
	}
	if _, err := next(1); err == nil {
		t.Fatal("run 1 got a second permit, with the noise of its first")
	}
	if _, _, err := Runs(p, sel); !errors.Is(err, ErrNotReserved) {
		t.Fatalf("the selection ran twice: %v", err)
	}
}
