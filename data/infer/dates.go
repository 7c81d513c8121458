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

// asDates says that the doublings of a hull hold dates, and beside them nothing but noise.
func (h hull) asDates(coarse []float64) bool {
	d := bin(dateUnit, 1)
	return h.first >= d-1 && h.first <= d && h.last == d && coarse[d] >= .8*mass(coarse, h)
}

// year is that of a number which stands for a date.
func year(v float64) int {
	return min(max(int(math.Floor(firstYear+(v/dateUnit-1)*years)), firstYear), firstYear+years-1)
}
