package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/dp"
)

func (a *app) calibrateEvent() *cobra.Command {
	var (
		target targetFlags
		how    howFlags
	)
	c := &cobra.Command{
		Use:   "event FILE --epsilon E --delta D",
		Short: "Find the number written as \"?\" in an event file",
		Long: fmt.Sprintf(`Find the one number of an event file that is written as "?".
It may be any of: %s.
FILE - reads standard input.`, strings.Join(freeNames(), ", ")),
		Example: `  pawl calibrate event plan.json --epsilon 2 --delta 1e-5
  echo '{"kind":"repeat","count":"?","event":{"kind":"laplace","noise_multiplier":20}}' | pawl calibrate event - --epsilon 1 --delta 1e-6`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			spend, err := target.parse(c, true)
			if err != nil {
				return err
			}
			m, rel, err := how.parse()
			if err != nil {
				return err
			}
			text, name, err := a.readEventFile(args[0])
			if err != nil {
				return err
			}
			f, stated, err := fileFamily(name, text, rel, m)
			if err != nil {
				return err
			}
			if rel, err = how.under(c, name, stated, rel); err != nil {
				return err
			}
			ans, err := f.solve(spend, rel, m)
			if err != nil {
				return err
			}
			return a.print(ans)
		},
	}
	target.register(c, "target epsilon, never exceeded (required)", "failure probability delta (default 0: pure DP)")
	how.register(c)
	return c
}

// freeNumbers are the fields that may be left open, with the way in which the cost
// moves.
var freeNumbers = map[string]accountant.Search{
	"noise_multiplier": {Decreasing: true, Lower: 1e-6, Upper: 1e9},
	"count":            {Integer: true, Lower: 1, Upper: 1e9},
	"epochs":           {Integer: true, Lower: 1, Upper: 1e9},
	"rate":             {Lower: 1e-9, Upper: 1},
	"mean":             {Lower: 1.00001, Upper: 1e9}, // a truncated law wants more than 1
	"epsilon":          {Lower: 1e-9, Upper: 1e6},
	"rho":              {Lower: 1e-12, Upper: 1e6},
}

func freeNames() []string {
	var names []string
	for n := range freeNumbers {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// fileFamily is the family of events of a file with one "?", with the relation that the
// file states, or 0.
func fileFamily(name string, text []byte, rel dp.Relation, m accountant.Method) (family, dp.Relation, error) {
	field, before, after, err := openField(text)
	if err != nil {
		return family{}, 0, &usageError{fmt.Sprintf("%s: %v", name, err), `write "?" in place of exactly one number; pawl account event computes the epsilon of a complete event`}
	}
	search, ok := freeNumbers[field]
	if !ok {
		return family{}, 0, &usageError{fmt.Sprintf("%s: %q cannot be solved for", name, field), "numbers that can: " + strings.Join(freeNames(), ", ")}
	}
	decode := func(x float64) (dp.Stated, error) {
		return decodeStated(name, slices.Concat(before, []byte(strconv.FormatFloat(x, 'f', -1, 64)), after))
	}
	// What is wrong elsewhere in the file is said once, here.
	var stated dp.Stated
	for _, x := range []float64{search.Lower, search.Upper} {
		if stated, err = decode(x); err != nil {
			return family{}, 0, err
		}
	}
	if stated.Group > 1 {
		return family{}, 0, &usageError{fmt.Sprintf("%s: calibration for groups is not supported", name), "remove \"group\""}
	}
	if stated.Relation != 0 {
		rel = stated.Relation
	}
	event := func(x float64) dp.Stated {
		s, err := decode(x)
		if err != nil {
			return dp.Stated{Event: dp.NonPrivate{}} // costs +Inf, so it meets no target
		}
		return s
	}
	search.Event = func(x float64) dp.Event { return event(x).Event }
	return family{free: field, search: search, price: func(x float64) cost { return statedCost(event(x), rel, m) }}, stated.Relation, nil
}

// openField finds the single value "?" and returns the name of its field and the
// text around it.
func openField(text []byte) (field string, before, after []byte, err error) {
	type level struct {
		object bool
		key    string
		isKey  bool // the next token is a name
	}
	var (
		stack []level
		found int
	)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		start := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			break // the end; what is no JSON is refused by the event reader
		}
		top := len(stack) - 1
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			stack = stack[:top]
			continue
		}
		if top >= 0 && stack[top].object && stack[top].isKey {
			stack[top].key, stack[top].isKey = token.(string), false
			continue
		}
		if top >= 0 {
			stack[top].isKey = true
		}
		if delim, ok := token.(json.Delim); ok {
			stack = append(stack, level{object: delim == '{', isKey: true})
			continue
		}
		if token == "?" && top >= 0 && stack[top].object {
			found++
			field = stack[top].key
			// Between the tokens are a colon and space.
			at := int(start) + bytes.IndexByte(text[start:], '"')
			before, after = text[:at], text[d.InputOffset():]
		}
	}
	switch found {
	case 0:
		return "", nil, nil, errors.New(`no number is "?"`)
	case 1:
		return field, before, after, nil
	}
	return "", nil, nil, fmt.Errorf(`%d numbers are "?"`, found)
}
