package bound

import (
	"fmt"
	"io"
	"strconv"
)

// Figure writes a number with three digits.
func Figure(x float64) string { return fmt.Sprintf("%.3g", x) }

// Percent writes 0.999 as 99.9 %.
func Percent(x float64) string { return strconv.FormatFloat(100*x, 'g', 6, 64) + " %" }

// Words says whether a claim was rejected.
func Words(convicted bool) string {
	if convicted {
		return "REJECTED"
	}
	return "not rejected"
}

// WriteNotes writes each note on a line of its own.
func WriteNotes(w io.Writer, notes []string) error {
	for _, n := range notes {
		if _, err := fmt.Fprintln(w, "note:", n); err != nil {
			return err
		}
	}
	return nil
}
