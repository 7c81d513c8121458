package cli

import (
	"pawl/internal/cost"

	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// claims finds everything in a JSON document that states an epsilon with its events.
func claims(v any, at string, found func(at string, claim map[string]any)) {
	switch x := v.(type) {
	case map[string]any:
		if _, ok := x["events"].([]any); ok && x["epsilon"] != nil && x["kind"] == nil {
			found(at, x)
		}
		for name, inner := range x {
			claims(inner, at+"."+name, found)
		}
	case []any:
		for i, inner := range x {
			claims(inner, fmt.Sprintf("%s.%d", at, i), found)
		}
	}
}

func statedNumber(v any) float64 {
	switch x := v.(type) {
	case float64:
		return x
	case string:
		f, err := strconv.ParseFloat(x, 64)
		if err == nil {
			return f
		}
	}
	return math.NaN()
}

// recompute feeds the events of every claim in a document to account event, which has
// to find the same figure under the same relation for the same unit: from the claim as
// it stands and, where there is one event, from that event alone.
func recompute(t *testing.T, name string, document []byte, method string) {
	t.Helper()
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatalf("%s: %v in %.300s", name, err, document)
	}
	n := 0
	claims(v, "", func(at string, claim map[string]any) {
		n++
		what := name + at
		list := claim["events"].([]any)
		delta := statedNumber(claim["delta"])
		files := map[string]any{"claim": claim, "list": list}
		if len(list) == 1 {
			files = map[string]any{"claim": claim, "event": list[0]}
		}
		if len(list) == 0 {
			delete(files, "list") // without events a list says no relation
		}
		for kind, content := range files {
			raw, err := json.Marshal(content)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "events.json")
			if err := os.WriteFile(file, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			var out, stderr bytes.Buffer
			args := []string{"account", "event", file, "--delta", strconv.FormatFloat(delta, 'g', -1, 64), "--json"}
			if method != "" {
				args = append(args, "--accountant", method)
			}
			if status := run(context.Background(), args, streams{out: &out, err: &stderr}); status != exitOK {
				t.Errorf("%s, %s: status %d, %s", what, kind, status, stderr.String())
				continue
			}
			var ans cost.Answer
			if err := json.Unmarshal(out.Bytes(), &ans); err != nil {
				t.Fatal(err)
			}
			// Statements round up, to six decimals or digits.
			got, want := float64(ans.Privacy.Epsilon), statedNumber(claim["epsilon"])
			if !(got == want || math.Abs(got-want) <= 1e-6+1e-5*want && got <= want*(1+1e-9)+1e-12) {
				t.Errorf("%s, %s: states epsilon %v, its events cost %v by %s", what, kind, want, got, ans.Privacy.Accountant)
			}
			if r := ans.Privacy.Relation.String(); r != claim["relation"] {
				t.Errorf("%s, %s: states %v, the events %v", what, kind, claim["relation"], r)
			}
			if ans.Privacy.Unit != claim["unit"] && kind != "list" {
				t.Errorf("%s, %s: states unit %v, the events %q", what, kind, claim["unit"], ans.Privacy.Unit)
			}
		}
	})
	if n == 0 {
		t.Errorf("%s: no claim with events", name)
	}
}

func emptyHome(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, filepath.Join(dir, strings.ToLower(name)))
	}
	t.Setenv("PAWL_LEDGER", "")
	t.Setenv("PAWL_DATA", "")
	return dir
}

func said(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, stderr bytes.Buffer
	if status := run(context.Background(), args, streams{in: strings.NewReader(""), out: &out, err: &stderr}); status != exitOK {
		t.Fatalf("pawl %s: status %d: %s", strings.Join(args, " "), status, stderr.String())
	}
	return out.Bytes()
}

// Any epsilon that account and calibrate state is that of its events.
func TestStatedEpsilonIsThatOfItsEvents(t *testing.T) {
	emptyHome(t)
	for _, c := range []struct{ relation, method, rate, noise, steps string }{
		{"add_or_remove_one", "min", "0.01", "1", "1000"},
		{"replace_one", "min", "0.01", "1", "1000"},
		{"replace_one", "rdp", "0.01", "1", "1000"},
		{"replace_one", "min", "1", "20", "30"},
		{"zero_out", "rdp", "0.9", "4", "20"},
	} {
		args := []string{"account", "dpsgd", "--sampling-rate", c.rate, "--noise-multiplier", c.noise, "--steps", c.steps,
			"--delta", "1e-5", "--relation", c.relation, "--accountant", c.method, "--json"}
		recompute(t, strings.Join(args, " "), said(t, args...), c.method)
	}
	open := filepath.Join(t.TempDir(), "open.json")
	if err := os.WriteFile(open, []byte(`{"kind":"repeat","count":"?","event":{"kind":"laplace","noise_multiplier":20},"relation":"replace_one","unit":"person"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"account", "compare", "--rows", "60000", "--batch", "250", "--epochs", "15", "--noise-multiplier", "1.1", "--delta", "1e-5"},
		{"calibrate", "dpsgd", "--epsilon", "2", "--delta", "1e-5", "--sampling-rate", "0.01", "--steps", "500"},
		{"calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-6", "--count", "10"},
		{"calibrate", "laplace", "--epsilon", "1", "--delta", "1e-6", "--count", "100", "--relation", "replace_one"},
		{"calibrate", "gaussian", "--epsilon", "0.7", "--delta", "1e-7", "--relation", "zero_out"},
		{"calibrate", "event", open, "--epsilon", "1", "--delta", "1e-6"},
		{"advise", "wdbc", "--epsilon", "1"},
		{"advise", "--rows", "5000", "--attributes", "10", "--task", "classification", "--epsilon", "0.5", "--delta", "1e-6"},
		{"advise", "--rows", "60000", "--images", "28x28x1", "--task", "classification", "--classes", "10", "--epsilon", "3"},
		{"account", "event", "../../examples/events/exponential-100.json", "--delta", "1e-5"},
		{"account", "event", "../../examples/events/search-and-train.json", "--delta", "1e-5"},
	} {
		recompute(t, strings.Join(args, " "), said(t, append(args, "--json")...), "")
	}
}

// The same of every job and plan, of what lies on disk, and of the ledger's entries.
func TestJobsStateTheEpsilonOfTheirEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("runs jobs")
	}
	dir := emptyHome(t)
	if err := writeClinic(dir, clinicRows); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, args := range [][]string{
		{"plan", "fit", "wdbc", "--epsilon", "1"},
		{"plan", "select", "clinic.csv", "--schema", "clinic.yaml", "--target", "sick", "--method", "cfs-greedy", "--epsilon", "1"},
		{"plan", "search", "breast-cancer", "--space", "tabular", "--strategy", "ps", "--epsilon", "2"},
		{"init", "clinic.csv", "--infer", "--columns", "age,stay", "--unit", "row", "--rows", "about 3000", "--epsilon", "1", "--budget", "3", "--yes", "--out", "bounds.yaml"},
		{"fit", "wdbc", "--epsilon", "1", "--out", "fitted"},
		{"select", "adult", "--target", "income", "--method", "dfs", "--k", "2", "--epsilon", "0.2"},
		{"train", "wdbc", "--model", "fcn-64", "--epsilon", "2", "--epochs", "2", "--out", "trained"},
		{"search", "breast-cancer", "--space", "tabular", "--strategy", "ps", "--mean-trials", "3", "--epsilon", "2", "--out", "searched"},
	} {
		recompute(t, strings.Join(args, " "), said(t, append(args, "--json")...), "")
	}
	for _, folder := range []string{"fitted", "trained", "searched"} {
		text, err := os.ReadFile(filepath.Join(folder, "statement.json"))
		if err != nil {
			t.Fatal(err)
		}
		recompute(t, folder+"/statement.json", text, "")
		// The file as it stands is one that account event reads, at its own delta. A lower
		// bound is attained by a noisy sum, and not by the gradients of a named model.
		if out := said(t, "account", "event", filepath.Join(folder, "statement.json")); bytes.Contains(out, []byte("lower bound")) {
			t.Errorf("%s: %s", folder, out)
		}
	}
	// What an entry of the ledger holds prices as the entry says.
	var shown struct {
		Relation dp.Relation `json:"relation"`
		Entries  []struct {
			Event json.RawMessage `json:"event"`
		} `json:"entries"`
	}
	if err := json.Unmarshal(said(t, "ledger", "show", "wdbc", "--json"), &shown); err != nil || len(shown.Entries) == 0 {
		t.Fatal(err, shown)
	}
	for _, e := range shown.Entries {
		s, err := dp.DecodeStated(e.Event)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := accountant.Epsilon(s.Event, shown.Relation, 1e-5, accountant.MethodMin); err != nil || !(r.Epsilon > 0) {
			t.Errorf("an entry costs %v (%v)", r.Epsilon, err)
		}
	}
}

// Numbers that were taken for one relation are not priced under another.
func TestEventOfAnotherRelationIsRefused(t *testing.T) {
	dir := emptyHome(t)
	file := filepath.Join(dir, "e.json")
	for text, want := range map[string]int{
		`{"kind":"pure","epsilon":1,"relation":"replace_one","unit":"person"}`:                    exitUsage,
		`[{"kind":"pure","epsilon":1,"relation":"replace_one"}]`:                                  exitUsage,
		`{"events":[{"kind":"pure","epsilon":1}],"relation":"replace_one"}`:                       exitUsage,
		`{"events":[{"kind":"pure","epsilon":1,"relation":"zero_out"}],"relation":"replace_one"}`: exitUsage,
		`[{"kind":"pure","epsilon":1,"relation":"replace_one"},{"kind":"pure","epsilon":1}]`:      exitUsage,
		`{"kind":"pure","epsilon":1,"relation":"neighbour"}`:                                      exitUsage,
		`{"kind":"pure","epsilon":1,"group":-1}`:                                                  exitUsage,
		`{"kind":"pure","epsilon":1,"relation":"add_or_remove_one"}`:                              exitOK,
		`{"kind":"pure","epsilon":1}`:                                                             exitOK,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, status := answered(t, "account", "event", file, "--delta", "1e-5", "--relation", "add_or_remove_one"); status != want {
			t.Errorf("%s: status %d, want %d (%s)", text, status, want, out)
		}
	}
}
