package space

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
)

const (
	// maxDimensions and maxValues bound a file: a gene per layer of a deep net fits.
	maxDimensions = 256
	maxValues     = 4096
	// maxWhole is the largest whole number that float64 tells from its neighbors.
	maxWhole = 1 << 53
	// maxNames keeps a subset in one word.
	maxNames = 62
)

// domain is what one gene may be. A gene is a uint64: the position in values, the
// number of steps above low, the set as bits, or the bits of a real number.
type domain struct {
	kind   Kind
	values []Value // listed values

	low, step   float64 // whole numbers
	high        float64 // real numbers: low to high
	log         bool
	names       []string // subset
	least, most int

	// count is the number of choices; 0 for a continuous range.
	count uint64
}

// inactive is the gene of a dimension that is not active. It is no position, no set
// of at most 62 names, and the bits of a NaN.
const inactive = math.MaxUint64

func (d *domain) continuous() bool { return d.count == 0 }

// at is the gene of rank r in [0, count).
func (d *domain) at(r uint64) uint64 {
	if d.names == nil {
		return r
	}
	return subsetAt(r, len(d.names), d.least, d.most)
}

// value is what a gene means.
func (d *domain) value(gene uint64) Value {
	switch {
	case d.values != nil:
		return d.values[gene]
	case d.names != nil:
		v := Value{kind: Set}
		for i, s := range d.names {
			if gene>>i&1 == 1 {
				v.set = append(v.set, s)
			}
		}
		return v
	case d.continuous():
		return NumberValue(math.Float64frombits(gene))
	}
	return NumberValue(d.low + float64(gene)*d.step)
}

// gene is the inverse of value; false where v is none of the choices.
func (d *domain) gene(v Value) (uint64, bool) {
	switch {
	case d.values != nil:
		i := slices.IndexFunc(d.values, v.Equal)
		return uint64(i), i >= 0
	case d.names != nil:
		var set uint64
		for _, s := range v.set {
			i := slices.Index(d.names, s)
			if i < 0 || set>>i&1 == 1 {
				return 0, false
			}
			set |= 1 << i
		}
		size := bits.OnesCount64(set)
		return set, v.kind == Set && d.least <= size && size <= d.most
	case v.kind != Number:
		return 0, false
	case d.continuous():
		return math.Float64bits(v.number), d.low <= v.number && v.number <= d.high
	}
	i := (v.number - d.low) / d.step
	return uint64(i), i >= 0 && i < float64(d.count) && i == math.Trunc(i)
}

// random is a gene uniform over the choices, or on the scale of a continuous range.
func (d *domain) random(src Source) uint64 {
	if !d.continuous() {
		return d.at(below(src, d.count))
	}
	u := unit(src)
	x := d.low + u*(d.high-d.low)
	if d.log {
		x = d.low * math.Exp(u*math.Log(d.high/d.low))
	}
	return math.Float64bits(min(max(x, d.low), d.high))
}

// domainOf checks a dimension's own choices. path leads to the dimension.
func domainOf(d *Dimension, path string) (*domain, *fault) {
	given := 0
	for _, is := range []bool{d.Values != nil, d.Range != nil, d.Subset != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, faultf(path, "give one of values, integers, reals, subset", "%s has its values in two ways", d.Name)
	case d.Range != nil:
		return rangeOf(d.Name, d.Range, path)
	case d.Subset != nil:
		return subsetOf(d.Name, d.Subset, path)
	case len(d.Values) == 0:
		return nil, faultf(path, "list them: "+d.Name+": [1, 2, 4]", "%s has no values", d.Name)
	case len(d.Values) > maxValues:
		return nil, faultf(path, "a range counts itself: {integers: [1, 5000]}", "%s lists %d values; at most %d can be listed", d.Name, len(d.Values), maxValues)
	}
	kind := d.Values[0].kind
	for i, v := range d.Values {
		at := fmt.Sprintf("%s.values.%d", path, i)
		switch {
		case v.kind != kind || v.kind == 0 || v.kind == Set:
			return nil, faultf(at, "numbers, words, or true and false; use a second dimension with when: for another kind", "%s lists both a %v and a %v", d.Name, v.kind, kind)
		case !utf8.ValidString(v.text):
			return nil, faultf(at, "save the file as UTF-8", "%s lists a word that is not UTF-8 text", d.Name)
		case v.kind == Number && (math.IsNaN(v.number) || math.IsInf(v.number, 0)):
			return nil, faultf(at, "leave it out", "%s lists a number that is not finite", d.Name)
		case slices.IndexFunc(d.Values, v.Equal) < i:
			return nil, faultf(at, "leave one out: a value twice would be drawn twice as often", "%s lists %v twice", d.Name, v)
		}
	}
	return &domain{kind: kind, values: slices.Clone(d.Values), count: uint64(len(d.Values))}, nil
}

func rangeOf(name string, r *Range, path string) (*domain, *fault) {
	at := path + ".reals"
	if r.Integer {
		at = path + ".integers"
	}
	step := r.Step
	if step == 0 {
		step = 1
	}
	switch {
	case !(r.Low < r.High) || math.IsInf(r.High-r.Low, 0):
		return nil, faultf(at, "the lower end first, as in [1, 64]", "%s: the range from %v to %v is empty", name, r.Low, r.High)
	case r.Log && !(r.Low > 0):
		return nil, faultf(at, "start above 0, or leave scale out", "%s: a log scale has no place for %v", name, r.Low)
	case r.Steps < 0 || r.Steps == 1 || r.Steps > maxValues:
		return nil, faultf(path+".steps", fmt.Sprintf("2 to %d, both ends included", maxValues), "%s cannot have %d steps", name, r.Steps)
	case r.Integer && (r.Low != math.Trunc(r.Low) || r.High != math.Trunc(r.High) || math.Abs(r.Low) > maxWhole || math.Abs(r.High) > maxWhole):
		return nil, faultf(at, "write reals: for numbers with a fraction", "%s: integers are whole numbers up to 2^53", name)
	case r.Step != 0 && (!r.Integer || r.Steps > 0 || r.Log || !(r.Step >= 1) || r.Step != math.Trunc(r.Step)):
		return nil, faultf(path+".step", "step is a whole number for integers on a linear scale; steps counts values", "%s: step has no meaning here", name)
	case r.Integer && r.Log && r.Steps == 0:
		return nil, faultf(at, "add steps: 7", "%s: whole numbers on a log scale need a number of steps", name)
	case r.Steps > 0:
		return steps(name, r, path)
	case r.Integer:
		return &domain{kind: Number, low: r.Low, step: step, count: uint64((r.High-r.Low)/step) + 1}, nil
	}
	return &domain{kind: Number, low: r.Low, high: r.High, log: r.Log}, nil
}

// steps lists evenly spaced values.
func steps(name string, r *Range, path string) (*domain, *fault) {
	d := &domain{kind: Number, count: uint64(r.Steps)}
	for i := range r.Steps {
		share := float64(i) / float64(r.Steps-1)
		x := r.Low + share*(r.High-r.Low)
		if r.Log {
			x = r.Low * math.Pow(r.High/r.Low, share)
		}
		switch {
		case i == r.Steps-1:
			x = r.High
		case r.Integer:
			x = math.Round(x)
		default:
			// 0.30000000000000004 would be another point than 0.3 and read worse.
			x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
		}
		v := NumberValue(x)
		if i > 0 && !(d.values[i-1].number < x) {
			return nil, faultf(path+".steps", "fewer steps, or a wider range", "%s: two of the %d steps are the same number after rounding", name, r.Steps)
		}
		d.values = append(d.values, v)
	}
	return d, nil
}

func subsetOf(name string, s *Subset, path string) (*domain, *fault) {
	at := path + ".subset"
	switch {
	case len(s.Of) == 0:
		return nil, faultf(at, "list them: {subset: [age, hours], size: [1, 2]}", "%s has no names to choose from", name)
	case len(s.Of) > maxNames:
		return nil, faultf(at, "group them, or list the sets worth trying as values", "%s lists %d names; at most %d can be listed", name, len(s.Of), maxNames)
	case s.Min < 0 || s.Max < s.Min || s.Max > len(s.Of):
		return nil, faultf(path+".size", fmt.Sprintf("size: [1, %d]", len(s.Of)), "%s: no set of %d names has a size from %d to %d", name, len(s.Of), s.Min, s.Max)
	}
	for i, n := range s.Of {
		if !utf8.ValidString(n) {
			return nil, faultf(at, "save the file as UTF-8", "%s lists a name that is not UTF-8 text", name)
		}
		if slices.Index(s.Of, n) < i {
			return nil, faultf(fmt.Sprintf("%s.%d", at, i), "leave one out", "%s lists %s twice", name, word(n))
		}
	}
	d := &domain{kind: Set, names: slices.Clone(s.Of), least: s.Min, most: s.Max}
	for size := s.Min; size <= s.Max; size++ {
		d.count += binomial(len(s.Of), size)
	}
	return d, nil
}

// binomial is C(n, k) for k ≤ n ≤ 62, by C(n, i+1) = C(n, i)·(n−i)/(i+1) in 128
// bits.
func binomial(n, k int) uint64 {
	k = min(k, n-k)
	c := uint64(1)
	for i := range k {
		hi, lo := bits.Mul64(c, uint64(n-i))
		c, _ = bits.Div64(hi, lo, uint64(i+1))
	}
	return c
}

// subsetAt is the set of rank r among those of least to most of n names: smaller sets
// first, then in the order of the combinatorial number system.
func subsetAt(r uint64, n, least, most int) uint64 {
	size := least
	for ; size < most; size++ {
		c := binomial(n, size)
		if r < c {
			break
		}
		r -= c
	}
	var set uint64
	for top := n - 1; size > 0; top-- {
		// Sets of this size without name top come first.
		if c := without(top, size); r >= c {
			r -= c
			set |= 1 << top
			size--
		}
	}
	return set
}

// without is the number of sets of a size among the first n names.
func without(n, size int) uint64 {
	if size > n {
		return 0
	}
	return binomial(n, size)
}
