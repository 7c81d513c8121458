package report

import (
	"math"
	"strconv"
	"strings"
)

// selectionCost says what the choice of attributes cost.
func selectionCost(k *Selection) string {
	switch {
	case k.Unpaid:
		return "used rows without charge"
	case k.Epsilon == 0:
		return "cost ε 0"
	case math.IsInf(float64(k.Epsilon), 1):
		return "no finite ε bounds the selection"
	}
	share := strconv.FormatFloat(math.Ceil(100*float64(k.Share)-1e-9), 'f', 0, 64) + "%"
	text := "cost ε " + up2(k.Epsilon) + ", " + share + " of the whole"
	if k.Together {
		text += ", training included"
	}
	return text
}

// selectionRows are the choice of attributes in full.
func selectionRows(k *Selection) []row {
	if k == nil {
		return nil
	}
	left := make([]string, len(k.LeftOut))
	for i, name := range k.LeftOut {
		left[i] = Plain(name)
	}
	text := "none"
	if len(left) > 0 {
		text = strings.Join(left, ", ")
	}
	return []row{
		{"attributes left out", text},
		{"how attributes were selected", or(k.How, "not stated")},
		{"cost of the selection", selectionCost(k) + " (alone, at the plan’s δ)"},
	}
}
