package kernel

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func testKey(n byte) [32]byte {
	var k [32]byte
	for i := range k {
		k[i] = n + byte(i)*7
	}
	return k
}

func draw(key [32]byte, first uint64, n int) []float32 {
	z := make([]float32, n)
	NewNormal(key).Fill(z, first, 1)
	return z
}

// The stream is AES-256 in counter mode from counter 0, as the standard
// library computes it.
func TestKeyStreamIsAESCounterMode(t *testing.T) {
	key := testKey(1)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 5*normalBytes)
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(want, want)
	onEach(t, func(t *testing.T, x *machine) {
		s := &KeyStream{block: block}
		if x.keyStream != nil {
			expandKey(&s.schedule, key)
		}
		got := make([]byte, len(want))
		s.keyStream(x, got, 0)
		if !bytes.Equal(got, want) {
			t.Error("wrong stream")
		}
		part := make([]byte, normalBytes)
		s.keyStream(x, part, 3*64)
		if !bytes.Equal(part, want[3*normalBytes:4*normalBytes]) {
			t.Error("wrong stream from block 192")
		}
	})
}

// Random words, and those at which a mask, a sign or a range changes.
func TestNormalBitsAreTheSameOnEveryKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	words := make([]byte, 3000*normalBytes)
	edges := []uint32{0, 1, 2, 3, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x1fffffff, 0x20000000, 0x3fffffff, 0x40000000,
		2*radiusSplit - 2, 2*radiusSplit - 1, 2 * radiusSplit, 2*radiusSplit + 1, 2*radiusSplit + 2}
	for i := 0; i < len(words); i += 4 {
		w := rng.Uint32()
		if rng.IntN(3) == 0 {
			w = edges[rng.IntN(len(edges))]
		}
		binary.LittleEndian.PutUint32(words[i:], w)
	}
	want := make([]float32, len(words)/8)
	normalsPortable(want, words, 1.7)
	onEach(t, func(t *testing.T, x *machine) {
		got := make([]float32, len(want))
		x.normals(got, words, 1.7)
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("value %d is %v, portable %v", i, got[i], want[i])
			}
		}
	})
}

// Against the transform in float64 from the same words: within 4 ulp of the
// radius, in the far tail and next to zero too.
func TestNormalTransformIsAccurate(t *testing.T) {
	check := func(h, l, a, b uint32) {
		u := (float64(h>>1) + float64(l>>1|1)*0x1p-31) * 0x1p-31
		rest := float64(h>>1^0x7fffffff) + float64((l>>1^0x7fffffff)|1)*0x1p-31
		r := math.Sqrt(-2 * math.Log(u))
		if u > 0.5 {
			r = math.Sqrt(-2 * math.Log1p(-rest*0x1p-31))
		}
		if got := radius(h>>1, l>>1); math.Abs(float64(got)/r-1) > 3*0x1p-24 {
			t.Fatalf("radius(%#x, %#x) = %v, want %v", h, l, got, r)
		}
		v := (float64(a&0x1fffffff) + float64(b>>1|1)*0x1p-31) * 0x1p-29 * math.Pi / 4
		s, c := math.Sincos(v)
		if a>>29&1 == 1 {
			s, c = c, s
		}
		gotC, gotS := direction(a, b>>1)
		if math.Abs(float64(gotC)/c-1) > 4*0x1p-24 || math.Abs(float64(gotS)/s-1) > 4*0x1p-24 {
			t.Fatalf("direction(%#x, %#x) = %v, %v, want %v, %v", a, b, gotC, gotS, c, s)
		}
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for range 300000 {
		// Shifts reach radii and angles that a test would never draw.
		check(rng.Uint32()>>rng.IntN(32), rng.Uint32(), rng.Uint32()>>rng.IntN(32), rng.Uint32())
		check(^(rng.Uint32() >> rng.IntN(32)), rng.Uint32(), rng.Uint32(), rng.Uint32())
	}
	check(0, 0, 0, 0)
	check(math.MaxUint32, math.MaxUint32, math.MaxUint32, math.MaxUint32)
	if r := radius(0, 0); r < 9.27 || r > 9.28 {
		t.Errorf("greatest radius %v, want √(2·62·ln 2) = 9.271", r)
	}
}

// Null: independent standard normals; n = 2²²; each |z| ≤ 4.8916 has false
// alarm 1e-6. Catches a wrong scale, law, sign or pairing.
func TestNormalMoments(t *testing.T) {
	const n = 1 << 22
	z := draw(testKey(2), 0, n)
	var m [5]float64
	var next, pair float64
	for i, v := range z {
		x := float64(v)
		for k := 1; k <= 4; k++ {
			m[k] += math.Pow(x, float64(k))
		}
		if i > 0 {
			next += x * float64(z[i-1])
		}
		if i%normalBlock < normalBlock/2 {
			pair += x * x * (float64(z[i+normalBlock/2])*float64(z[i+normalBlock/2]) - 1)
		}
	}
	for _, c := range []struct {
		name                string
		sum, mean, variance float64
	}{
		{"mean", m[1], 0, 1},
		{"second moment", m[2], n, 2},
		{"third moment", m[3], 0, 15},
		{"fourth moment", m[4], 3 * n, 96},
		{"neighbours", next, 0, 1},
		{"squares of a pair", pair * math.Sqrt2, 0, 6},
	} {
		if s := (c.sum - c.mean) / math.Sqrt(n*c.variance); math.Abs(s) > 4.8916 {
			t.Errorf("%s: z = %.2f", c.name, s)
		}
	}
}

// Null: χ² with 399 degrees of freedom over cells of equal probability; n = 2²².
// 541.7 has false alarm 1e-6 (Wilson–Hilferty). Catches a dent of 1 % in a cell.
func TestNormalLaw(t *testing.T) {
	const n, cells = 1 << 22, 400
	var count [cells]float64
	for _, v := range draw(testKey(3), 0, n) {
		count[min(cells-1, int(cells*0.5*math.Erfc(-float64(v)/math.Sqrt2)))]++
	}
	var chi float64
	for _, c := range count {
		d := c - float64(n)/cells
		chi += d * d / (float64(n) / cells)
	}
	if chi > 541.7 {
		t.Errorf("χ² = %.1f on %d degrees of freedom", chi, cells-1)
	}
}

// Beyond 5.5σ: n = 2³⁰ values would be needed to see 41; so the radius words are
// drawn as they are given that u < 2⁻²⁰, with known probability, and the law of
// |value| there is compared with the normal tail. Uniforms of 24 bits would give
// nothing beyond 5.77 and lumps before; each |z| ≤ 4.8916 has false alarm 1e-6.
func TestNormalTailsBeyondTheReachOf24Bits(t *testing.T) {
	const blocks, given = 1 << 15, 20
	rng := rand.New(rand.NewChaCha8(testKey(4)))
	words := make([]byte, normalBytes)
	z := make([]float32, normalBlock)
	levels := []float64{5.5, 5.8, 6.0, 6.5, 7.0}
	count := make([]float64, len(levels))
	distinct := map[float32]bool{}
	for range blocks {
		for i := 0; i < normalBytes; i += 4 {
			w := rng.Uint32()
			if i < normalBytes/4 {
				w >>= given
			}
			binary.LittleEndian.PutUint32(words[i:], w)
		}
		active.normals(z, words, 1)
		for _, v := range z {
			for i, level := range levels {
				if math.Abs(float64(v)) > level {
					count[i]++
				}
			}
			if v > 5.77 {
				distinct[v] = true
			}
		}
	}
	// A value beyond a level > √(2·20·ln 2) = 5.27 has a radius beyond it, so
	// u < 2⁻²⁰: its probability given that is 2²⁰ times the plain one.
	for i, level := range levels {
		p := math.Erfc(level/math.Sqrt2) * (1 << given)
		n := float64(blocks * normalBlock)
		// The two values of a pair are hardly ever both beyond: counts are binomial.
		if s := (count[i] - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(s) > 4.8916 {
			t.Errorf("beyond %v: %v of %v, expected %.1f, z = %.2f", level, count[i], n, n*p, s)
		}
	}
	// What such a test is for: cut to 24 bits, no radius word reaches further.
	for h := range uint32(1 << 16) {
		if r := radius(h<<7|1<<6, 0); r > 5.89 {
			t.Fatalf("24 bits reach %v", r)
		}
	}
	if got := float64(len(distinct)); got < 0.9*count[1]/2 {
		t.Errorf("%v distinct values beyond 5.77 among some %v: lumps", got, count[1]/2)
	}
}

func TestNormalStreamsDoNotRepeat(t *testing.T) {
	const n = 1 << 16
	streams := map[string][]float32{
		"first":        draw(testKey(5), 0, n),
		"later":        draw(testKey(5), n, n),
		"other key":    draw(testKey(6), 0, n),
		"far":          draw(testKey(5), 1<<60, n),
		"one bit away": draw(func() [32]byte { k := testKey(5); k[31] ^= 1; return k }(), 0, n),
	}
	for a, x := range streams {
		for b, y := range streams {
			if a >= b {
				continue
			}
			var dot float64
			same := 0
			for i := range x {
				dot += float64(x[i]) * float64(y[i])
				if x[i] == y[i] {
					same++
				}
			}
			// Null: independent; |z| ≤ 4.8916. A float32 meets its like about 1e-7 of the time.
			if math.Abs(dot) > 4.8916*math.Sqrt(n) || same > 3 {
				t.Errorf("%s and %s: correlation %.2f σ, %d equal", a, b, dot/math.Sqrt(n), same)
			}
		}
	}
}

// However the values are cut, value i is value i; Add is Fill added.
func TestNormalIsAFunctionOfKeyAndIndex(t *testing.T) {
	const n = 5000
	s := NewNormal(testKey(7))
	want := make([]float32, n)
	s.Fill(want, 0, 0.5)
	got := make([]float32, n)
	var wait sync.WaitGroup
	rng := rand.New(rand.NewPCG(8, 8))
	for lo := 0; lo < n; {
		hi := min(n, lo+rng.IntN(700))
		from := lo
		wait.Go(func() { s.Fill(got[from:hi], uint64(from), 0.5) })
		lo = hi
	}
	wait.Wait()
	if !slices.Equal(got, want) {
		t.Error("values depend on how they were asked for")
	}
	for i := range got {
		got[i] = 1
	}
	s.Add(got, 0, 0.5)
	for i := range got {
		if got[i] != 1+want[i] {
			t.Fatalf("Add: value %d is %v, want %v", i, got[i], 1+want[i])
		}
	}
	again := make([]float32, n)
	NewNormal(testKey(7)).Fill(again, 0, 0.5)
	if !slices.Equal(again, want) {
		t.Error("the same key gave other noise")
	}
}

func TestNormalScale(t *testing.T) {
	if got := roundUp(0.1); float64(got) < 0.1 || float64(got) > 0.1*(1+0x1p-23) {
		t.Errorf("0.1 rounded up to %v", got)
	}
	if got := roundUp(0.5); got != 0.5 {
		t.Errorf("0.5 rounded up to %v", got)
	}
	zero := []float32{3, 4}
	NewNormal(testKey(8)).Add(zero, 0, 0)
	if !slices.Equal(zero, []float32{3, 4}) {
		t.Errorf("no noise changed %v", zero)
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(-1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("standard deviation %v: no panic", bad)
				}
			}()
			NewNormal(testKey(8)).Fill(zero, 0, bad)
		}()
	}
}
