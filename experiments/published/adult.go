package published

import (
	"fmt"

	"pawl/search/feature/aware"
)

// Adult is the paper's data: the training file of 32,561 rows, cut into 22,750 and 9,750.
const (
	AdultTrain = 22750
	AdultTest  = 9750
)

// encodings are those of Adult by name.
var encodings = map[string]Encoding{
	// In 108 columns: 102 levels and 6 numeric columns.
	"one-hot": {Numeric: numbers},
	// Without one-hot columns. The text counts 7; numeric columns without “fnlwgt”, and “sex” as one indicator, are 6
	// (docs/READING.md, E23).
	"numeric": {
		Numeric: []string{"age", "education-num", "capital-gain", "capital-loss", "hours-per-week"},
		Binary:  []string{"sex"},
		Drop:    []string{"fnlwgt", "workclass", "education", "marital-status", "occupation", "relationship", "race", "native-country"},
	},
	// Another one without one-hot columns: every category is the place of its level in sorted order, 14 columns in all.
	"codes": {
		Numeric: numbers,
		Codes:   []string{"workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country"},
	},
}

var numbers = []string{"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}

// OpenAs opens Adult in the named encoding, or Breast Cancer, which has none.
func OpenAs(data, dataDir, encoding string) (*aware.Table, error) {
	e, ok := encodings[encoding]
	switch {
	case data != "adult":
		return Open(data, dataDir, "recurrence-events", Encoding{})
	case !ok:
		return nil, fmt.Errorf("encoding %q: want one-hot, numeric or codes", encoding)
	}
	return Open(data, dataDir, ">50K", e)
}

// EpsilonName is "ε = 0.1", or words for aware.NoPrivacy.
func EpsilonName(epsilon float64) string {
	if epsilon == aware.NoPrivacy {
		return "no privacy (ε = 1e9)"
	}
	return fmt.Sprintf("ε = %g", epsilon)
}
