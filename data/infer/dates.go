package infer

import (
	"math"
	"time"
)

// Dates share the bins of numbers, so that they cost nothing: a date of the years from firstYear to
// firstYear+255 is a number of the last doubling but one, where hardly any quantity lies, and a bin of the finest
// histogram is a year.
const (
	firstYear = 1900
	years     = 256
	dateUnit  = 1 << (most - 1)
)

// dateLayouts are those of ISO dates, with and without a time of day.
var dateLayouts = []string{"2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04"}

// dateNumber is the number that stands for a date.
func dateNumber(cell string) (v float64, ok bool) {
	if len(cell) < len("2006-01-02") || cell[4] != '-' || cell[7] != '-' {
		return 0, false
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, cell); err == nil {
			year := float64(t.Year()) + float64(t.YearDay()-1)/366
			return dateUnit * (1 + (math.Min(math.Max(year, firstYear), firstYear+years-1)-firstYear)/years), true
		}
	}
	return 0, false
}

// asDates says that numbers are dates: no other doubling holds as many. They are certain where it holds more than
// twice what any other does, which may be noise.
func asDates(coarse []float64, sd float64) (dates, certain bool) {
	d, other := bin(dateUnit, 1), 0.0
	for i, n := range coarse {
		if i != d {
			other = math.Max(other, n)
		}
	}
	return coarse[d] > other, coarse[d] > math.Max(2*other, 4.5*sd)
}

// year is that of a number which stands for a date.
func year(v float64) int {
	return min(max(int(math.Floor(firstYear+(v/dateUnit-1)*years)), firstYear), firstYear+years-1)
}
