package text

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func tokens(s string) (out []string) {
	Tokens(s, func(t []byte) { out = append(out, string(t)) })
	return out
}

func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \n\t", nil},
		{"Don't stop!!", []string{"don't", "stop", "!", "!"}},
		{"WIN £1000 now", []string{"win", "£", "0000", "now"}},
		{"call09061701461.", []string{"call", "00000000000", "."}},
		{"3.5%", []string{"0", ".", "0", "%"}},
		{"naïve", []string{"na", "ï", "ve"}},
		{"a\xffb", []string{"a", "\uFFFD", "b"}},
		{"٣٤", []string{"00"}},
	} {
		if d := cmp.Diff(tt.want, tokens(tt.text)); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, d)
		}
	}
}

// The places are part of every model that was trained on them: do NOT edit these.
var golden = map[string]string{
	"": "1171 1", "free": "367 1", "000": "3670 -1", "£": "1429 -1", "don't": "2495 -1",
}

func TestPlacesNeverChange(t *testing.T) {
	for token, want := range golden {
		if b, s := place([]byte(token), 4096); fmt.Sprint(b, s) != want {
			t.Errorf("%q lies at %d with sign %v, want %s", token, b, s, want)
		}
	}
}

func TestVector(t *testing.T) {
	h := Hasher{Buckets: 64}
	vector := func(s string) []float32 {
		v := make([]float32, h.Buckets)
		for i := range v {
			v[i] = 9 // what was there does not matter
		}
		h.vector(v, s)
		return v
	}
	if v := vector(" "); slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
		t.Error("a text without tokens is not zero")
	}
	if !slices.Equal(vector("free free free"), vector("Free")) {
		t.Error("a word counts more by being repeated")
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		words := tokens(s)
		v := vector(s)
		square := 0.0
		for _, x := range v {
			square += float64(x) * float64(x)
		}
		if math.Abs(math.Sqrt(square)-1) > 1e-6 && square != 0 {
			t.Fatalf("norm %v", math.Sqrt(square))
		}
		slices.Reverse(words)
		if !slices.Equal(v, vector(strings.Join(words, " "))) {
			t.Fatal("the order of tokens matters")
		}
	})
}

// The hash spreads tokens evenly and signs them fairly. Null: 100,000 tokens fall
// into 64 buckets and two signs at random. Chi-square with 127 degrees of freedom is
// above 220 with probability below 1e-6; a bit that is not mixed puts it beyond 10⁴.
func TestHashSpreads(t *testing.T) {
	const n, buckets = 100000, 64
	var count [buckets][2]float64
	for i := range n {
		b, s := place([]byte(fmt.Sprintf("w%d", i)), buckets)
		count[b][int(s+1)/2]++
	}
	chi, want := 0.0, float64(n)/(2*buckets)
	for _, c := range count {
		for _, k := range c {
			chi += (k - want) * (k - want) / want
		}
	}
	if chi > 220 {
		t.Errorf("chi-square %v", chi)
	}
}

func BenchmarkVector(b *testing.B) {
	h := Hasher{Buckets: 4096}
	v := make([]float32, h.Buckets)
	s := "Free entry in 2 a wkly comp to win FA Cup final tkts 21st May 2005. Text FA to 87121 to receive entry question"
	b.ReportAllocs()
	for b.Loop() {
		h.vector(v, s)
	}
}

func ExampleHasher() {
	h := Hasher{Buckets: 8}
	v := make([]float32, h.Buckets)
	h.vector(v, "Win £100 now!")
	fmt.Printf("%.2f\n", v)
	// Output:
	// [0.00 0.00 -0.58 0.00 0.00 -0.58 -0.58 0.00]
}

// Entries is Vector before the division, without zeros.
func TestEntriesAreTheVector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		h := Hasher{Buckets: rapid.IntRange(1, 40).Draw(t, "buckets")}
		dense := make([]float64, h.Buckets)
		square, before := 0.0, -1
		for _, e := range h.Entries(s) {
			if e.Bucket <= before || e.Sum == 0 {
				t.Fatalf("entry %+v after bucket %d", e, before)
			}
			before, dense[e.Bucket] = e.Bucket, e.Sum
			square += e.Sum * e.Sum
		}
		want := make([]float32, h.Buckets)
		h.vector(want, s)
		for j := range dense {
			if square > 0 {
				dense[j] /= math.Sqrt(square)
			}
			if float32(dense[j]) != want[j] {
				t.Fatalf("bucket %d: %v, want %v", j, dense[j], want[j])
			}
		}
	})
}

// vector writes the vector of s to dst, which must have Buckets elements, the plain way.
func (h Hasher) vector(dst []float32, s string) {
	if h.Buckets < 1 || len(dst) != h.Buckets {
		panic(fmt.Sprintf("text: a vector of %d elements for %d buckets", len(dst), h.Buckets))
	}
	clear(dst)
	h.each(s, func(bucket int, sign float32) { dst[bucket] += sign })
	square := 0.0
	for _, x := range dst {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return
	}
	norm := math.Sqrt(square)
	for i, x := range dst {
		dst[i] = float32(float64(x) / norm)
	}
}
