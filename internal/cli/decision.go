package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
)

// decisionFlags choose the threshold of a classifier of two classes.
type decisionFlags struct {
	threshold, recall string
	costs             []string
}

func (f *decisionFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.threshold, "threshold", "", "two classes: smallest probability of the second class at which it is predicted (default: labels of the scores as trained)")
	s.StringVar(&f.recall, "recall", "", "two classes: choose the threshold that finds this share of the second class, for example 0.8")
	s.StringSliceVar(&f.costs, "cost", nil, "two classes: choose the threshold with the lowest cost, for example false-negative=10 (false-positive=1 unless given)")
}

// decision reads them. The plan refuses what is out of range.
func (f *decisionFlags) decision() (d pawl.Decision, err error) {
	number := func(flag, text, hint string) (x float64) {
		if err == nil && text != "" {
			if x, err = strconv.ParseFloat(text, 64); err != nil || x == 0 || x-x != 0 {
				err = mistakef(hint, "%s %q is not a number above 0", flag, text)
			}
		}
		return x
	}
	d.Threshold = number("--threshold", f.threshold, "example: --threshold 0.2")
	d.Recall = number("--recall", f.recall, "example: --recall 0.8")
	for _, text := range f.costs {
		name, value, _ := strings.Cut(text, "=")
		into := map[string]*float64{"false-negative": &d.FalseNegative, "false-positive": &d.FalsePositive}[name]
		switch {
		case err != nil:
		case into == nil:
			err = mistakef("write false-negative=COST or false-positive=COST, for example --cost false-negative=10", "--cost %q: unknown mistake", text)
		case value == "" || *into != 0:
			err = mistakef("example: --cost false-negative=10", "--cost %q: a cost is missing or given twice", text)
		default:
			*into = number("--cost "+name, value, "example: --cost false-negative=10")
		}
	}
	if err == nil && len(f.costs) > 0 {
		for _, c := range []*float64{&d.FalseNegative, &d.FalsePositive} {
			if *c == 0 {
				*c = 1
			}
		}
	}
	return d, err
}
