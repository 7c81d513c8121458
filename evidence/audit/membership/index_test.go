package membership

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/core/entropy"
)

func TestReadIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "members.txt")
	for _, c := range []struct {
		text, err string
		want      []int
	}{
		{"0\n\n 7 \n3\n", "", []int{0, 7, 3}},
		{"", "", nil},
		{"1\n8\n", "members.txt:2: not a row number", nil},
		{"-1\n", "members.txt:1: not a row number", nil},
		{"0\nPATIENT\n", "members.txt:2: not a row number", nil},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readIndex(path, 8)
		switch {
		case c.err == "" && (err != nil || !slices.Equal(got, c.want)):
			t.Errorf("%q: %v, %v", c.text, got, err)
		case c.err != "" && (err == nil || !strings.HasSuffix(err.Error(), c.err) || strings.Contains(err.Error(), "PATIENT")):
			t.Errorf("%q: %v, want %s", c.text, err, c.err)
		}
	}
}

// Records are drawn without a repetition, the same under one seed; an index speaks of all in order.
func TestSome(t *testing.T) {
	o := Options{Source: entropy.Seeded(3)}
	all, err := o.some(0, 50)
	if err != nil || len(all) != 50 || slices.IsSorted(all) {
		t.Fatalf("%v, %v", all, err)
	}
	few, err := o.some(20, 50)
	if err != nil || !slices.Equal(few, all[:20]) {
		t.Errorf("%v, %v: not the first of %v", few, err, all)
	}
	slices.Sort(all)
	for i, n := range all {
		if n != i {
			t.Fatalf("%v are not the numbers below 50", all)
		}
	}
	o.Index = "index.txt"
	if ordered, err := o.some(0, 50); err != nil || !slices.IsSorted(ordered) {
		t.Errorf("%v, %v", ordered, err)
	}
	if _, err := o.some(51, 50); err == nil {
		t.Error("51 of 50 records are drawn")
	}
}

// Every training run of an audit has a seed of its own, and none where the audit has none.
func TestSeedOf(t *testing.T) {
	seed := uint64(5)
	seen := map[uint64]bool{}
	for n := range 100 {
		s := SeedOf(&seed, n)
		if seen[*s] || *s != *SeedOf(&seed, n) {
			t.Fatalf("run %d has the seed %d of another, or two", n, *s)
		}
		seen[*s] = true
	}
	if SeedOf(nil, 1) != nil {
		t.Error("a seed out of nothing")
	}
}
