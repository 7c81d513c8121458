package book

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pawl/compute/kernel"
	"pawl/data/dataset"
	"pawl/experiments"
	"pawl/experiments/runners"
	"pawl/internal/usage"
)

var update = flag.Bool("update", false, "write docs/RESULTS.md and quotations from the stored results")

// The page is made from the stored results, so that no number stands in it that a stored result
// does not have.
func TestResultsPage(t *testing.T) {
	results := builtin(t)
	var want bytes.Buffer
	if err := Markdown(&want, results, runners.All().List()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "docs", "RESULTS.md")
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(have)); diff != "" {
		t.Errorf("docs/RESULTS.md is out of date: go test ./experiments/book -run TestResultsPage -update\n(-stored results +page)\n%s", diff)
	}
}

// Every number that README and the documents quote is that of a stored result: -update inserts it.
func TestQuotations(t *testing.T) {
	results, quotations := builtin(t), 0
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	howto, err := filepath.Glob(filepath.Join("..", "..", "docs", "howto", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Concat([]string{filepath.Join("..", "..", "README.md")}, pages, howto) {
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		quotations += len(quotation.FindAllString(string(have), -1))
		if n := strings.Count(string(have), "<!--r "); n != len(quotation.FindAllString(string(have), -1)) || n != strings.Count(string(have), "<!--/r-->") {
			t.Errorf("%s: a quotation has no end, or no beginning", path)
		}
		want, err := Quote(string(have), results)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if want != string(have) && *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(want, string(have)); diff != "" {
			t.Errorf("%s: go test ./experiments/book -run TestQuotations -update\n(-stored results +page)\n%s", path, diff)
		}
	}
	if quotations == 0 {
		t.Error("no document quotes a result")
	}
}

// A quotation takes its number from the row and column that it names, and one that names nothing, or
// two rows, is refused.
func TestQuote(t *testing.T) {
	e := func(mean float64) *experiments.Estimate {
		return &experiments.Estimate{Mean: mean, Low: mean - 0.5, High: mean + 0.5, Runs: 3}
	}
	all := []*Result{{Table: &experiments.Table{Name: "figure-3", Scale: experiments.Paper, Claims: []experiments.Claim{{Statement: "a wins", Evidence: "by 3"}},
		Rows: []experiments.Row{{Name: "r", Data: "a", Published: new(7.0), Honest: e(83.94)}, {Name: "r", Data: "b", Honest: e(1)}, {Name: "s", AsPublished: e(2)}}}}}
	text := "x <!--r figure-3-paper :: r @ a :: honest :: .1-->0<!--/r-->, <!--r figure-3-paper :: s :: ours-->\n<!--/r--> and <!--r figure-3-paper :: a w :: claim--><!--/r-->"
	want := "x <!--r figure-3-paper :: r @ a :: honest :: .1-->83.9<!--/r-->, <!--r figure-3-paper :: s :: ours-->2.00 ± 0.50 (3)<!--/r--> and <!--r figure-3-paper :: a w :: claim-->by 3<!--/r-->"
	if got, err := Quote(text, all); err != nil || got != want {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
	for reference, want := range map[string]string{
		"figure-3 :: s :: ours": "no stored result", "figure-3-paper :: r :: honest": "several rows", "figure-3-paper :: q :: honest": "no row",
		"figure-3-paper :: s :: honest": "nothing in column", "figure-3-paper :: s :: hours": "column", "figure-3-paper :: b w :: claim": "no claim", "figure-3-paper": "want RESULT",
	} {
		if _, err := Quote("<!--r "+reference+"-->0<!--/r-->", all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", reference, err, want)
		}
	}
}

// The first table of the page has every pair of rows of whole workflows, with their paired differences.
func TestAims(t *testing.T) {
	one := experiments.Exact(1)
	r := &Result{Table: &experiments.Table{Name: "mission-x", Scale: experiments.Quick, Guarantee: "none",
		Rows: []experiments.Row{
			{Name: "ε = 1 (area under the ROC curve): fit, and drop-in", Data: "a", Honest: experiments.Exact(80), Baseline: experiments.Exact(70)},
			{Name: "ε = 1 (area under the ROC curve): usual choices, unpaid and paid", Data: "a", AsPublished: experiments.Exact(79), Honest: experiments.Exact(60), Baseline: one},
			{Name: "ε = 3: fit, and drop-in", Data: "b", Honest: experiments.Exact(50), Baseline: experiments.Exact(51)},
		},
		Claims: []experiments.Claim{
			{Statement: "a, ε = 1: fit against drop-in DP-SGD", Evidence: "10 ± 1 (3) points, run by run"},
			{Statement: "a, ε = 1: fit against the usual choices, paid", Evidence: "20 ± 1 (3) points, run by run"},
			{Statement: "b, ε = 3: fit against drop-in DP-SGD", Evidence: "-1 ± 2 (3) points, run by run"},
			{Statement: "ε = 1, all data: fit against drop-in DP-SGD", Evidence: "better on 1 of 1"},
		}}}
	var b strings.Builder
	if err := Markdown(&b, []*Result{r}, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| a (area under the ROC curve) | 1 | 80 | 70 | 60 | 10 ± 1 (3) | 20 ± 1 (3) | 79 |", "| b | 3 | 50 | 51 | – | -1 ± 2 (3) | – | – |", "- ε = 1, all data: fit against drop-in DP-SGD: better on 1 of 1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %q in\n%s", want, b.String())
		}
	}
}

// A table is what its replay makes of its cells today: a replay whose judgement or wording has
// changed is stored again. Nothing is measured here, and what is not in the file is not compared.
// Those that take seconds to prepare their data are left to pawl reproduce check.
func TestStoredTablesFollowFromTheirCells(t *testing.T) {
	all := runners.All()
	for _, r := range builtin(t) {
		t.Run(r.Table.Name, func(t *testing.T) {
			e, ok := all.Lookup(r.Table.Name)
			if !ok {
				t.Fatal("no replay has this name")
			}
			if slices.Contains([]string{"figure-3", "table-2"}, e.Name) || outside(e) {
				// Every change would pay the seconds, and a data folder need not be there.
				t.Skip("takes seconds to prepare, or reads a data folder: pawl reproduce check does it")
			}
			given := map[string][]float64{}
			for name, c := range r.Cells {
				if c.SHA256 != "" {
					// A table does not follow from a digest.
					t.Skip("has cells of which there is a digest only: pawl reproduce check measures them")
				}
				given[name] = c.Values
			}
			if len(given) == 0 {
				// Without cells there is nothing that a table could follow from.
				t.Skip("is computed as a whole: pawl reproduce check computes it")
			}
			run := experiments.Restored(e.Name, r.Table.Scale, given)
			run.DataDir = os.Getenv(dataset.DataDirVariable)
			table, err := experiments.Replay(t.Context(), e, run)
			var missing *dataset.FileError
			if errors.As(err, &missing) {
				// The data are public and not in the repository; the message says how to get them.
				t.Skip(missing)
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := run.Measured(); n > 0 {
				t.Errorf("asks for %d cells that are not stored", n)
			}
			if err := r.sameTable(table, StandIn(e.Name)); err != nil {
				t.Error(err)
			}
		})
	}
}

func builtin(t *testing.T) []*Result {
	t.Helper()
	b, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	all, err := b.Results()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The data of every replay can be named by their digests, or nothing could be stored after a run.
func TestEveryReplayCanBeStored(t *testing.T) {
	for _, e := range runners.All().List() {
		data, err := digests(e)
		if err != nil {
			t.Error(err)
		}
		for _, d := range data {
			if len(d.Files) == 0 {
				t.Errorf("%s: data set %s has no digest", e.Name, d.Name)
			}
		}
	}
}

// Every replay stands in the catalogue, every entry says one thing, and no number is left out.
func TestCatalogueIsComplete(t *testing.T) {
	all := runners.All()
	named := map[string]bool{}
	papers := Catalogue()
	for _, p := range papers {
		for _, e := range p.Entries {
			says := 0
			for _, s := range []string{e.Replay, e.Shown, e.None} {
				if s != "" {
					says++
				}
			}
			if e.Name == "" || e.Shows == "" || says != 1 {
				t.Errorf("%s: want a name, what it shows and one of replay, shown and none", e.Name)
			}
			if _, ok := all.Lookup(e.Replay); e.Replay != "" && !ok {
				t.Errorf("%s: no replay %q", e.Name, e.Replay)
			}
			named[e.Replay] = true
		}
	}
	for _, e := range all.List() {
		if !named[e.Name] {
			t.Errorf("%s is not in the catalogue", e.Name)
		}
	}
	// The first paper numbers its 31 tables in Roman.
	roman := strings.Fields("I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII XXIV XXV XXVI XXVII XXVIII XXIX XXX XXXI")
	for i, want := range [][]string{
		append(numbered("Fig. ", 1, 12), prefixed("Table ", roman)...),
		append(numbered("Fig. ", 6, 11), numbered("Table ", 2, 3)...),
		append(numbered("Fig. ", 1, 15), numbered("Table ", 1, 6)...),
		append(numbered("Fig. ", 1, 5), "Table 1"),
	} {
		for _, name := range want {
			if !slices.ContainsFunc(papers[i].Entries, func(e Entry) bool { return e.Name == name }) {
				t.Errorf("%s: no %s", papers[i].Title, name)
			}
		}
	}
}

func prefixed(prefix string, of []string) (all []string) {
	for _, s := range of {
		all = append(all, prefix+s)
	}
	return all
}

func numbered(prefix string, from, to int) (all []string) {
	for n := from; n <= to; n++ {
		all = append(all, fmt.Sprint(prefix, n))
	}
	return all
}

// sample is a replay of three cells, one of them long; shift moves what its second cell measures.
func sample(shift float64) experiments.Experiment {
	return experiments.Experiment{Name: "sample", Title: "A sample", Source: "a paper", Quick: 1, Run: func(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
		t := &experiments.Table{Unit: "%"}
		for i, cell := range []string{"first, seed 1", "second, seed 1", "long"} {
			v, err := r.Cell(ctx, cell, func() ([]float64, error) {
				v := []float64{50 + float64(i)/3, 51, 52}
				if i == 1 {
					v[0] += shift
				}
				if cell == "long" {
					v = append(v, make([]float64, fewValues)...)
				}
				return v, nil
			})
			if err != nil {
				return nil, err
			}
			row := experiments.Row{Name: cell, Data: "sample", Published: new(51.0), AsPublished: experiments.Of(v)}
			row.Judge(1, "differs")
			t.Rows = append(t.Rows, row)
		}
		t.Rows = append(t.Rows, experiments.Row{Name: "computed", Data: "a formula", Published: new(2.0), AsPublished: experiments.Exact(2)})
		judged := experiments.Row{Name: "a sentence", Data: "sample", AsPublished: experiments.Of([]float64{1, 2}), Verdict: experiments.Not, Why: "refuted"}
		honest := experiments.Row{Name: "honest", Data: "sample", Published: new(2.0), Honest: experiments.Of([]float64{1, 2}), Verdict: experiments.Reproduced}
		t.Rows = append(t.Rows, judged, honest)
		t.Claims = []experiments.Claim{{Statement: "s", Verdict: experiments.Reproduced, Evidence: "e"}, {Statement: "s (our remark)", Verdict: experiments.Not, Evidence: "e"}}
		return t, nil
	}}
}

func store(t *testing.T, e experiments.Experiment, scale experiments.Scale, standIn map[string]string) (*Book, *Result) {
	t.Helper()
	run := experiments.Restored(e.Name, scale, map[string][]float64{})
	table, err := experiments.Replay(t.Context(), e, run)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(e, run, table, standIn, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Encode(&b); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, r.File()), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	book, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	back, err := book.Result(e.Name, "")
	if err != nil {
		t.Fatal(err)
	}
	return book, back
}

func TestCheckComparesEveryBit(t *testing.T) {
	_, r := store(t, sample(0), experiments.Quick, nil)
	for _, cell := range []string{"", "first", "second", "long"} {
		if _, err := r.Check(t.Context(), sample(0), cell, "", nil); err != nil {
			t.Errorf("the same replay, cell %q: %v", cell, err)
		}
	}
	// The smallest change of a number.
	var different *Different
	if _, err := r.Check(t.Context(), sample(1e-14), "second", "", nil); !errors.As(err, &different) {
		t.Errorf("a cell that differs in its last bits: %v", err)
	}
	r.Cells["long"] = Cell{SHA256: strings.Repeat("0", 64)}
	if _, err := r.Check(t.Context(), sample(0), "first", "", nil); !errors.As(err, &different) {
		t.Errorf("a cell with another digest: %v", err)
	}
	_, r = store(t, sample(0), experiments.Quick, nil)
	r.Table.Rows[0].Published = new(99.0)
	if _, err := r.Check(t.Context(), sample(0), "second", "", nil); !errors.As(err, &different) {
		t.Errorf("a row that was changed by hand: %v", err)
	}
}

func TestCheckSaysWhyItCannot(t *testing.T) {
	clocked, other := sample(0), sample(0)
	clocked.Clocked, other.Data = true, []string{"adult"}
	for name, c := range map[string]struct {
		of     experiments.Experiment
		cell   string
		change func(*Result)
		want   string
	}{
		"kernel":    {sample(0), "", func(r *Result) { r.Machine.Kernel = "abacus" }, "sample was stored with the kernel abacus, and this machine runs " + kernel.Name()},
		"times":     {clocked, "", func(*Result) {}, "its cells are times"},
		"data":      {other, "", func(*Result) {}, "stored with other data"},
		"no cell":   {sample(0), "third", func(*Result) {}, `no cell whose name contains "third"`},
		"two cells": {sample(0), "seed", func(*Result) {}, `2 cells whose names contain "seed"`},
	} {
		_, r := store(t, sample(0), experiments.Quick, nil)
		c.change(r)
		var wrong *usage.Error
		if _, err := r.Check(t.Context(), c.of, c.cell, "", nil); !errors.As(err, &wrong) || !strings.Contains(wrong.Msg, c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// Cells that a worker measured are known as such, also by the next process, and are not stored.
func TestCellsOfOtherMachinesAreNotStored(t *testing.T) {
	dir := t.TempDir()
	first, err := experiments.NewRun("sample", experiments.Quick, "v", dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := OneMachine("sample", first); err != nil {
		t.Error(err)
	}
	if err := first.Keep("first, seed 1", []float64{1, 2}, 1); err != nil {
		t.Fatal(err)
	}
	run, err := experiments.NewRun("sample", experiments.Quick, "v", dir)
	if err != nil {
		t.Fatal(err)
	}
	table, err := experiments.Replay(t.Context(), sample(0), run)
	if err != nil {
		t.Fatal(err)
	}
	var wrong *usage.Error
	if _, err := New(sample(0), run, table, nil, time.Unix(0, 0)); !errors.As(err, &wrong) || !strings.Contains(wrong.Msg, "workers measured 1 of its cells") {
		t.Errorf("stored with a cell of another machine: %v", err)
	}
}

// The rules: a measured number counts as reproduced on the paper's data at the paper's scale
// only, a computed one always; what has no published value, or only an honest number, has no verdict.
func TestVerdictsFollowScaleAndData(t *testing.T) {
	for _, c := range []struct {
		scale   experiments.Scale
		standIn map[string]string
		want    experiments.Verdict
	}{
		{experiments.Paper, nil, experiments.Reproduced},
		{experiments.Quick, nil, experiments.SameSign},
		{experiments.Paper, map[string]string{"sample": "another"}, experiments.SameSign},
	} {
		_, r := store(t, sample(0), c.scale, c.standIn)
		if r.Table.Rows[4].Verdict != experiments.Unpublished || r.Table.Rows[5].Verdict != experiments.Unpublished || r.Table.Claims[1].Verdict != experiments.Unpublished {
			t.Errorf("%s: a verdict without a published value, or on the honest column: %+v %+v", c.scale, r.Table.Rows[4:], r.Table.Claims)
		}
		if r.Table.Rows[0].Verdict != c.want || r.Table.Claims[0].Verdict != c.want || r.Table.Rows[3].Verdict != experiments.Reproduced {
			t.Errorf("%s, %v: %+v %+v", c.scale, c.standIn, r.Table.Rows, r.Table.Claims)
		}
	}
}

func TestClaimsOfOurReplaysHaveNoVerdict(t *testing.T) {
	ours := sample(0)
	ours.Source = "ours: a control"
	_, r := store(t, ours, experiments.Paper, nil)
	if r.Table.Claims[0].Verdict != experiments.Unpublished {
		t.Errorf("%+v", r.Table.Claims)
	}
}

func TestStoredResultsOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		`{"version": 2}`:                                                 "a stored result of version 2; this pawl reads version 1",
		`{"version": 1, "rule": "x"}`:                                    `judged by rules "x"`,
		fmt.Sprintf(`{"version": 1, "rule": %q}`, Rule()):                "not the stored result that its name says",
		fmt.Sprintf(`{"version": 1, "rule": %q, "surprise": 1}`, Rule()): "unknown field",
		`{"version": `:                                                   "not a stored result",
	} {
		if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		var wrong *usage.Error
		if _, err := b.Result("x", ""); !errors.As(err, &wrong) || !strings.Contains(wrong.Msg, want) {
			t.Errorf("%s: got %v, want %q", content, err, want)
		}
	}
	if _, err := b.Result("../x", ""); err == nil {
		t.Error("a name outside the folder is read")
	}
}

// A name with signs of HTML stays text, and every page of the index is there.
func TestPages(t *testing.T) {
	_, r := store(t, sample(0), experiments.Quick, nil)
	r.Table.Rows[0].Name = "<script>"
	pages, err := Pages([]*Result{r}, runners.All().List())
	if err != nil {
		t.Fatal(err)
	}
	page := string(pages["sample.html"])
	if strings.Contains(page, "<script>") || !strings.Contains(page, "&lt;script&gt;") || !strings.Contains(string(pages["index.html"]), `href="sample.html"`) {
		t.Errorf("index\n%s\npage\n%s", pages["index.html"], page)
	}
}

// outside says that a replay needs data that are not part of the program.
func outside(e experiments.Experiment) bool {
	return slices.ContainsFunc(e.Data, func(name string) bool {
		info, _ := dataset.Describe(name)
		return !info.Embedded
	})
}

// Every curve that figures.yaml names is drawn from its stored result, with two points or more in every line and
// every number of X in the row; and every stored result of that shape is named there.
func TestStoredFiguresAreDrawn(t *testing.T) {
	b, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	all, err := b.Results()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range runners.All().List() {
		known[e.Name] = true
	}
	for _, f := range figures() {
		if !known[f.Replay] || f.X == "" {
			t.Errorf("figures.yaml: no replay %q, or no name of X", f.Replay)
		}
	}
	for _, r := range all {
		points, charts := 0, r.charts()
		for _, c := range charts {
			for _, s := range c.Series {
				points += len(s.Points)
				if len(s.Points) < 2 || s.Name == "" || c.Title == "" || c.YAxis == "" {
					t.Errorf("%s: line %q of %q has %d points", r.Table.Name, s.Name, c.Title, len(s.Points))
				}
			}
		}
		named := slices.ContainsFunc(figures(), func(f figure) bool { return f.Replay == r.Table.Name })
		if named && points < 4 {
			t.Errorf("%s: %d points are drawn of %d rows", r.Table.Name, points, len(r.Table.Rows))
		}
		if _, err := r.pictures(); err != nil {
			t.Error(err)
		}
	}
}
