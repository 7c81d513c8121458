package dataset

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
)

// layout is how a publisher without header lines writes a table.
type layout struct {
	header    []string
	separator string
	// skip tells lines that are no records, beyond empty ones.
	skip func(line string) bool
	// mend changes the cells of a record where the publisher departs from the header.
	mend func(cells []string)
}

// convert writes the records as CSV under the header. Checksums have fixed the
// content, so an odd record is a fault of the program and is only located.
func (l layout) convert(in []byte) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.Write(l.header); err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(in), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || l.skip != nil && l.skip(line) {
			continue
		}
		cells := strings.Split(line, l.separator)
		if len(cells) != len(l.header) {
			return nil, fmt.Errorf("line %d of the publisher's file has %d cells, not %d", i+1, len(cells), len(l.header))
		}
		if l.mend != nil {
			l.mend(cells)
		}
		if err := w.Write(cells); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

func adultLayout() layout {
	return layout{
		header: []string{"age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
			"race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"},
		separator: ", ",
		// The test file begins with a remark, "|1x3 Cross validator".
		skip: func(line string) bool { return strings.HasPrefix(line, "|") },
		// Its labels end in a dot; those of the training file do not.
		mend: func(cells []string) { cells[len(cells)-1] = strings.TrimSuffix(cells[len(cells)-1], ".") },
	}
}

func breastCancerLayout() layout {
	return layout{
		header: []string{"class", "age", "menopause", "tumor-size", "inv-nodes", "node-caps", "deg-malig", "breast",
			"breast-quad", "irradiat"},
		separator: ",",
	}
}

func wdbcLayout() layout {
	header := []string{"id", "diagnosis"}
	for _, of := range []string{"mean", "se", "worst"} {
		for _, measure := range []string{"radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
			"concave_points", "symmetry", "fractal_dimension"} {
			header = append(header, of+"_"+measure)
		}
	}
	return layout{header: header, separator: ","}
}

// smsLayout has no tabs inside of messages.
func smsLayout() layout { return layout{header: []string{"label", "text"}, separator: "\t"} }

// asIs is for files that are CSV with a header already.
func asIs(in []byte) ([]byte, error) { return in, nil }
