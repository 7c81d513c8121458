package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// registerClassWeights adds --class-weight.
func registerClassWeights(to *[]string, c *cobra.Command) {
	c.Flags().StringSliceVar(to, "class-weight", nil, "public weight of a class in the loss, for example yes=5,no=1 (default 1 for each; never computed from the data)")
}

// monotone reads --monotone.
func monotone(list []string) (map[string]int, error) {
	var all map[string]int
	for _, text := range list {
		name, way, _ := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		to, ok := map[string]int{"increasing": 1, "+1": 1, "1": 1, "decreasing": -1, "-1": -1}[strings.TrimSpace(way)]
		if !ok || name == "" {
			return nil, mistakef("write COLUMN=increasing or COLUMN=decreasing", "--monotone %q", text)
		}
		if _, twice := all[name]; twice {
			return nil, mistakef("name every column once", "--monotone names %q twice", name)
		}
		if all == nil {
			all = map[string]int{}
		}
		all[name] = to
	}
	return all, nil
}

// classWeights reads --class-weight.
func classWeights(list []string) (map[string]float64, error) {
	var all map[string]float64
	for _, text := range list {
		at := strings.LastIndex(text, "=")
		if at < 1 {
			hint := "write CLASS=WEIGHT, for example --class-weight yes=5,no=1"
			if text == "balanced" || text == "auto" {
				hint = "weights that follow from class counts would have to be charged; " + hint
			}
			return nil, mistakef(hint, "--class-weight %q", text)
		}
		name := strings.TrimSpace(text[:at])
		w, err := strconv.ParseFloat(strings.TrimSpace(text[at+1:]), 64)
		if err != nil {
			return nil, mistakef("example: --class-weight "+name+"=5", "--class-weight %q: the weight is not a number", text)
		}
		if _, twice := all[name]; twice {
			return nil, mistakef("name every class once", "--class-weight names %q twice", name)
		}
		if all == nil {
			all = map[string]float64{}
		}
		all[name] = w
	}
	return all, nil
}
