package bound

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// drawn are canaries whose score moves by mu when they are in.
func drawn(n int, mu float64, seed uint64) Canaries {
	rng := rand.New(rand.NewPCG(seed, 1))
	var c Canaries
	for range n {
		in, v := rng.IntN(2) == 1, rng.NormFloat64()
		if in {
			v += mu
		}
		c.Score, c.In = append(c.Score, v), append(c.In, in)
	}
	return c
}

// Null hypothesis: canaries do not move scores, ε = 0. 95 % bounds exceed 0 in 5 % of 200
// repeats at most, so in more than 28 of them with probability below 1e-6. Power: at
// mu = 1 with 5,000 canaries (an ε of about 4) declared guesses show more than 1.
func TestEpsilonBest(t *testing.T) {
	wrong := 0
	for seed := range uint64(200) {
		b, err := drawn(500, 0, seed).EpsilonBest(25, 0, Printed)
		if err != nil {
			t.Fatal(err)
		}
		if b.Epsilon > 0 {
			wrong++
		}
	}
	if wrong > 28 {
		t.Errorf("%d of 200 bounds exceed the truth", wrong)
	}
	each := DeclaredFor(5000, 1, 1e-8, Printed)
	b, err := drawn(5000, 1, 1).EpsilonBest(each, 1e-8, Printed)
	if err != nil || b.Epsilon < 1 || b.Epsilon > 4.5 {
		t.Errorf("%d guesses of a kind: %+v, %v", each, b, err)
	}
	// Perfect separation is seen by the half that chooses its guesses.
	perfect, err := drawn(5000, 1e6, 1).EpsilonBest(each, 1e-8, Conviction)
	if err != nil || perfect.Epsilon < 5 {
		t.Errorf("%+v, %v", perfect, err)
	}
	if b.Confidence != Printed || b.Correction != BestOfTwo {
		t.Errorf("%+v", b)
	}
}

func TestEpsilonDeclared(t *testing.T) {
	c := Canaries{Score: []float64{1, 2, 3, 4, 5, 6, 7, 8}, In: []bool{false, false, true, false, true, true, false, true}}
	b, err := c.EpsilonDeclared(2, 0, Printed)
	if err != nil || b.Guesses != (Guesses{Canaries: 8, Made: 4, Right: 3}) || b.Guesser != (Guesser{Upper: 7, Lower: 2}) {
		t.Errorf("%+v, %v", b, err)
	}
	for name, each := range map[string]int{"none": 0, "more than half": 5} {
		if _, err := c.EpsilonDeclared(each, 0, Printed); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.Score[0] = math.NaN()
	if _, err := c.EpsilonDeclared(2, 0, Printed); !errors.Is(err, ErrInput) {
		t.Errorf("NaN: %v", err)
	}
}

// The number of guesses is usable whatever it is asked for.
func TestDeclaredFor(t *testing.T) {
	for _, mu := range []float64{0, 1e-3, 0.3, 1, 5, 100, math.Inf(1), math.NaN()} {
		for _, n := range []int{8, 100, 5000} {
			if each := DeclaredFor(n, mu, 0, Printed); each < 1 || each > n/2 {
				t.Errorf("mu %g, %d canaries: %d", mu, n, each)
			}
		}
	}
}
