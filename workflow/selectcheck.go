package workflow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"pawl/data/schema"
	"pawl/model"
	"pawl/search/feature"
)

// NeedsCount says that a method ranks features and cannot choose their number.
func NeedsCount(method string) bool {
	switch method {
	case "cfs-greedy", "cfs-ga", "threshold", "pafs", "all":
		return false
	}
	return true
}

func (in *SelectInput) checkMethod() error {
	names := make([]string, len(SelectMethods))
	for i, m := range SelectMethods {
		names[i] = m.Name
	}
	hint := "methods: " + strings.Join(names, ", ")
	if in.Method == "" {
		return usage(hint, "missing --method")
	}
	if slices.Contains(names, in.Method) {
		return nil
	}
	return usage(schema.Meant(in.Method, names, hint), "unknown method %q", in.Method)
}

// free says that nothing is paid: as published, or no row is looked at.
func (in *SelectInput) free() bool {
	return in.AsPublished || in.Method == "random" || in.Method == "all"
}

// checkInput validates what every plan needs. A free choice needs no budget; one that
// was named stays in the statement as asked.
func (in *SelectInput) checkInput() (*problem, error) {
	switch {
	case in.AsPublished && in.Epsilon != "" && !in.statesEpsilon():
		return nil, usage("leave out --epsilon, or --as-published", "--as-published charges nothing, so it has no epsilon")
	case in.AsPublished && in.Method == "pafs":
		if in.Delta != "" {
			return nil, usage("leave out --delta", "method pafs as published has none of its own: dp-sgd is stated at 1e-5, and the whole at 1e-6")
		}
		input := in.Input
		if input.Delta = "0"; input.Epsilon == "" {
			input.Epsilon = publishedTraining
		}
		return input.check()
	case in.AsPublished && in.Mode == Local:
		if in.Epsilon == "" {
			return nil, usage("example: --epsilon 5", "missing epsilon: the published noise follows from it, although it is not guaranteed")
		}
		input := in.Input
		if input.AllowLargeDelta = true; input.Delta == "" {
			input.Delta = publishedDelta
		}
		return input.check()
	case in.Epsilon != "":
		return in.Input.check()
	case !in.free():
		return nil, usage("example: --epsilon 1", "missing --epsilon")
	}
	input := in.Input
	input.Epsilon, input.Accountant = "1", ""
	if input.Delta == "" {
		input.Delta = "0"
	}
	p, err := input.check()
	if err == nil {
		p.Epsilon = ""
	}
	return p, err
}

func (c *choosing) check() error {
	p := c.plan.problem
	if p.task != model.Classification && c.Method != "random" && c.Method != "all" {
		return usage("--method all, or a target that is a class", "method %q compares classes, and the target %q is a number", c.Method, p.Target)
	}
	if c.AsPublished && !p.Public {
		return usage("leave out --as-published", "procedures as published use rows without charge; they run on public data only")
	}
	if c.Level == "" {
		c.Level = feature.AttributeLevel
		if c.AsPublished {
			c.Level = feature.ColumnLevel
		}
	}
	if c.Level != feature.AttributeLevel && c.Level != feature.ColumnLevel {
		return usage("levels: attribute, column", "unknown level %q", c.Level)
	}
	if c.Bins != 0 && (c.Bins < 2 || c.Bins > 1000) {
		return usage(fmt.Sprintf("leave it out for %d", feature.DefaultBins), "%d bins: want 2 to 1000", c.Bins)
	}
	for _, f := range p.Features {
		if p.Schema.Column(f) < 0 {
			return usage("name whole columns; --level column chooses among levels", "feature %q is a level of a column, and a selection chooses among columns", f)
		}
	}
	s := c.restricted(p)
	c.schema = s
	var err error
	if c.layout, err = feature.NewLayout(s, p.Target, c.Bins); err != nil {
		return usage("give the schema columns with at least two levels", "%v", err)
	}
	c.layout.Domain.Rows = float64(p.Rows)
	if c.AsPublished {
		c.everyLevelAColumn()
	}
	options := feature.MatrixOptions{Seed: rand.Uint64()} // simulates the noise's bias; protects nobody
	if p.Seed != nil {
		options.Seed = *p.Seed
	}
	switch c.Method {
	case "cfs-greedy":
		c.selector = feature.Greedy{At: c.Level, Options: options}
	case "cfs-ga":
		g := feature.Genetic{At: c.Level, Options: options}
		g.Search.Seed = options.Seed
		c.selector = g
	case "mutual-information":
		c.selector = feature.Relevance{At: c.Level, By: feature.MutualInformation, Options: options}
	case "symmetrical-uncertainty":
		c.selector = feature.Relevance{At: c.Level, By: feature.Uncertainty, Options: options}
	case "dfs":
		c.selector = feature.Distance{}
	case "t-statistic":
		c.selector = feature.TStatistic{}
	case "threshold":
		c.selector = feature.Threshold{C: 1, Variance: 1, Gamma: 0.25}
	case "pafs":
		if c.AsPublished {
			return c.checkPublishedPAFS()
		}
		return c.checkPAFS()
	case "random":
		c.selector = feature.Random{At: c.Level, Seed: options.Seed}
	case "all":
		c.selector = feature.All{At: c.Level}
	}
	need := c.selector.Need()
	c.from = &tables{p, c.layout, need}
	switch need {
	case feature.NeedClassSums, feature.NeedClassMoments:
		c.from = newClassColumns(p, s, c.layout, need)
		fallthrough
	case feature.NeedNothing:
		if c.Bins != 0 {
			return usage("leave out --bins", "method %s counts no bins", c.Method)
		}
	}
	return c.checkCount()
}

// restricted is the schema with the columns that the operator did not name ignored.
func (c *choosing) restricted(p *problem) *schema.Schema {
	s := *p.Schema
	if p.Features == nil {
		return &s
	}
	s.Columns = slices.Clone(s.Columns)
	for i := range s.Columns {
		if col := &s.Columns[i]; col.Name != p.Target && col.Name != s.Unit.Column && !slices.Contains(p.Features, col.Name) {
			col.Type = schema.Ignore
		}
	}
	return &s
}

// checkCount refuses before anything is charged what Select would refuse after.
func (c *choosing) checkCount() error {
	most := len(c.layout.Domain.Columns(c.Level))
	switch {
	case c.Count == feature.Auto && !NeedsCount(c.Method):
		return nil
	case c.Method == "all" && c.Count != most:
		return usage("leave out --k, or choose another method", "method all takes all %d features, not %d", most, c.Count)
	case c.Count == feature.Auto:
		return usage(fmt.Sprintf("give --k, 1 to %d", most), "method %s ranks features and cannot choose their number", c.Method)
	case c.Count < 1 || c.Count > most:
		return usage(fmt.Sprintf("give --k from 1 to %d", most), "k is %d, and there are %d features to choose from (%s level)", c.Count, most, c.Level)
	}
	return nil
}

// checkUnsearched refuses the settings of a search where nothing is searched for.
func (in *SelectInput) checkUnsearched() error {
	if in.Search != (Published{}) && !(in.Method == "pafs" && in.AsPublished) {
		return usage("leave them out, or give --method pafs --as-published", "--learner, --population, --rounds and --fits are settings of pafs as published")
	}
	return nil
}
