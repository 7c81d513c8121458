package bound

import (
	"fmt"
	"strconv"
)

// Figure writes a number with three digits.
func Figure(x float64) string { return fmt.Sprintf("%.3g", x) }

// Percent writes 0.999 as 99.9 %.
func Percent(x float64) string { return strconv.FormatFloat(100*x, 'g', 6, 64) + " %" }
