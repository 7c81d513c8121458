package dataset

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/data/schema"
	"pawl/reader"
)

// dataDir finds the folder with the files that are not embedded.
func dataDir(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{os.Getenv(DataDirVariable), "../../../shared/data"} {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "insurance", "insurance.csv")); err == nil {
			return dir
		}
	}
	t.Skipf("no folder with insurance/insurance.csv: set %s", DataDirVariable)
	return ""
}

// counts reads rows and counts the levels of a column, and unknown cells per column.
func counts(t *testing.T, s *schema.Schema, column string, read func(reader.Row) error) (rows int, levels map[string]int, unknown map[string]int) {
	t.Helper()
	levels, unknown = map[string]int{}, map[string]int{}
	at := s.Column(column)
	err := read(func(cells []float64, _ schema.Record) error {
		rows++
		if at >= 0 && s.Columns[at].Levels() != nil {
			levels[s.Columns[at].Levels()[int(cells[at])]]++
		}
		anywhere := false
		for i, v := range cells {
			if math.IsNaN(v) && s.Columns[i].Type != schema.Ignore {
				unknown[s.Columns[i].Name]++
				anywhere = true
			}
		}
		if anywhere {
			unknown["any column"]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, levels, unknown
}

// The published counts; every cell parses, or Train would refuse.
func TestPublishedCounts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		test    bool
		rows    int
		column  string
		levels  map[string]int
		unknown map[string]int
	}{
		{"adult", false, 32561, "income", map[string]int{">50K": 7841, "<=50K": 24720}, map[string]int{"any column": 2399}},
		{"adult", true, 16281, "income", map[string]int{">50K": 3846, "<=50K": 12435}, map[string]int{"any column": 1221}},
		{"breast-cancer", false, 286, "class", map[string]int{"no-recurrence-events": 201, "recurrence-events": 85},
			map[string]int{"any column": 9, "node-caps": 8, "breast-quad": 1}},
		{"wdbc", false, 569, "diagnosis", map[string]int{"B": 357, "M": 212}, map[string]int{"any column": 0}},
		{"insurance", false, 1338, "smoker", map[string]int{"true": 274, "false": 1064}, map[string]int{"any column": 0}},
		{"insurance", false, 1338, "sex", map[string]int{"male": 676, "female": 662}, nil},
		{"insurance", false, 1338, "region", map[string]int{"southeast": 364, "southwest": 325, "northwest": 325, "northeast": 324}, nil},
		{"sms-spam", false, 5574, "label", map[string]int{"ham": 4827, "spam": 747}, map[string]int{"any column": 0}},
		{"location30", false, 5010, "class", map[string]int{"13": 141, "1": 169}, map[string]int{"any column": 0}},
		{"enron-spam-counts", false, 5172, "spam", map[string]int{"false": 3672, "true": 1500}, map[string]int{"any column": 0}},
	} {
		name := tt.name + " " + tt.column
		if tt.test {
			name += " test"
		}
		t.Run(name, func(t *testing.T) {
			b, ok := Lookup(tt.name)
			if !ok {
				t.Fatal("not found")
			}
			dir := ""
			if !b.Embedded {
				dir = dataDir(t)
			}
			read, stated := b.Train, b.Rows
			if tt.test {
				read, stated = b.Test, b.TestRows
			}
			rows, levels, unknown := counts(t, b.Schema(), tt.column, func(r reader.Row) error { return read(dir, reader.Options{}, r) })
			if rows != tt.rows || stated != tt.rows {
				t.Errorf("%d rows and %d stated, want %d", rows, stated, tt.rows)
			}
			for l, n := range tt.levels {
				if levels[l] != n {
					t.Errorf("level %q: %d rows, want %d", l, levels[l], n)
				}
			}
			for c, n := range tt.unknown {
				if unknown[c] != n {
					t.Errorf("%s: %d unknown, want %d", c, unknown[c], n)
				}
			}
		})
	}
}

func TestInsuranceMeanCharge(t *testing.T) {
	b, _ := Lookup("insurance")
	s := b.Schema()
	sum, n := 0.0, 0
	if err := b.Train(dataDir(t), reader.Options{}, func(cells []float64, _ schema.Record) error {
		sum += cells[s.Column("charges")]
		n++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if mean := sum / float64(n); math.Abs(mean-13270.42) > 0.01 {
		t.Errorf("mean charge %.4f, want 13270.42", mean)
	}
}

func TestRegistry(t *testing.T) {
	for _, info := range List() {
		t.Run(info.Name, func(t *testing.T) {
			b, ok := Lookup(strings.ToUpper(info.Name))
			if !ok {
				t.Fatal("not found under its own name")
			}
			s := b.Schema()
			if s.Dataset != info.Name || !s.Public || s.Rows != (schema.RowCount{Kind: schema.RowsDeclared, N: int64(info.Rows)}) {
				t.Errorf("schema says data set %q, public %v, rows %+v", s.Dataset, s.Public, s.Rows)
			}
			at := s.Column(info.Target)
			if at < 0 {
				t.Fatalf("no target column %q", info.Target)
			}
			if want := info.Task == Regression; want != (s.Columns[at].Type == schema.Numeric) {
				t.Errorf("target of type %s does not fit %s", s.Columns[at].Type, info.Task)
			}
			for _, c := range s.Columns {
				if c.Why == "" {
					t.Errorf("column %q states no reason", c.Name)
				}
			}
			for _, f := range info.Files {
				if len(f.SHA256) != 64 {
					t.Errorf("file %s has no SHA-256", f.Path)
				}
			}
			if info.Licence == "" || info.Source == "" || info.Citation == "" || len(info.KnownProblems) == 0 {
				t.Error("licence, source, citation or known problems are not stated")
			}
			if (info.TestRows > 0) != b.HasTest() {
				t.Error("TestRows and HasTest disagree")
			}
		})
	}
	if _, ok := Lookup("breast-cancer-wdbc"); !ok {
		t.Error("alias not found")
	}
	if _, ok := Lookup("patients.csv"); ok {
		t.Error("a file name was found")
	}
}

func TestNoTestSet(t *testing.T) {
	b, _ := Lookup("wdbc")
	if _, err := b.TestCSV(""); !errors.Is(err, ErrNoTest) {
		t.Errorf("got %v, want ErrNoTest", err)
	}
}

func TestDataFolder(t *testing.T) {
	b, _ := Lookup("insurance")
	t.Setenv(DataDirVariable, "")
	folder := t.TempDir()
	check := func(name, dir, want string) {
		t.Helper()
		_, err := b.TrainCSV(dir)
		var f *FileError
		if !errors.As(err, &f) || !strings.Contains(err.Error(), want) || f.Hint() == "" {
			t.Errorf("%s: error %v, want %q with a hint", name, err, want)
		}
	}
	check("none named", "", "no data folder is named")
	check("empty", folder, "has no file insurance/insurance.csv")
	if err := os.MkdirAll(filepath.Join(folder, "insurance"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "insurance", "insurance.csv"), []byte("age\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("other bytes", folder, "not the publisher's file")
	t.Setenv(DataDirVariable, folder)
	check("by variable", "", "not the publisher's file")
}

func TestEmbeddedNeedsNoFolder(t *testing.T) {
	t.Setenv(DataDirVariable, filepath.Join(t.TempDir(), "absent"))
	for _, info := range List() {
		if !info.Embedded {
			continue
		}
		b, _ := Lookup(info.Name)
		r, err := b.TrainCSV("")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || strings.Count(string(text), "\n") != info.Rows+1 {
			t.Errorf("%s: %d lines, error %v", info.Name, strings.Count(string(text), "\n"), err)
		}
	}
}

// Converting what a publisher's layout writes gives the records back.
func TestConvertRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom([]layout{adultLayout(), breastCancerLayout(), wdbcLayout()}).Draw(t, "layout")
		cell := rapid.StringMatching(`[a-z0-9?<>-]{1,6}`)
		var in strings.Builder
		var want []string
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			row := rapid.SliceOfN(cell, len(l.header), len(l.header)).Draw(t, "row")
			want = append(want, row...)
			in.WriteString(strings.Join(row, l.separator) + rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "end"))
		}
		out, err := l.convert([]byte(in.String()))
		if err != nil {
			t.Fatal(err)
		}
		c, err := reader.New("f.csv", strings.NewReader(string(out)), schema.File{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			row, _, err := c.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, row...)
		}
		if strings.Join(got, "\x01") != strings.Join(want, "\x01") {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestConvertOddRecord(t *testing.T) {
	_, err := wdbcLayout().convert([]byte("1,M\n"))
	if err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("got %v, want the line", err)
	}
}
