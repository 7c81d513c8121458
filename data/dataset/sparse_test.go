package dataset

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
)

func TestLoadSparse(t *testing.T) {
	train, test, err := LoadSparse("RCV1-small", os.Getenv(DataDirVariable))
	var missing *FileError
	if errors.As(err, &missing) {
		t.Skipf("%v (%s)", err, missing.Hint())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s          *Sparse
		rows, ones int
	}{{train, 1000, 459}, {test, 500, 245}} {
		ones, largest := 0, int32(0)
		for i, row := range c.s.Rows {
			ones += int(c.s.Labels[i])
			squares := 0.0
			for _, e := range row {
				squares += float64(e.Value) * float64(e.Value)
				largest = max(largest, e.Feature)
			}
			if math.Abs(squares-1) > 1e-3 {
				t.Fatalf("row %d has norm² %g", i, squares)
			}
		}
		if len(c.s.Rows) != c.rows || ones != c.ones || int(largest) >= c.s.Features {
			t.Errorf("%d rows, %d of class 1, largest feature %d", len(c.s.Rows), ones, largest)
		}
	}
	if _, _, err := LoadSparse("adult", ""); err == nil {
		t.Error("a table was read as sparse rows")
	}
}

func TestReadSparse(t *testing.T) {
	for _, tt := range []struct{ name, in, err string }{
		{"rows", "-1 |f 1:2e-1 7:0.5\n1 |f\n+1 | 0:1", ""},
		{"no bar", "-1 1:2\n", "f:1: no class and bar"},
		{"another class", "-1 |f 1:2\nSECRET |f 1:1\n", "f:2: the class"},
		{"no number", "1 |f 1:1 3:SECRET\n", "f:1: pair 2 is no index"},
		{"not finite", "1 |f 1:NaN\n", "f:1: pair 1 is no index"},
		{"infinite", "1 |f 1:1e39\n", "f:1: pair 1 is no index"},
		{"falling", "1 |f 3:1 2:1\n", "f:1: pair 2: the index"},
		{"twice", "1 |f 3:1 3:1\n", "f:1: pair 2: the index"},
		{"negative", "1 |f -3:1\n", "f:1: pair 1: the index"},
		{"beyond", "1 |f 10:1\n", "f:1: pair 1: the index"},
		{"blank line", "1 |f 1:1\n\n", "f:2: no class"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := ReadSparse("f", strings.NewReader(tt.in), 10)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "SECRET") {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || len(s.Rows) != 3 || len(s.Rows[0]) != 2 || s.Rows[0][1] != (Entry{7, 0.5}) || s.Labels[0] != 0 || s.Labels[2] != 1 {
				t.Errorf("%+v (%v)", s, err)
			}
		})
	}
}

func FuzzReadSparse(f *testing.F) {
	f.Add("-1 |f 1:2e-1 7:0.5\n1 |f\n")
	f.Add("1 |f 1:")
	f.Fuzz(func(t *testing.T, in string) {
		s, err := ReadSparse("f", strings.NewReader(in), 10)
		if err != nil {
			return
		}
		for _, row := range s.Rows {
			for k, e := range row {
				if e.Feature < 0 || e.Feature >= 10 || k > 0 && e.Feature <= row[k-1].Feature {
					t.Fatalf("feature %d", e.Feature)
				}
			}
		}
	})
}
