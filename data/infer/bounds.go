package infer

import "math"

// Range is what histograms say of the numbers of a column.
type Range struct {
	// Found is false where the noise hides the numbers, or there are none.
	Found bool
	// Lower and Upper are bounds beyond which few numbers lie. They are extrapolated: 1 % of a few thousand
	// cells is less than the noise on a bin.
	Lower, Upper float64
	// Total is about how many numbers there are, with a standard deviation of TotalDev.
	Total, TotalDev float64
	// LogLike says that the numbers are spread over doublings: amounts.
	LogLike bool
	// HeavyTailed says that they are amounts from 0 on that reach a hundred times beyond their median.
	HeavyTailed bool
	// Zero is about how many are 0 (smaller than 2^-12), and Ones about how many of the rest lie in [1, 2).
	Zero, Ones float64
	// OnlyZero and ZeroOne say that nothing but 0, or 0 and numbers in [1, 2), was found for certain.
	OnlyZero, ZeroOne bool
	// Beyond says that some doubling other than [1, 2) certainly holds numbers.
	Beyond bool
	// Dates says that they are dates, from about one of the years FromYear to ToYear.
	Dates            bool
	FromYear, ToYear int
	// Point says that no two different numbers were told apart.
	Point bool
}

// hull is the bins from first to last of a histogram.
type hull struct{ cut, first, last int }

func (h hull) bins() float64 { return float64(h.last - h.first + 1) }

func (h hull) ends() (lower, upper float64) {
	lower, _ = edges(h.first, h.cut)
	_, upper = edges(h.last, h.cut)
	return lower, upper
}

// Read finds the range of a column from its noisy bins, whose noise has standard deviation sd.
//
// The coarse histogram shows which doublings hold numbers. Where these are many and of one sign, or hold
// 0, the numbers are amounts, and the doublings are as narrow as bounds need to be; unless the
// masses of small numbers say that the numbers go through 0, and that the noise hides those of the
// other sign. Else the finer histograms are looked at within the doublings, as long as they show
// nearly all of the total above the noise of their bins.
func Read(counts []float64, sd float64) Range {
	by := make([][]float64, len(cuts))
	for i, cut := range cuts {
		by[i], counts = counts[:size(cut)], counts[size(cut):]
	}
	coarse := by[0]
	h, ok := doublingsOf(coarse, sd)
	if !ok {
		return Range{}
	}
	r := Range{Found: true, Zero: coarse[zero(1)], Ones: coarse[bin(1, 1)]}
	r.Total, r.TotalDev = mass(coarse, h), sd*math.Sqrt(h.bins())
	lower, upper := h.ends()
	dates, certain := asDates(coarse, sd)
	if dates && !certain {
		return Range{} // no quantity is as large as that
	}
	if r.Dates = dates; r.Dates {
		h.first, h.last = bin(dateUnit, 1), bin(dateUnit, 1)
		lower, upper = h.ends()
		r.Total, r.TotalDev = mass(coarse, h), sd
	}
	r.OnlyZero = lower == 0 && upper == 0
	one := bin(1, 1)
	beyond := hull{h.cut, one + 1, max(h.last, one)}
	r.ZeroOne = lower == 0 && coarse[one] > 3.6*sd && mass(coarse, beyond) <= 3*sd*math.Sqrt(beyond.bins())
	for i, n := range coarse {
		r.Beyond = r.Beyond || i != zero(1) && i != one && n > 4.5*sd
	}
	r.read(by, h, sd)
	// Where a hundredth of the numbers stands out of the noise, the finer bins show where amounts end.
	if r.LogLike && r.fine(sd) && !r.OnlyZero {
		if upper > 0 {
			r.Upper = math.Min(r.Upper, 1.15*end(by[1], h, sd, false))
		} else {
			r.Lower = math.Max(r.Lower, -1.15*end(by[1], h, sd, true))
		}
	}
	return r
}

// fine says that a hundredth of the numbers stands out of the noise on a bin.
func (r *Range) fine(sd float64) bool { return .01*r.Total > 3*sd }

// read finds the bounds within the doublings of a hull.
func (r *Range) read(by [][]float64, h hull, sd float64) {
	coarse := by[0]
	lower, upper := h.ends()
	switch {
	case r.OnlyZero:
		r.Lower, r.Upper = 0, 1
		return
	case lower == 0:
		r.LogLike, r.Lower, r.Upper, r.HeavyTailed = true, 0, 2.5*upper, heavy(coarse, h, r.Total)
		return
	case upper == 0:
		r.LogLike, r.Lower, r.Upper = true, 2.5*lower, 0
		return
	case lower > 0 && upper >= 16*lower:
		if r.LogLike = !through(coarse, h, sd, false); r.LogLike {
			r.Lower, r.Upper, r.HeavyTailed = lower/2, 2.5*upper, heavy(coarse, h, r.Total)
		} else {
			r.Lower, r.Upper = -upper/2, 2*upper
			if none(coarse, h, true) {
				r.Lower = 0
			}
		}
		return
	case upper < 0 && lower <= 16*upper:
		if r.LogLike = !through(coarse, h, sd, true); r.LogLike {
			r.Lower, r.Upper = 2.5*lower, upper/2
		} else {
			r.Lower, r.Upper = 2*lower, -lower/2
			if none(coarse, h, false) {
				r.Upper = 0
			}
		}
		return
	}
	doublings := h
	for i := 1; i < len(cuts); i++ {
		ratio := cuts[i] / cuts[i-1]
		// The bins of one histogram within those of the one before.
		inner := hull{cuts[i], finer(h.first, h.cut, ratio, false), finer(h.last, h.cut, ratio, true)}
		m := inner.bins()
		near, far := 2.2, 3.
		if r.fine(sd) { // what is missed is little, and what is taken for nothing makes it wide
			near, far = 3, 4
		}
		narrow := grow(by[i], inner, sd, near, far)
		if i > 1 { // what the bins of a sixteenth of a doubling show is not lost among finer ones
			for j := h.first; j <= h.last; j++ {
				first, last := finer(j, h.cut, ratio, false), finer(j, h.cut, ratio, true)
				if by[i-1][j] > 3*sd && (last < narrow.first || first > narrow.last) {
					narrow.first, narrow.last = min(narrow.first, first), max(narrow.last, last)
				}
			}
		}
		if mass(by[i], narrow) < .9*r.Total-sd*math.Sqrt(m) || sd*math.Sqrt(m) > .2*r.Total {
			break
		}
		h = narrow
	}
	first, last := h.ends()
	r.Point = h.cut == cuts[len(cuts)-1] && h.first == h.last
	width := widen * (last - first)
	r.Lower, r.Upper = first-width, last+width
	if r.Dates {
		r.FromYear, r.ToYear = year(r.Lower), year(r.Upper)
		return
	}
	// Numbers within two doublings do not come near 0, and what shows no other sign has none.
	if lower > 0 && (upper <= 4*lower || none(coarse, doublings, true)) {
		r.Lower = math.Max(r.Lower, 0)
	} else if upper < 0 && (lower >= 4*upper || none(coarse, doublings, false)) {
		r.Upper = math.Min(r.Upper, 0)
	}
}

// heavy says that the upper end is a hundred times the median of what the doublings hold, or more.
func heavy(coarse []float64, h hull, total float64) bool {
	_, top := h.ends()
	sum := 0.0
	for i := h.first; i <= h.last; i++ {
		if sum += coarse[i]; sum >= total/2 {
			_, median := edges(i, h.cut)
			return top >= 100*math.Max(median, .001)
		}
	}
	return false
}

// widen is by how much of its width a hull is widened on either side: what it misses is small beside
// the noise, and unknown.
const widen = .6

// through says of doublings of one sign that the numbers in them go on beyond 0: below the doubling that
// holds most and the next, masses fall by half from each to the next smaller one, as they do where the density
// at 0 is not 0. Those of amounts fall faster further down, or hardly at first. Where the noise leaves that open it says so of
// what may be either: bounds that reach beyond 0 hold amounts too.
func through(coarse []float64, h hull, sd float64, negative bool) bool {
	best, step := h.first, -1
	for i := h.first; i <= h.last; i++ {
		if coarse[i] > coarse[best] {
			best = i
		}
	}
	if negative {
		step = 1
	}
	next := coarse[best+step]
	if !(next > 0) {
		return false
	}
	below, far := 0.0, 0.0 // relative to the next doubling: about 1/2 + … + 1/32, and 1/8 + 1/16 + 1/32
	for j := 2; j <= 6; j++ {
		if i := best + j*step; i != zero(1) && (i < zero(1)) == negative {
			below += coarse[i] / next
			if j >= 4 {
				far += coarse[i] / next
			}
		}
	}
	noise := sd / next
	return below > .5 && below < 1.6+2*math.Sqrt(5)*noise && far > .08-1.6*math.Sqrt(3)*noise
}

// end is how far the numbers of a hull of doublings reach by a finer histogram, from its largest bin within the
// hull's two outer doublings on.
func end(fine []float64, h hull, sd float64, negative bool) float64 {
	ratio := cuts[1]
	within := hull{cuts[1], finer(max(h.last-1, h.first), h.cut, ratio, false), finer(h.last, h.cut, ratio, true)}
	if negative {
		within = hull{cuts[1], finer(h.first, h.cut, ratio, false), finer(min(h.first+1, h.last), h.cut, ratio, true)}
	}
	lower, upper := grow(fine, within, sd, 3, 4).ends()
	if negative {
		return -lower
	}
	return upper
}

// none says that the other side of 0 shows nothing at all: the sum of its five doublings from the size of
// the hull's end on down is below 0.
func none(coarse []float64, h hull, negative bool) bool {
	end, step := 2*zero(1)-h.last, 1
	if !negative {
		end, step = 2*zero(1)-h.first, -1
	}
	sum := 0.0
	for j := range 5 {
		sum += coarse[end+j*step]
	}
	return sum < 0
}

// doublingsOf is the hull of the doublings that hold numbers: those beyond 4.5 deviations, and those
// beyond 3.6 that have a neighbour beyond 2; with neighbours beyond 2.
func doublingsOf(coarse []float64, sd float64) (h hull, ok bool) {
	h = hull{cuts[0], len(coarse), -1}
	at := func(i int) float64 {
		if i < 0 || i >= len(coarse) {
			return 0
		}
		return coarse[i]
	}
	for i, n := range coarse {
		if n > 4.5*sd || n > 3.6*sd && max(at(i-1), at(i+1)) > 2*sd {
			h.first, h.last = min(h.first, i), i
		}
	}
	if h.last < 0 {
		return h, false
	}
	for at(h.first-1) > 2*sd {
		h.first--
	}
	for at(h.last+1) > 2*sd {
		h.last++
	}
	return h, true
}

// grow is the hull of what the bins within a hull hold: from the largest bin on, to either side, by
// the next 1, 2, 4 … bins as long as their sum is above the noise on it: near deviations, or far, where
// they are more than the hull holds already. Of what is taken, the outer half is dropped again while it
// is within the noise by itself.
func grow(counts []float64, within hull, sd, near, far float64) hull {
	best := within.first
	for i := within.first; i <= within.last; i++ {
		if counts[i] > counts[best] {
			best = i
		}
	}
	h := hull{within.cut, best, best}
	above := func(first, last int, z float64) bool {
		block := hull{h.cut, first, last}
		return last >= first && mass(counts, block) > z*sd*math.Sqrt(block.bins())
	}
	for w := 1; w < 2*int(within.bins()); {
		z := near
		if float64(w) > h.bins() {
			z = far
		}
		taken := false
		if first := max(h.first-w, within.first); above(first, h.first-1, z) {
			for half := (h.first - first) / 2; half > 0 && !above(first, first+half-1, 1); half = (h.first - first) / 2 {
				first += half
			}
			h.first, taken = first, true
		}
		if last := min(h.last+w, within.last); above(h.last+1, last, z) {
			for half := (last - h.last) / 2; half > 0 && !above(last-half+1, last, 1); half = (last - h.last) / 2 {
				last -= half
			}
			h.last, taken = last, true
		}
		if w *= 2; taken {
			w = 1
		}
	}
	return h
}

// finer is the first or last bin within a bin of a coarser histogram.
func finer(i, cut, ratio int, last bool) int {
	z, fine := zero(cut), zero(cut*ratio)
	switch {
	case i == z:
		return fine
	case i > z:
		at := fine + 1 + (i-z-1)*ratio
		if last {
			at += ratio - 1
		}
		return at
	default:
		at := fine - 1 - (z-i-1)*ratio
		if !last {
			at -= ratio - 1
		}
		return at
	}
}

func mass(counts []float64, h hull) (total float64) {
	for _, c := range counts[h.first : h.last+1] {
		total += c
	}
	return total
}
