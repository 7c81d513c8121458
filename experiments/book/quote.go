package book

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"pawl/experiments"
)

// A quotation in a text is the name of a stored result, a row and a column, and how the number is written:
//
//	<!--r figure-3 :: ε = 0.1, all 108 features :: honest :: .1-->83.9<!--/r-->
//
// The column is published, ours, honest, baseline or verdict, or
// claim: the row is then the beginning of a claim, and its evidence is quoted. A row that several data
// have is ROW @ DATA. The last part is the number of places of a mean; without it the interval and
// the runs stand beside the mean.
var quotation = regexp.MustCompile(`(?s)<!--r (.*?)-->(.*?)<!--/r-->`)

// Quote returns the text with every quotation as the stored results have it.
func Quote(text string, all []*Result) (string, error) {
	var failed error
	out := quotation.ReplaceAllStringFunc(text, func(old string) string {
		reference := quotation.FindStringSubmatch(old)[1]
		value, err := quoted(reference, all)
		if err != nil && failed == nil {
			failed = fmt.Errorf("quotation %q: %w", reference, err)
		}
		return "<!--r " + reference + "-->" + value + "<!--/r-->"
	})
	return out, failed
}

// plain takes the marks of quotations off.
func plain(text string) string { return quotation.ReplaceAllString(text, "$2") }

func quoted(reference string, all []*Result) (string, error) {
	parts := strings.Split(reference, " :: ")
	if len(parts) < 3 || len(parts) > 4 {
		return "", fmt.Errorf("want RESULT :: ROW :: COLUMN or RESULT :: ROW :: COLUMN :: .PLACES")
	}
	for _, r := range all {
		if r.ID() == parts[0] {
			return r.quoted(parts[1], parts[2], parts[3:])
		}
	}
	return "", fmt.Errorf("no stored result %q", parts[0])
}

func (r *Result) quoted(name, column string, format []string) (string, error) {
	if column == "claim" {
		for _, c := range r.Table.Claims {
			if strings.HasPrefix(c.Statement, name) {
				return c.Evidence, nil
			}
		}
		return "", fmt.Errorf("no claim begins with %q", name)
	}
	name, data, _ := strings.Cut(name, " @ ")
	var row *experiments.Row
	for i := range r.Table.Rows {
		if x := &r.Table.Rows[i]; x.Name == name && (data == "" || x.Data == data) {
			if row != nil {
				return "", fmt.Errorf("several rows are called %q: name the data, ROW @ DATA", name)
			}
			row = x
		}
	}
	if row == nil {
		return "", fmt.Errorf("no row %q", name)
	}
	if column == "verdict" {
		return string(row.Verdict), nil
	}
	columns := map[string]*experiments.Estimate{"published": nil, "ours": row.AsPublished, "honest": row.Honest, "baseline": row.Baseline}
	if row.Published != nil {
		columns["published"] = experiments.Exact(*row.Published)
	}
	e, known := columns[column]
	switch {
	case !known:
		return "", fmt.Errorf("column %q: want published, ours, honest, baseline, verdict or claim", column)
	case e == nil:
		return "", fmt.Errorf("row %q has nothing in column %s", name, column)
	}
	if len(format) == 0 {
		return e.String(), nil
	}
	places, err := strconv.Atoi(strings.TrimPrefix(format[0], "."))
	if err != nil || places < 0 || places > 6 {
		return "", fmt.Errorf("format %q: want .1 or the like", format[0])
	}
	return strconv.FormatFloat(e.Mean, 'f', places, 64), nil
}
