package identity

import (
	"math"
	"slices"
)

// Likeness is the result of a comparison.
type Likeness int

const (
	Different Likeness = iota
	Similar            // mostly the same records, or the same values in two columns or more
	Equal              // the same records and the same names of columns
)

// Verdict is the result of Compare. The shares are as private as the tables, for tests and the ledger's own
// use: only the Likeness may be released.
type Verdict struct {
	Likeness Likeness
	// Known is the estimated share of the known table's distinct records that are in the other table, and
	// Found the share of the other's that are in the known one. Both are 0 for tables that are alike by their
	// columns alone.
	Known, Found float64
}

// fewest is the number of values that were seen once from which their natural overlap is estimated.
const fewest = 64

// Alike returns the Likeness that Compare finds.
func Alike(known, found *Print) Likeness { return Compare(known, found).Likeness }

// Compare reports how a new table resembles a known one, from prints under one key.
//
// Natural overlap is not likeness: two independent samples of one population share the combinations of cells that
// are common in it. There are three tests, each of which may establish likeness:
//
//   - Records that a table holds once, when the sketch has 64 or more: in an independent sample of s times the size
//     such a record occurs with probability at most 1−exp(−s·2N₂/N₁), where N₁ and N₂ count records seen once and
//     twice (Good 1953; the mean over records is less, by Jensen). The test establishes likeness if the share is
//     above the middle between this probability and 1 by 5 standard deviations.
//   - Counts of records: T = Σ (x−sy)²/(s(x+y)) is about its number of terms for independent samples, and near 0 for
//     copies. The test establishes likeness if the probability of T, given the sums x+y, is below 10⁻⁶ by Chernoff's
//     bound.
//   - The first test on the values of single columns whose values are mostly different, if two columns or more agree:
//     these remain when columns are added, dropped or renamed. A single column may be an identifier or a time, which
//     other tables share. Vectors are one column and need no second.
func Compare(known, found *Print) Verdict {
	if known.Kind != found.Kind || known.Rows == 0 || found.Rows == 0 {
		return Verdict{}
	}
	if known.Identity == found.Identity {
		return Verdict{Equal, 1, 1}
	}
	o := overlap(&known.records, &found.records)
	v := Verdict{Different, o.share(0), o.share(1)}
	if o.singles(0) || o.singles(1) || o.counts() {
		v.Likeness = Similar
		return v
	}
	matches := 0
	taken := make([]bool, len(found.columns))
	for i := range known.columns {
		for j := range found.columns {
			if taken[j] {
				continue
			}
			if o := overlap(&known.columns[i], &found.columns[j]); o.singles(0) || o.singles(1) {
				taken[j] = true
				matches++
				break
			}
		}
	}
	if matches >= 2 || matches == 1 && known.Kind == Vectors {
		return Verdict{Likeness: Similar}
	}
	return v
}

// Shared reports whether two tables have records in common, even if these are few among many others. Compare ignores
// such overlap, since a table may share some rows with another without being a copy of it.
//
// In independent samples of any two populations, the mean number of records that both hold once is at most R = Σ
// ab·exp(−a−b), where a and b are the expected counts of a record. By Cauchy and Schwarz R ≤ 2√(N₂M₂), where N₂ and M₂ are
// the mean numbers of records seen twice. Shared reports true if the probability of the observed number is below 10⁻⁶ by
// Chernoff's bound for sums of independent events. This takes 60 common records in the sketches, or more if tables have
// equal rows by nature. One answer reveals nothing about a single record, but somebody who may ask again, with rows left
// out, learns of each row of his own whether it is in the other table. So call it only for those who can read both tables.
func Shared(a, b *Print) bool {
	if a.Kind != b.Kind {
		return false
	}
	once, twice := 0, [2]int{}
	for _, p := range overlap(&a.records, &b.records).pairs {
		if p == [2]uint32{1, 1} {
			once++
		}
		for side := range p {
			if p[side] == 2 {
				twice[side]++
			}
		}
	}
	mean, k := 2*math.Sqrt(upper(twice[0])*upper(twice[1])), float64(once)
	return k > mean && k*math.Log(k/mean)-k+mean > 6*math.Ln10
}

// both is what two sketches hold beneath the bound of both, where each is complete.
type both struct {
	of    [2]*sample
	pairs [][2]uint32 // multiplicities of the values that one or both hold
}

func overlap(a, b *sample) *both {
	o := &both{of: [2]*sample{a, b}}
	bound := min(a.bound, b.bound)
	i, j := 0, 0
	for {
		x, y := a.at(i, bound), b.at(j, bound)
		switch {
		case x == nil && y == nil:
			return o
		case y == nil || x != nil && x.value < y.value:
			o.pairs = append(o.pairs, [2]uint32{x.count, 0})
			i++
		case x == nil || y.value < x.value:
			o.pairs = append(o.pairs, [2]uint32{0, y.count})
			j++
		default:
			o.pairs = append(o.pairs, [2]uint32{x.count, y.count})
			i, j = i+1, j+1
		}
	}
}

// at is the item at i, nil beyond the bound.
func (s *sample) at(i int, bound uint64) *item {
	if i < len(s.items) && s.items[i].value <= bound {
		return &s.items[i]
	}
	return nil
}

// share is that of the distinct values of one side that the other has.
func (o *both) share(side int) float64 {
	all, common := 0, 0
	for _, p := range o.pairs {
		if p[side] > 0 {
			all++
			if p[1-side] > 0 {
				common++
			}
		}
	}
	return float64(common) / float64(max(all, 1))
}

// singles tests the values that one side holds once against chance.
func (o *both) singles(side int) bool {
	mine, other := o.of[side], o.of[1-side]
	once, twice := mine.frequencies()
	otherOnce, _ := other.frequencies()
	all, common, rare, pairs := 0, 0, 0, 0
	for _, p := range o.pairs {
		if p[1-side] == 2 {
			pairs++
		}
		if p[side] != 1 {
			continue
		}
		all++
		if p[1-side] > 0 {
			common++
		}
		if p[1-side] == 1 {
			rare++
		}
	}
	times := float64(other.rows) / float64(mine.rows)
	if once >= fewest && beyondChance(common, all, -math.Expm1(-times*2*upper(twice)/float64(once))) {
		return true
	}
	// A small part of a table sees too few values twice to know what is natural; the large table knows. Of what it
	// holds once, an independent sample holds in the mean at most 2N₂ times the ratio of sizes.
	return otherOnce >= fewest && beyondChance(rare, all, 2*upper(pairs)/times/float64(max(all, 1)))
}

// frequencies counts the values of a sketch that were seen once and twice.
func (s *sample) frequencies() (once, twice int) {
	for _, x := range s.items {
		switch x.count {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	return once, twice
}

// upper bounds the mean of a Poisson variable that came out as n, but for a chance of about 10⁻⁶.
func upper(n int) float64 { return float64(n) + 4.75*math.Sqrt(float64(n)) + 14 }

// beyondChance says that more than the middle between chance and 1 are common, by 5 standard deviations.
func beyondChance(common, all int, chance float64) bool {
	middle := (1 + chance) / 2
	if all == 0 || middle >= 1 {
		return false
	}
	return float64(common)/float64(all) > middle+5*math.Sqrt(middle*(1-middle)/float64(all))
}

// counts tests whether multiplicities agree better than chance allows.
func (o *both) counts() bool {
	s := float64(o.of[0].rows) / float64(o.of[1].rows)
	share := s / (1 + s) // of x+y that falls to x
	sums := map[uint64]int{}
	var t float64
	var largest uint64
	for _, p := range o.pairs {
		x, y := float64(p[0]), float64(p[1])
		m := uint64(p[0]) + uint64(p[1])
		t += (x - s*y) * (x - s*y) / (s * (x + y))
		sums[m]++
		largest = max(largest, m)
	}
	// s is estimated from the same counts, which takes one degree of freedom: the largest.
	if sums[largest]--; len(o.pairs) < 2 {
		return false
	}
	terms := make([]term, 0, len(sums))
	for m, n := range sums {
		if n > 0 {
			terms = append(terms, newTerm(m, n, share))
		}
	}
	slices.SortFunc(terms, func(a, b term) int { return int(a.sum) - int(b.sum) })
	// P(T ≤ t) ≤ exp(λt)·E exp(−λT) for every λ > 0.
	for lambda := 0.125; lambda < 1e9; lambda *= 2 {
		log := lambda * t
		for i := range terms {
			log += float64(terms[i].times) * terms[i].transform(lambda)
		}
		if log < math.Log(1e-6) {
			return true
		}
	}
	return false
}

// term is the law of one summand of T: x is binomial given x+y.
type term struct {
	sum    uint64
	times  int
	share  float64
	values []float64 // of the summand, nil for large sums
	chance []float64
	mode   float64 // chance of the most likely x
}

func newTerm(sum uint64, times int, share float64) term {
	c := term{sum: sum, times: times, share: share}
	m, s := float64(sum), share/(1-share)
	if c.mode = 1; m*share*(1-share) > 1 {
		c.mode = 1 / math.Sqrt(2*math.Pi*m*share*(1-share)) * 1.1
	}
	if sum > 64 {
		return c
	}
	whole, _ := math.Lgamma(m + 1)
	for x := 0.0; x <= m; x++ {
		a, _ := math.Lgamma(x + 1)
		b, _ := math.Lgamma(m - x + 1)
		c.chance = append(c.chance, math.Exp(whole-a-b+x*math.Log(share)+(m-x)*math.Log1p(-share)))
		c.values = append(c.values, (x-s*(m-x))*(x-s*(m-x))/(s*m))
	}
	return c
}

// transform is log E exp(−λX). For large sums it is bounded by the integral of the normal density, which gives
// (1+2λ)^(−1/2), and the largest chance: what a sum of a function with one peak exceeds its integral by.
func (c *term) transform(lambda float64) float64 {
	if c.values == nil {
		return math.Log(min(1, 1/math.Sqrt(1+2*lambda)+c.mode))
	}
	// The smallest value is taken out, or all terms vanish for a large λ.
	least, sum := slices.Min(c.values), 0.0
	for i, v := range c.values {
		sum += c.chance[i] * math.Exp(-lambda*(v-least))
	}
	return math.Log(min(1, sum)) - lambda*least
}
