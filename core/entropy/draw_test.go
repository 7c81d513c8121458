package entropy

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"sort"
	"testing"

	"pawl/internal/stattest"

	"pgregory.net/rapid"
)

func uniformCells(n, cells int) []float64 {
	expected := make([]float64, cells)
	for i := range expected {
		expected[i] = float64(n) / float64(cells)
	}
	return expected
}

// TestUint64nHasNoBias takes ranges where a multiplication or a remainder without
// rejection is far off: at 3·2^62 it would give the classes mod 3 1/2, 1/4, 1/4.
func TestUint64nHasNoBias(t *testing.T) {
	const n = 60_000
	for _, c := range []struct{ limit, modulus uint64 }{
		{3, 3}, {10, 10}, {256, 256}, {3 << 62, 3}, {1<<63 + 1, 7}, {1<<64 - 1, 5},
	} {
		src := Seeded(20).Split("uint64n", c.limit)
		cells := make([]int, c.modulus)
		below := 0
		for range n {
			v := src.Uint64n(c.limit)
			if v >= c.limit {
				t.Fatalf("%d is not below %d", v, c.limit)
			}
			if v < c.limit/2 {
				below++
			}
			cells[v%c.modulus]++
		}
		name := fmt.Sprint("limit ", c.limit)
		stattest.Accept(t, stattest.ChiSquare(name, cells, uniformCells(n, len(cells))))
		stattest.Accept(t, stattest.Proportion(name+" lower half", below, n, float64(c.limit/2)/float64(c.limit)))
	}
	if got := Seeded(1).Uint64n(1); got != 0 {
		t.Errorf("Uint64n(1) = %d", got)
	}
	mustPanic(t, "Uint64n(0)", func() { Seeded(1).Uint64n(0) })
}

func TestBigIntn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "limit"))
		limit.Add(limit, big.NewInt(1))
		v := Seeded(rapid.Uint64().Draw(t, "seed")).BigIntn(limit)
		if v.Sign() < 0 || v.Cmp(limit) >= 0 {
			t.Fatalf("%v is not in [0, %v)", v, limit)
		}
	})
	const n = 50_000
	src := Seeded(21)
	limit := new(big.Int).Lsh(big.NewInt(5), 130) // fifths of it are equally likely
	cells := make([]int, 5)
	small := make([]int, 11)
	for range n {
		cells[new(big.Int).Rsh(src.BigIntn(limit), 130).Int64()]++
		small[src.BigIntn(big.NewInt(11)).Int64()]++
	}
	stattest.Accept(t, stattest.ChiSquare("fifths of 5·2^130", cells, uniformCells(n, 5)))
	stattest.Accept(t, stattest.ChiSquare("below 11", small, uniformCells(n, 11)))
	mustPanic(t, "BigIntn(0)", func() { src.BigIntn(new(big.Int)) })
	mustPanic(t, "BigIntn(-1)", func() { src.BigIntn(big.NewInt(-1)) })
}

func TestReadTakesTheWordsOfTheStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(0, 5000).Draw(t, "length")
		a, b := Seeded(1), Seeded(1)
		p := make([]byte, length)
		if n, err := a.Read(p); n != length || err != nil {
			t.Fatalf("Read returned %d, %v for %d bytes", n, err, length)
		}
		for i := 0; i < length; i += 8 {
			word := b.Uint64()
			for j := i; j < min(i+8, length); j++ {
				if p[j] != byte(word>>(8*(j-i))) {
					t.Fatalf("byte %d differs from the stream", j)
				}
			}
		}
		if a.Uint64() != b.Uint64() {
			t.Fatal("Read left the stream at another word")
		}
	})
}

func TestBufferedIsTheStreamAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := Seeded(2), Seeded(2)
		for range 5 {
			words := a.Buffered()
			n := rapid.IntRange(0, len(words)/8).Draw(t, "words")
			for i := range n {
				if binary.LittleEndian.Uint64(words[8*i:]) != b.Uint64() {
					t.Fatalf("word %d differs", i)
				}
			}
			a.Discard(n)
			if a.Uint64() != b.Uint64() {
				t.Fatal("Discard left the stream at another word")
			}
		}
	})
	src := Seeded(2)
	mustPanic(t, "Discard of nothing buffered", func() { src.Discard(1) })
	left := len(src.Buffered()) / 8
	mustPanic(t, "Discard beyond the buffer", func() { src.Discard(left + 1) })
	mustPanic(t, "negative Discard", func() { src.Discard(-1) })
}

// TestUniforms: null "uniform on (0, 1)". The deep part of Open01, below 2^-12, has
// its own binades and its own digits, which a multiple of 2^-53 does not have.
func TestUniforms(t *testing.T) {
	const n = 1_000_000
	src := Seeded(22)
	open, half, deep := make([]float64, n), make([]float64, n), []float64{}
	binades, odd := make([]int, 15), 0
	for i := range n {
		x := src.Open01()
		if !(x > 0 && x < 1) {
			t.Fatalf("Open01 = %v", x)
		}
		open[i] = x
		_, exponent := math.Frexp(x)
		binades[min(-exponent, 14)]++
		if x < 0x1p-12 {
			deep = append(deep, x*0x1p12)
			odd += int(math.Float64bits(x) & 1)
		}
		if half[i] = src.Float64(); !(half[i] >= 0 && half[i] < 1) {
			t.Fatalf("Float64 = %v", half[i])
		}
	}
	expected := make([]float64, 15)
	for k := range expected {
		expected[k] = n * math.Ldexp(1, -k-1)
	}
	expected[14] *= 2 // everything below 2^-14
	sort.Float64s(open)
	sort.Float64s(half)
	sort.Float64s(deep)
	identity := func(x float64) float64 { return x }
	stattest.Accept(t, stattest.KS("Open01", open, identity))
	stattest.Accept(t, stattest.KS("Float64", half, identity))
	stattest.Accept(t, stattest.KS("Open01 below 2^-12", deep, identity))
	stattest.Accept(t, stattest.ChiSquare("binades of Open01", binades, expected))
	stattest.Accept(t, stattest.Proportion("last digit below 2^-12", odd, len(deep), 0.5))
}

func TestBernoulli(t *testing.T) {
	const n = 200_000
	for _, p := range []float64{0.001, 0.25, 0.3, 0.5, 0.75, 1 - 0x1p-10} {
		src, count := Seeded(23), 0
		for range n {
			if src.Bernoulli(p) {
				count++
			}
		}
		stattest.Accept(t, stattest.Proportion(fmt.Sprint("p=", p), count, n, p))
	}
	src := Seeded(24)
	for range 10_000 {
		if src.Bernoulli(0) || !src.Bernoulli(1) || src.Bernoulli(5e-324) {
			t.Fatal("an impossible answer at p = 0 or 1")
		}
	}
	for _, p := range []float64{-0x1p-60, math.Nextafter(1, 2), math.NaN(), math.Inf(1), math.Inf(-1)} {
		mustPanic(t, fmt.Sprint("Bernoulli ", p), func() { src.Bernoulli(p) })
	}
}

var sink uint64

func BenchmarkUint64(b *testing.B) {
	src := Seeded(1)
	for b.Loop() {
		sink += src.Uint64()
	}
}

func BenchmarkSplit(b *testing.B) {
	src := Seeded(1)
	b.ReportAllocs()
	for b.Loop() {
		sink += src.Split("noise", 3, 7).Uint64()
	}
}

func BenchmarkSubset(b *testing.B) {
	src, dst := Seeded(1), make([]int32, 0, 1024)
	for b.Loop() {
		dst = src.Subset(dst, 60_000, 250.0/60_000)
	}
}
