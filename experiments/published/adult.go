package published

import (
	"fmt"

	"pawl/search/feature/aware"
)

// Adult is the paper's data: the training file of 32,561 rows, cut into 22,750 and 9,750.
const (
	AdultTrain = 22750
	AdultTest  = 9750
	AdultClass = ">50K"
)

// AdultOneHot is the encoding in 108 columns: 102 levels and 6 numeric columns.
func AdultOneHot() Encoding {
	return Encoding{Numeric: []string{"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}}
}

// AdultNumeric is the encoding without one-hot columns. The text counts 7; numeric columns
// without “fnlwgt”, and “sex” as one indicator, are 6 (docs/READING.md, E23).
func AdultNumeric() Encoding {
	return Encoding{
		Numeric: []string{"age", "education-num", "capital-gain", "capital-loss", "hours-per-week"},
		Binary:  []string{"sex"},
		Drop:    []string{"fnlwgt", "workclass", "education", "marital-status", "occupation", "relationship", "race", "native-country"},
	}
}

// AdultCodes is another encoding without one-hot columns: every category is the place of
// its level in sorted order, 14 columns in all.
func AdultCodes() Encoding {
	return Encoding{
		Numeric: AdultOneHot().Numeric,
		Codes:   []string{"workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country"},
	}
}

// EpsilonName is "ε = 0.1", or words for aware.NoPrivacy.
func EpsilonName(epsilon float64) string {
	if epsilon == aware.NoPrivacy {
		return "no privacy (ε = 1e9)"
	}
	return fmt.Sprintf("ε = %g", epsilon)
}
