package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// At a terminal the forecast is shown and asked about, and only a yes charges.
func TestForecastsAreAgreedTo(t *testing.T) {
	dir := emptyHome(t)
	if err := writeClinic(dir, clinicRows); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, c := range []struct {
		answer string
		bought bool
	}{{"", false}, {"no\n", false}, {"perhaps\n", false}, {"yes\n", true}} {
		f := initFlags{out: "bought.yaml"}
		f.bought.infer = true
		f.bought.Epsilon, f.bought.Unit, f.bought.Rows, f.bought.Columns = "1", "row", "about 3000", "sick,age"
		var out, said bytes.Buffer
		a := &app{streams: streams{in: strings.NewReader(c.answer), out: &out, err: &said, person: func() bool { return true }}, ledger: ledgerFlags{total: "3"}}
		err := writeSchema(context.Background(), a, "clinic.csv", f)
		if (err == nil) != c.bought {
			t.Fatalf("answer %q: %v", c.answer, err)
		}
		if !strings.Contains(said.String(), "forecast for clinic") || !strings.Contains(said.String(), "Charge epsilon 1 to clinic for this? yes or no: ") {
			t.Errorf("answer %q: said %s", c.answer, said.String())
		}
		for _, file := range []string{"bought.yaml", "bought.released.json"} {
			if _, err := os.Stat(file); (err == nil) != c.bought {
				t.Errorf("answer %q: %s: %v", c.answer, file, err)
			}
		}
		if said := shownOf(t, "clinic"); !c.bought && !strings.Contains(said, "unknown") && !strings.Contains(said, "epsilon 0\n") {
			t.Errorf("answer %q: charged\n%s", c.answer, said)
		}
	}
}

// shownOf is what the ledger says of a data set; nobody granted it a budget before a charge.
func shownOf(t *testing.T, dataset string) string {
	t.Helper()
	var out bytes.Buffer
	if status := run(context.Background(), []string{"ledger", "show", dataset}, streams{in: strings.NewReader(""), out: &out, err: io.Discard}); status != exitOK {
		return "unknown"
	}
	return out.String()
}

// What is paid for is shown where it cannot be written, all of it.
func TestBoughtSchemasAreShownWhereTheyCannotBeWritten(t *testing.T) {
	dir := emptyHome(t)
	if err := writeClinic(dir, clinicRows); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Mkdir("gone", 0o755); err != nil {
		t.Fatal(err)
	}
	f := initFlags{out: "gone/bought.yaml"}
	f.bought.infer = true
	f.bought.Epsilon, f.bought.Unit, f.bought.Rows, f.bought.Columns = "1", "row", "about 3000", "sick,age"
	var out, said bytes.Buffer
	a := &app{streams: streams{in: strings.NewReader("yes\n"), out: &out, err: &said, person: func() bool {
		// Between the forecast and the charge the folder goes away.
		if err := os.Remove("gone"); err != nil {
			t.Error(err)
		}
		return true
	}}, ledger: ledgerFlags{total: "3"}}
	err := writeSchema(context.Background(), a, "clinic.csv", f)
	if err == nil || !strings.Contains(err.Error(), "charged and is shown") {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"rows: about 3000", "  - name: \"sick\"\n    type: boolean", `"all":[{"name":"age"`} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in what is shown:\n%s", want, said.String())
		}
	}
	if !strings.Contains(out.String(), "charged: ledger entry") {
		t.Errorf("no charge is shown:\n%s", out.String())
	}
}

// visits are 3,000 visits of 1,000 persons, in the writing of a format: a line each.
func visits(line func(person, ward int, weight float64, ill bool) string) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		ward := r.IntN(3)
		b.WriteString(line(i/3, ward, 70+12*r.NormFloat64(), r.IntN(4) == ward) + "\n")
	}
	return b.String()
}

// A table as it is found, in whatever format, is read, bought and fitted under one budget, for persons with several
// rows too.
func TestSchemasAreBoughtOfFilesAsTheyAre(t *testing.T) {
	if testing.Short() {
		t.Skip("runs jobs")
	}
	wards := []string{"Köln", "Münster", "Süd"}
	latin := strings.NewReplacer("ö", "\xf6", "ü", "\xfc")
	for _, c := range []struct {
		file, text, weight, ward, target string
		flags                            []string
	}{
		{"comma.csv", "id,ward,weight,ill\n" + visits(func(p, w int, x float64, ill bool) string { return fmt.Sprintf("p%d,%s,%.1f,%v", p, wards[w], x, ill) }),
			"weight", "ward", "ill", []string{"--unit", "id", "--rows-per-unit", "3"}},
		{"semicolon.csv", latin.Replace("id;ward;weight;ill\n" + visits(func(p, w int, x float64, ill bool) string {
			return fmt.Sprintf("p%d;%s;%s;%v", p, wards[w], strings.Replace(fmt.Sprintf("%.1f", x), ".", ",", 1), ill)
		})), "weight", "ward", "ill", []string{"--unit", "id", "--rows-per-unit", "3", "--delimiter", ";", "--encoding", "latin-1", "--decimal", ","}},
		{"bare.csv", visits(func(p, w int, x float64, ill bool) string { return fmt.Sprintf("p%d,%s,%.1f,%v", p, wards[w], x, ill) }),
			"column_3", "column_2", "column_4", []string{"--no-header", "--unit", "column_1", "--rows-per-unit", "3"}},
		{"lines.jsonl", visits(func(p, w int, x float64, ill bool) string {
			return fmt.Sprintf(`{"id":"p%d","ward":%q,"weight":%.1f,"ill":%v}`, p, wards[w], x, ill)
		}), "weight", "ward", "ill", []string{"--columns", "id,ward,weight,ill", "--unit", "id", "--rows-per-unit", "3"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Chdir(emptyHome(t))
			if err := os.WriteFile(c.file, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			var v struct {
				Columns []struct {
					Name, Type   string
					Lower, Upper float64
					Levels       []struct{ Text string }
				}
			}
			if err := json.Unmarshal(said(t, append([]string{"init", c.file, "--infer", "--epsilon", "2", "--budget", "5", "--rows", "about 3000", "--target", c.target, "--out", "bought.yaml", "--yes", "--json"}, c.flags...)...), &v); err != nil {
				t.Fatal(err)
			}
			for _, column := range v.Columns {
				switch column.Name {
				case c.weight:
					if column.Type != "numeric" || column.Lower > 45 || column.Upper < 95 || column.Upper-column.Lower > 400 {
						t.Errorf("weight: %+v", column)
					}
				case c.ward:
					if len(column.Levels) != 3 || column.Levels[0].Text != "Köln" || column.Type != "categorical" {
						t.Errorf("ward: %+v", column)
					}
				case c.target:
					if column.Type != "boolean" {
						t.Errorf("ill: %+v", column)
					}
				default:
					t.Errorf("%+v was looked at", column)
				}
			}
			said(t, "fit", c.file, "--schema", "bought.yaml", "--target", c.target, "--epsilon", "1", "--out", "out")
		})
	}
}

// A file that cannot be read is refused by its line before anything is charged, and no cell is shown.
func TestBadFilesAreNotBought(t *testing.T) {
	good := "id,ward\n" + strings.Repeat("1,CANARY42\n", 3000)
	for name, c := range map[string]struct{ text, want string }{
		"unclosed quote": {good + "2,\"CANARY42\n", "file.csv:3002"},
		"no rows":        {"id,ward\n", "no rows"},
		"two wards":      {"ward,ward\n" + strings.Repeat("1,CANARY42\n", 3000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(emptyHome(t))
			if err := os.WriteFile("file.csv", []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			status := run(context.Background(), []string{"init", "file.csv", "--infer", "--epsilon", "1", "--budget", "2", "--unit", "row", "--rows", "3000", "--yes"}, streams{in: strings.NewReader(""), out: &out, err: &out})
			if c.want == "" { // numbered, and bought: most hold the text
				if status != exitOK || !strings.Contains(out.String(), "ward_2") {
					t.Errorf("status %d: %s", status, out.String())
				}
				return
			}
			if status != exitUsage || !strings.Contains(out.String(), c.want) || strings.Contains(out.String(), canary) {
				t.Errorf("status %d: %s", status, out.String())
			}
			if _, err := os.Stat("file.yaml"); err == nil {
				t.Error("a schema was written")
			}
			if ledger := shownOf(t, "file"); !strings.Contains(ledger, "unknown") && !strings.Contains(ledger, "epsilon 0\n") {
				t.Errorf("charged: %s", ledger)
			}
		})
	}
}
