package infer

import (
	"fmt"
	"math"
	"strconv"
)

// Forecast is what a release will show, by public facts alone, and the noise that it has.
type Forecast struct {
	// Rows is about how many rows there are, of RowsPerUnit at most for each unit, and Persons about
	// how many units, 0 where nothing is said: then each unit is taken to have all its rows.
	Rows        int64 `json:"rows"`
	RowsPerUnit int64 `json:"rows_per_unit"`
	Persons     int64 `json:"units,omitempty"`
	// Levels and Numbers are the numbers of columns that are asked for each.
	Levels  int `json:"columns_for_levels"`
	Numbers int `json:"columns_for_numbers"`
	// LevelDev is the standard deviation of the count of a level, which is released beyond Threshold; 0
	// where none is asked for.
	LevelDev  float64 `json:"level_stddev"`
	Threshold float64 `json:"level_threshold"`
	// BinDev is that of a bin: in a forecast, where only one column holds numbers; √n times as much for n.
	BinDev float64 `json:"bin_stddev"`
}

// Units is about how many units there are.
func (f *Forecast) Units() float64 {
	if f.Persons > 0 {
		return float64(f.Persons)
	}
	return float64(f.Rows) / float64(max(f.RowsPerUnit, 1))
}

// Holds95 is how many units a level needs to come out with a chance of 95 %; +Inf where none is asked for.
func (f *Forecast) Holds95() float64 {
	if f.LevelDev == 0 {
		return math.Inf(1)
	}
	return math.Ceil(f.Threshold + 1.645*f.LevelDev)
}

// Bounds is how many units the densest sixteenth of a doubling (of amounts: doubling) has to hold for a
// column to get bounds, where so many columns hold numbers; +Inf where none is asked for.
func (f *Forecast) Bounds(columns int) float64 {
	if f.BinDev == 0 {
		return math.Inf(1)
	}
	return math.Ceil(4 * f.BinDev * math.Sqrt(float64(columns)))
}

// Nothing says that nothing can come out: neither a level that everybody holds, nor bounds of one
// column in which everybody has the same number.
func (f *Forecast) Nothing() bool { return f.Holds95() > f.Units() && f.Bounds(1) > f.Units() }

// Lines say it in words, for what the units are called.
func (f *Forecast) Lines(units string) (lines []string) {
	n := f.Units()
	of := func(k float64) string {
		if k > n {
			return fmt.Sprintf("%s %s: more than there are", count(k), units)
		}
		return fmt.Sprintf("%s %s (%s)", count(k), units, shareOf(k, n))
	}
	if f.LevelDev > 0 {
		lines = append(lines, fmt.Sprintf("levels of %d columns: a level is released with probability 95 %% if at least %s hold it; counts within ±%s", f.Levels, of(f.Holds95()), count(1.96*f.LevelDev)))
	}
	if f.BinDev > 0 {
		text := "bounds: of a column whose densest sixteenth of a doubling (such as 36 to 38; of amounts, doubling) is held by at least " + of(f.Bounds(f.Numbers))
		if f.LevelDev > 0 && f.Numbers > 1 {
			few := max(f.Numbers/4, 1)
			text += fmt.Sprintf(", if all %d columns hold numbers; if %d do, by %s", f.Numbers, few, of(f.Bounds(few)))
		}
		lines = append(lines, text)
	}
	return lines
}

func count(x float64) string {
	s := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func shareOf(k, n float64) string {
	return strconv.FormatFloat(math.Max(0, math.Min(100, 100*k/n)), 'f', 0, 64) + " %"
}

func quoted(s string) string { return strconv.Quote(s) }
