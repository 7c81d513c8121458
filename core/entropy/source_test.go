package entropy

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"strings"
	"testing"

	"pawl/internal/stattest"

	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

func mustPanic(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", name)
		}
	}()
	f()
}

func TestZeroSourceNeverAnswers(t *testing.T) {
	for _, src := range []*Source{nil, new(Source)} {
		for name, use := range map[string]func(){
			"Uint64":    func() { src.Uint64() },
			"Uint64n":   func() { src.Uint64n(3) },
			"BigIntn":   func() { src.BigIntn(big.NewInt(7)) },
			"Float64":   func() { src.Float64() },
			"Open01":    func() { src.Open01() },
			"Bernoulli": func() { src.Bernoulli(0.5) },
			"Read":      func() { _, _ = src.Read(make([]byte, 3)) },
			"Read none": func() { _, _ = src.Read(nil) },
			"Subset":    func() { src.Subset(nil, 10, 0.1) },
			"Split":     func() { src.Split("child") },
			"Seeded":    func() { src.Seeded() },
			"Buffered":  func() { src.Buffered() },
			"Discard":   func() { src.Discard(0) },
		} {
			mustPanic(t, name, use)
		}
	}
	if got := fmt.Sprint(Source{}); got != "entropy.Source(zero)" {
		t.Errorf("zero Source prints %q", got)
	}
}

func TestNewIsFreshAndUntainted(t *testing.T) {
	a, err := New()
	if err != nil {
		t.Fatal(err)
	}
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if a.Uint64() == b.Uint64() { // 2^-64
		t.Error("two sources from the operating system agree")
	}
	if a.Seeded() || fromKey([32]byte{1}).Seeded() {
		t.Error("a keyed source claims to be seeded")
	}
	x, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	if y, _ := newKey(); x == y || x == [32]byte{} {
		t.Error("newKey repeats itself")
	}
}

func TestTaintIsInherited(t *testing.T) {
	if !Seeded(7).Seeded() || !Seeded(7).Split("a").Seeded() || !Seeded(7).Split("a", 1).Split("b").Seeded() {
		t.Error("a child of a seeded source lost the taint")
	}
	if fromKey([32]byte{1}).Split("a").Seeded() {
		t.Error("a child of a keyed source gained the taint")
	}
}

func TestCopyIsAlias(t *testing.T) {
	src, reference := Seeded(3), Seeded(3)
	src.Uint64()
	reference.Uint64()
	alias := *src
	for i := range bufferBytes / 2 {
		which := src
		if i%2 == 1 {
			which = &alias
		}
		if got, want := which.Uint64(), reference.Uint64(); got != want {
			t.Fatalf("word %d: a copy of a Source replayed or skipped values", i)
		}
	}
}

func TestSplitDependsOnNameOnly(t *testing.T) {
	parent, untouched := Seeded(5), Seeded(5)
	before := parent.Split("noise", 1).Uint64()
	first := parent.Uint64()
	if after := parent.Split("noise", 1).Uint64(); after != before {
		t.Error("reading the parent changed its child")
	}
	if first != untouched.Uint64() {
		t.Error("splitting advanced the parent")
	}
}

// TestNamesNeverCollide takes names that a careless encoding would confuse.
func TestNamesNeverCollide(t *testing.T) {
	key := [32]byte{9}
	p := fromKey(key)
	seen := map[uint64]string{}
	add := func(name string, src *Source) {
		v := src.Uint64()
		if other, ok := seen[v]; ok {
			t.Errorf("%s and %s are one stream", name, other)
		}
		seen[v] = name
	}
	add("parent", fromKey(key))
	add("split empty", p.Split(""))
	add("split a", p.Split("a"))
	add("split a 0", p.Split("a", 0))
	add("split a 0 0", p.Split("a", 0, 0))
	add("split a 0 1", p.Split("a", 0, 1))
	add("split a 1 0", p.Split("a", 1, 0))
	add("split a 1", p.Split("a", 1))
	add("split a then 1", p.Split("a").Split("", 1))
	add("split a\\0", p.Split("a\x00"))
	add("split a\\0*8", p.Split("a\x00\x00\x00\x00\x00\x00\x00\x00"))
	add("split b", p.Split("b"))
	add("derive a", fromKey(Derive(key, "a")))
	add("derive empty", fromKey(Derive(key, "")))
	add("derive ab c", fromKey(Derive(key, "", []byte("ab"), []byte("c"))))
	add("derive a bc", fromKey(Derive(key, "", []byte("a"), []byte("bc"))))
	add("derive abc", fromKey(Derive(key, "", []byte("abc"))))
	add("derive abc none", fromKey(Derive(key, "", []byte("abc"), nil)))
	add("other key", fromKey([32]byte{10}).Split("a"))
	add("seeded by the same byte", Seeded(9))
}

func TestDeriveBindsEveryPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		parts := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 4).Draw(t, "parts")
		whole := Derive(key, "trial", parts...)
		if whole != Derive(key, "trial", parts...) {
			t.Fatal("Derive is not a function")
		}
		i := rapid.IntRange(0, len(parts)-1).Draw(t, "changed")
		changed := append([][]byte(nil), parts...)
		changed[i] = append(bytes.Clone(parts[i]), 0)
		if whole == Derive(key, "trial", changed...) {
			t.Fatal("a changed part kept the key")
		}
		if whole == Derive(key, "trial2", parts...) {
			t.Fatal("a changed label kept the key")
		}
	})
}

// TestChildrenAreIndependent: null "children are uniform and uncorrelated"; one
// stream under two names has correlation 1 and identical values (cases G01, G02).
func TestChildrenAreIndependent(t *testing.T) {
	const n = 100_000
	parent := Seeded(11)
	draw := func(src *Source) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = src.Float64()
		}
		return xs
	}
	columns := [][]float64{draw(parent.Split("noise", 1)), draw(parent.Split("noise", 2)),
		draw(parent.Split("lot", 1)), draw(parent)}
	seen := map[float64]int{}
	repeats := 0
	for i, a := range columns {
		for _, b := range columns[:i] {
			stattest.Accept(t, stattest.Correlation("children", a, b))
			stattest.Accept(t, stattest.Correlation("children, one step apart", a[1:], b[:n-1]))
		}
		for _, x := range a {
			seen[x]++
			if seen[x] > 1 {
				repeats++
			}
		}
	}
	// 4·10⁵ values among 2^53: 9e-6 repeats expected.
	if repeats > 0 {
		t.Errorf("%d values occur in two children", repeats)
	}
	stattest.Convict(t, stattest.Correlation("same name twice", draw(Seeded(11).Split("noise", 1)), columns[0]))
}

func TestNothingPrintsTheKey(t *testing.T) {
	var key [32]byte
	copy(key[:], "a very secret key of 32 letters!")
	src := fromKey(key)
	src.Uint64()
	next := fromKey(key)
	next.Uint64()
	type holder struct {
		Public  *Source
		Value   Source
		private Source
		hidden  *Source
	}
	h := holder{src, *src, *src, src}
	var outputs []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%t"} {
		outputs = append(outputs, fmt.Sprintf(verb, src), fmt.Sprintf(verb, *src), fmt.Sprintf(verb, h), fmt.Sprintf(verb, &h))
	}
	for _, v := range []any{src, *src, h, map[string]*Source{"s": src}} {
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, string(out))
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "source", src, "value", *src, "holder", h)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "source", src, "value", *src, "holder", h)
	outputs = append(outputs, log.String())
	secrets := []string{"secret", hex.EncodeToString(key[:4]), fmt.Sprint(key[:4])[1:14], fmt.Sprint(next.Uint64())}
	for _, out := range outputs {
		for _, secret := range secrets {
			if strings.Contains(strings.ToLower(out), secret) {
				t.Errorf("%q shows %q", out, secret)
			}
		}
	}
	if got := fmt.Sprint(src); got != "entropy.Source(redacted)" {
		t.Errorf("got %q", got)
	}
	if got := fmt.Sprint(Seeded(1)); !strings.Contains(got, "NOT PRIVATE") {
		t.Errorf("a seeded source prints %q", got)
	}
}
