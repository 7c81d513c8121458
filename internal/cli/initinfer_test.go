package cli

import (
	"bytes"
	"context"
	"io"
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
		a := &app{streams: streams{in: strings.NewReader(c.answer), out: &out, err: &said}, total: "3", asked: func() bool { return true }}
		err := a.init(context.Background(), "clinic.csv", f)
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
		if spent := strings.Contains(string(shown(t)), "spent       epsilon 0\n") || strings.Contains(string(shown(t)), "unknown"); !c.bought && !spent {
			t.Errorf("answer %q: charged\n%s", c.answer, shown(t))
		}
	}
}

// shown is what the ledger says of the clinic; nobody granted it a budget before a charge.
func shown(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if status := run(context.Background(), []string{"ledger", "show", "clinic"}, streams{in: strings.NewReader(""), out: &out, err: io.Discard}); status != exitOK {
		return []byte("unknown")
	}
	return out.Bytes()
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
	a := &app{streams: streams{in: strings.NewReader("yes\n"), out: &out, err: &said}, total: "3", asked: func() bool {
		// Between the forecast and the charge the folder goes away.
		if err := os.Remove("gone"); err != nil {
			t.Error(err)
		}
		return true
	}}
	err := a.init(context.Background(), "clinic.csv", f)
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
