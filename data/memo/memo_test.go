package memo

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Keys of different texts differ, and texts of up to 16 bytes have one: those of one and two letters all, of longer
// ones many that differ in one place or in their length.
func TestKeys(t *testing.T) {
	seen := map[Key]string{}
	add := func(s string) {
		k, ok := Of(s)
		if !ok {
			t.Fatalf("no key for %d bytes", len(s))
		}
		if before, there := seen[k]; there && before != s {
			t.Fatalf("one key for %q and %q", before, s)
		}
		seen[k] = s
	}
	add("")
	for a := range 256 {
		add(string([]byte{byte(a)}))
		for b := range 256 {
			add(string([]byte{byte(a), byte(b)}))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := 3; n <= 16; n++ {
		add(strings.Repeat("\x00", n))
		for range 200 {
			text := make([]byte, n)
			for i := range text {
				text[i] = byte(r.IntN(256))
			}
			for i := range text {
				for _, by := range []byte{0, 1, 128} {
					other := append([]byte(nil), text...)
					other[i] ^= by
					add(string(other))
				}
			}
		}
	}
	if _, ok := Of(strings.Repeat("x", 17)); ok {
		t.Error("a text of 17 bytes has a key")
	}
}

// A table gives back what was put for a text and never what was put for another, and what is put out of its place
// is handed over: nothing that it was given is lost.
func TestTable(t *testing.T) {
	for _, columns := range []int{1, mostColumns, mostColumns + 1} {
		tables := Columns[int](columns)
		testTable(t, &tables[columns-1])
	}
}

func testTable(t *testing.T, table *Table[int]) {
	if k, _ := Of("a"); table.Get(k) != nil {
		t.Error("an empty table knows a text")
	}
	for range table.All {
		t.Error("an empty table holds something")
	}
	r := rand.New(rand.NewPCG(3, 4))
	sum, given := 0, 0
	for range 100_000 {
		n := r.IntN(3 * places)
		text := strings.Repeat("x", n%14) + string([]byte{byte(n), byte(n >> 8)})
		k, _ := Of(text)
		v := table.Get(k)
		if v != nil && *v/1_000_000 != n {
			t.Fatalf("what was put for another text: %d for %d", *v/1_000_000, n)
		}
		given++
		if v != nil {
			*v++
			continue
		}
		if old, taken := table.Put(k, n*1_000_000+1); taken {
			sum += old % 1_000_000
		}
	}
	for v := range table.All {
		sum += *v % 1_000_000
	}
	if sum != given {
		t.Errorf("%d of %d counts are there", sum, given)
	}
}

func BenchmarkGet(b *testing.B) {
	var table Table[float64]
	texts := []string{"yes", "no", "unknown", "management", "47", "1203.55", "blue-collar", "self-employed"}
	for i, s := range texts {
		k, _ := Of(s)
		table.Put(k, float64(i))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k, _ := Of(texts[i%len(texts)])
		if table.Get(k) == nil {
			b.Fatal("forgotten")
		}
	}
}
