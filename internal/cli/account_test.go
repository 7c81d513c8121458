package cli

import (
	"pawl/internal/cost"

	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"pgregory.net/rapid"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// between checks a number of the JSON on stdout: between PATH LOWER UPPER. A path is
// like privacy.epsilon or trade_off.0.false_positive_rate.
func between(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: between PATH LOWER UPPER")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for _, key := range strings.Split(args[0], ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				ts.Fatalf("no element %q in %s", key, args[0])
			}
			v = x[i]
		}
	}
	got, ok := v.(float64)
	lo, errLo := strconv.ParseFloat(args[1], 64)
	hi, errHi := strconv.ParseFloat(args[2], 64)
	if !ok || errLo != nil || errHi != nil || !(got >= lo && got <= hi) {
		ts.Fatalf("%s is %v, want a number in [%s, %s]", args[0], v, args[1], args[2])
	}
}

// answered runs the program and returns what it prints.
func answered(t *testing.T, args ...string) (stdout []byte, status int) {
	t.Helper()
	var out, stderr bytes.Buffer
	status = run(context.Background(), args, streams{in: strings.NewReader(""), out: &out, err: &stderr})
	return out.Bytes(), status
}

// The examples are what --help and the documents name, so they must stay readable.
func TestExampleEvents(t *testing.T) {
	files, err := filepath.Glob("../../examples/events/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d examples (%v)", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cost.DecodeEvent(file, text); err != nil {
			t.Error(err)
		}
		help, _ := answered(t, "account", "event", "--help")
		if !strings.Contains(string(help), "examples/events/"+filepath.Base(file)) {
			t.Errorf("%s is not mentioned in the help of account event", file)
		}
		if out, status := answered(t, "account", "event", file, "--delta", "1e-5", "--json"); status != exitOK {
			t.Errorf("%s: status %d, %s", file, status, out)
		}
	}
}

// Known answers: epsilon lies between the optimistic and the pessimistic reference.
func TestAccountReference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		rate, multiplier float64
		steps            int64
		delta            float64
		lower, pld, rdp  float64
	}{
		{name: "A01 CIFAR batch 1024", rate: 1024.0 / 50000, multiplier: 1.54, steps: 1464, delta: 1e-5, lower: 2.376, pld: 2.3863, rdp: 2.6083},
		{name: "A02 large rate", rate: 0.2, multiplier: 3, steps: 50, delta: 1.0 / 48000, lower: 1.958, pld: 1.961, rdp: 2.169},
		{name: "A10 huge epsilon", rate: 0.01, multiplier: 0.3, steps: 1000, delta: 1e-5, lower: 69, pld: 69.85, rdp: 79.4},
		{name: "A11 little noise", rate: 0.125, multiplier: 0.8, steps: 1000, delta: 1e-6, lower: 56, pld: 56.75, rdp: 65.15},
		{name: "A14 tutorial", rate: 250.0 / 60000, multiplier: 1.1, steps: 480, delta: 1e-5, lower: 0.40, pld: 0.411, rdp: 0.796},
		{name: "A16 million steps", rate: 1e-4, multiplier: 1, steps: 1_000_000, delta: 1e-6, lower: 0.52, pld: 0.5327, rdp: 0.7725},
		{name: "A34 MNIST", rate: 0.01, multiplier: 4, steps: 10000, delta: 1e-5, lower: 0.94, pld: 0.9475, rdp: 1.0355},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"account", "dpsgd", "--json", "--delta", fmt.Sprint(c.delta), "--sampling-rate", fmt.Sprint(c.rate),
				"--noise-multiplier", fmt.Sprint(c.multiplier), "--steps", fmt.Sprint(c.steps)}
			for method, want := range map[string]float64{"min": c.pld, "pld": c.pld, "rdp": c.rdp} {
				if method == "pld" && c.steps == 1_000_000 {
					continue // the same work as min, seconds of it
				}
				out, status := answered(t, append(args, "--accountant", method)...)
				var ans cost.Answer
				if err := json.Unmarshal(out, &ans); err != nil || status != exitOK {
					t.Fatalf("%s: status %d, %v", method, status, err)
				}
				if got := float64(ans.Privacy.Epsilon); !(got >= c.lower && got <= want*1.005) {
					t.Errorf("%s: epsilon %v, want in [%v, %v]", method, got, c.lower, want*1.005)
				}
				if low := float64(*ans.Privacy.EpsilonLower); low > float64(ans.Privacy.Epsilon) || method != "rdp" && low < c.lower*0.97 {
					t.Errorf("%s: lower bound %v of %v", method, low, ans.Privacy.Epsilon)
				}
			}
		})
	}
}

// Whatever is calibrated, the number as printed keeps the target by a second
// account of it, and is no worse than it must be.
func TestCalibrateKeepsTarget(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 7))
	between := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rng.Float64()) }
	for i := range 30 {
		epsilon := between(0.01, 50)
		set := cost.Training{SamplingRate: between(1e-3, 1), NoiseMultiplier: between(0.5, 20), Steps: 1 + rng.Int64N(3000)}
		free := []string{"noise-multiplier", "steps", "sampling-rate"}[i%3]
		args := []string{"calibrate", "dpsgd", "--json", "--accountant", "rdp", "--delta", "1e-5", "--epsilon", fmt.Sprint(epsilon)}
		for name, v := range map[string]any{"noise-multiplier": set.NoiseMultiplier, "steps": set.Steps, "sampling-rate": set.SamplingRate} {
			if name != free {
				args = append(args, "--"+name, fmt.Sprint(v))
			}
		}
		var out, stderr bytes.Buffer
		status := run(context.Background(), args, streams{out: &out, err: &stderr})
		if status == exitUsage && strings.Contains(stderr.String(), "cannot be reached") {
			switch free {
			case "steps":
				set.Steps = 1
			case "sampling-rate":
				set.SamplingRate = 1e-9
			default:
				t.Fatalf("enough noise meets every target: %s", stderr.String())
			}
			if r, err := accountant.Epsilon(set.Event(), dp.AddOrRemoveOne, 1e-5, accountant.MethodRDP); err != nil || r.Epsilon <= epsilon {
				t.Fatalf("refused, but %v costs %v (%v)", set, r.Epsilon, err)
			}
			continue
		}
		if status != exitOK {
			t.Fatalf("status %d: %s", status, stderr.String())
		}
		var ans cost.Answer
		if err := json.Unmarshal(out.Bytes(), &ans); err != nil {
			t.Fatal(err)
		}
		stated, err := dp.DecodeStated(ans.Privacy.Events[0])
		if err != nil {
			t.Fatal(err)
		}
		r, err := accountant.Epsilon(stated.Event, stated.Relation, 1e-5, accountant.MethodRDP)
		if err != nil || r.Epsilon > epsilon {
			t.Fatalf("%s %v costs %v of %v (%v)", free, float64(*ans.Value), r.Epsilon, epsilon, err)
		}
		if r.Epsilon < 0.99*epsilon && free != "steps" && len(ans.Warnings) == 0 {
			t.Fatalf("%s %v costs only %v of %v", free, float64(*ans.Value), r.Epsilon, epsilon)
		}
	}
}

// A number that was calibrated goes through six digits; it may only move to the safe
// side, and not far.
func TestDecimals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-300, 300).Draw(t, "ln x"))
		up, down := cost.DecimalUp(x), cost.DecimalDown(x)
		if up < x || down > x || up > x*(1+1.1e-5) || down < x*(1-1.1e-5) {
			t.Fatalf("%v rounds to %v and %v", x, down, up)
		}
		for _, d := range []float64{up, down} {
			if digits, _, _ := strings.Cut(strconv.FormatFloat(d, 'e', -1, 64), "e"); len(strings.ReplaceAll(digits, ".", "")) > 6 {
				t.Fatalf("%v has more than six digits", d)
			}
			if cost.DecimalUp(d) != d || cost.DecimalDown(d) != d {
				t.Fatalf("%v is not kept", d)
			}
		}
	})
}

// Groups of k have an exact answer for a Gaussian: the noise counts 1/k. A bound
// below it would be a false promise.
func TestGroupCostIsABound(t *testing.T) {
	for _, sigma := range []float64{1, 5, 40} {
		for _, k := range []int64{2, 3, 10} {
			one := cost.Of(dp.Gaussian{NoiseMultiplier: sigma}, dp.AddOrRemoveOne, accountant.MethodMin)
			rdp := cost.Of(dp.Gaussian{NoiseMultiplier: sigma}, dp.AddOrRemoveOne, accountant.MethodRDP)
			g := cost.Group(one, rdp, k)
			for _, delta := range []float64{1e-9, 1e-5, 1e-2} {
				exact := accountant.AnalyticGaussianEpsilon(sigma/float64(k), delta)
				r, err := g.Epsilon(delta)
				if err != nil || r.Epsilon < exact {
					t.Errorf("sigma %v, groups of %d, delta %g: epsilon %v is below the exact %v (%v)", sigma, k, delta, r.Epsilon, exact, err)
				}
				d, err := g.Delta(exact)
				if err != nil || d.Delta < math.Min(1, delta)*(1-1e-6) {
					t.Errorf("sigma %v, groups of %d: delta %v at epsilon %v is below the exact %v (%v)", sigma, k, d.Delta, exact, delta, err)
				}
				if back, err := g.Delta(r.Epsilon); err != nil || back.Delta > delta*(1+1e-3) {
					t.Errorf("sigma %v, groups of %d, delta %g: epsilon %v has delta %v (%v)", sigma, k, delta, r.Epsilon, back.Delta, err)
				}
			}
		}
	}
	if r, err := cost.Group(cost.Of(dp.NonPrivate{}, dp.AddOrRemoveOne, accountant.MethodMin),
		cost.Of(dp.NonPrivate{}, dp.AddOrRemoveOne, accountant.MethodRDP), 2).Epsilon(1e-5); err != nil || !math.IsInf(r.Epsilon, 1) {
		t.Errorf("no protection: %v, %v", r.Epsilon, err)
	}
}

// Replacing a row under Poisson sampling is a pair of mixtures that an integral
// gives for one step in one dimension.
func TestReplacedRowIsABound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rate, sigma float64 }{{0.01, 1}, {0.3, 1}, {0.9, 2}, {1, 3}} {
		cost := cost.OfTraining(cost.Training{SamplingRate: c.rate, NoiseMultiplier: c.sigma, Steps: 1}, dp.ReplaceOne, accountant.MethodMin)
		for _, epsilon := range []float64{0, 0.1, 0.5, 2} {
			exact := 0.0
			const step = 0.01
			for x := -12*c.sigma - 1; x < 12*c.sigma+1; x += step {
				f := func(mean float64) float64 {
					z := (x - mean) / c.sigma
					return math.Exp(-z*z/2) / c.sigma / math.Sqrt(2*math.Pi)
				}
				p, q := (1-c.rate)*f(0)+c.rate*f(1), (1-c.rate)*f(0)+c.rate*f(-1)
				exact += step * math.Max(0, p-math.Exp(epsilon)*q)
			}
			if r, err := cost.Delta(epsilon); err != nil || r.Delta < exact*(1-1e-4)-1e-9 {
				t.Errorf("%+v, epsilon %v: delta %v is below the exact %v (%v)", c, epsilon, r.Delta, exact, err)
			}
		}
	}
}

// No test beats what is printed: the best one against a Gaussian is known.
func TestTradeOffIsABound(t *testing.T) {
	cdf := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	quantile := map[float64]float64{0.001: -3.090232, 0.01: -2.326348, 0.05: -1.644854, 0.1: -1.281552}
	for _, sigma := range []float64{0.3, 1, 3, 30} {
		p := cost.Of(dp.Gaussian{NoiseMultiplier: sigma}, dp.AddOrRemoveOne, accountant.MethodMin)
		ans, err := cost.AtDelta(p, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range ans.TradeOff {
			best := cdf(quantile[float64(x.FalsePositives)] + 1/sigma)
			if got := float64(x.TruePositives); got < best-1e-6 || got > best+0.06 {
				t.Errorf("sigma %v, false positives %v: %v, the best test has %v", sigma, x.FalsePositives, got, best)
			}
		}
	}
}

func TestOpenField(t *testing.T) {
	for _, c := range []struct{ name, text, field, fails string }{
		{"last", `{"kind":"gaussian","noise_multiplier":"?"}`, "noise_multiplier", ""},
		{"spaces and nesting", "{ \"kind\" : \"repeat\", \"count\" :\n \"?\" , \"event\": {\"kind\": \"gaussian\", \"noise_multiplier\": 2}}", "count", ""},
		{"in runs", `{"kind":"select","runs":{"mean": "?","kind":"tnb","eta":1},"event":{"kind":"pure","epsilon":1}}`, "mean", ""},
		{"in a list", `{"kind":"compose","events":[{"kind":"pure","epsilon":1},{"kind":"pure","epsilon":"?"}]}`, "epsilon", ""},
		{"escaped", `{"kind":"pure","epsilon":"\u003f"}`, "epsilon", ""},
		{"none", `{"kind":"pure","epsilon":1}`, "", `no number is "?"`},
		{"two", `{"kind":"compose","events":[{"kind":"pure","epsilon":"?"},{"kind":"pure","epsilon":"?"}]}`, "", `2 numbers are "?"`},
		{"a name", `{"?":1}`, "", `no number is "?"`},
		{"alone", `"?"`, "", `no number is "?"`},
		{"element of a list", `{"events":["?"]}`, "", `no number is "?"`},
		{"unfinished", `{"kind":"pure","epsilon":"?`, "", `no number is "?"`},
		{"closed too often", `]}`, "", `no number is "?"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			field, before, after, err := cost.OpenField([]byte(c.text))
			if c.fails != "" {
				if err == nil || err.Error() != c.fails {
					t.Fatalf("got %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil || field != c.field {
				t.Fatalf("field %q, %v; want %q", field, err, c.field)
			}
			if _, err := dp.DecodeEvent([]byte(string(before) + "3" + string(after))); err != nil {
				t.Error(err)
			}
		})
	}
}

// A file may hold anything; finding the open number must not fall over it.
func FuzzOpenField(f *testing.F) {
	f.Add([]byte(`{"kind":"pure","epsilon":"?"}`))
	f.Add([]byte(`{"a":["?",{"b":"?"}]]}`))
	f.Add([]byte(`{1:"?"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, before, after, err := cost.OpenField(text)
		if err == nil && len(before)+len(after) >= len(text) {
			t.Errorf("nothing was cut out of %q", text)
		}
	})
}
