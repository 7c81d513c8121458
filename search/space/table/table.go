// Package table turns a point of a search space into a recipe for a table: which
// attributes, how they are encoded, which learner and how strongly it is
// regularized. All of it follows from the point and from public facts.
//
// The dimensions are features (all, without-one-hot, or a subset of columns),
// learner (advise.Learners), encoding (thermometer, linear), bins, and factors on what
// the rules choose: clipping_factor and movement_factor of the linear model's descent,
// regularization_factor of output perturbation. What a point does not have is left
// to the rules.
package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/search/space"
)

// ErrPoint is wrapped where a point describes no recipe for the facts.
var ErrPoint = errors.New("the point describes no recipe")

// Choice is a recipe with what it does not hold itself.
type Choice struct {
	Recipe advise.Recipe
	// RegularizationFactor multiplies learn.DefaultOutputRegularization; 1 where the
	// point leaves it to the rule.
	RegularizationFactor float64
}

// dimensions are those that Recipe reads.
var dimensions = []string{"features", "learner", "encoding", "bins", "clipping_factor", "movement_factor", "regularization_factor"}

// Recipe is the recipe of a point for public facts, whose Attributes and Learner hold
// where the point has none. Errors wrap ErrPoint, or are those of advise.Choose.
func Recipe(p space.Point, f advise.Facts) (Choice, error) {
	if err := attributes(p, &f); err != nil {
		return Choice{}, err
	}
	if s, ok := p.Text("learner"); ok {
		if !slices.Contains(advise.Learners, advise.Learner(s)) {
			return Choice{}, fmt.Errorf("%w: no learner is called %q", ErrPoint, s)
		}
		f.Learner = advise.Learner(s)
	}
	recipe, err := advise.Choose(f)
	if err != nil {
		return Choice{}, err
	}
	c := Choice{Recipe: recipe, RegularizationFactor: 1}
	if s, ok := p.Text("encoding"); ok {
		if s != "thermometer" && s != "linear" {
			return Choice{}, fmt.Errorf("%w: encoding is %q; there are thermometer, linear", ErrPoint, s)
		}
		c.Recipe.Encoding.Linear, c.Recipe.Encoding.Bins = s == "linear", 0
	}
	if p.Has("bins") {
		n, ok := p.Int("bins")
		if !ok || n < 2 {
			return Choice{}, fmt.Errorf("%w: bins must be a whole number of at least 2", ErrPoint)
		}
		c.Recipe.Encoding.Bins = n
	}
	clip, movement := 1.0, 1.0
	for name, to := range map[string]*float64{"clipping_factor": &clip, "movement_factor": &movement, "regularization_factor": &c.RegularizationFactor} {
		if !p.Has(name) {
			continue
		}
		x, ok := p.Float(name)
		if !ok || !(x > 0) {
			return Choice{}, fmt.Errorf("%w: %s must be a number above 0", ErrPoint, name)
		}
		*to = x
	}
	if clip != 1 || movement != 1 {
		c.Recipe = c.Recipe.Scaled(clip, movement)
	}
	return c, nil
}

// attributes puts a point's choice of columns into the facts.
func attributes(p space.Point, f *advise.Facts) error {
	if names, ok := p.Names("features"); ok {
		for _, n := range names {
			if f.Schema.Column(n) < 0 {
				return fmt.Errorf("%w: the schema has no column %q", ErrPoint, n)
			}
		}
		f.Attributes = names
		return nil
	}
	name, ok := p.Text("features")
	switch {
	case !ok || name == "all":
		return nil
	case name != "without-one-hot":
		return fmt.Errorf("%w: features is %q; there are all, without-one-hot, or a subset of columns", ErrPoint, name)
	}
	f.Attributes = WithoutOneHot(f.Schema, f.Target, f.Attributes)
	if f.Attributes == nil {
		return fmt.Errorf("%w: without-one-hot leaves what all has, or nothing", ErrPoint)
	}
	return nil
}

// WithoutOneHot lists the usable columns that need no one-hot code: all but
// categories of more than two levels without order. nil where that is all or none.
func WithoutOneHot(s *schema.Schema, target string, among []string) []string {
	var kept []string
	dropped := false
	for i := range s.Columns {
		c := &s.Columns[i]
		switch {
		case c.Type == schema.Ignore, c.Name == target, c.Name == s.Unit.Column:
		case among != nil && !slices.Contains(among, c.Name):
		case c.Type == schema.Categorical && !c.Ordered && len(c.Levels()) > 2:
			dropped = true
		default:
			kept = append(kept, c.Name)
		}
	}
	if !dropped {
		return nil
	}
	return kept
}

// For checks a space for public facts: it refuses dimensions that nothing reads, and
// leaves out learners that do not fit the target or delta, and feature sets that equal
// another.
func For(s *space.Space, f advise.Facts) (*space.Space, error) {
	for _, name := range s.Dimensions() {
		if !slices.Contains(dimensions, name) {
			return nil, fmt.Errorf("search space %s: nothing reads dimension %s; a table's recipe reads %s", s.Name(), name, strings.Join(dimensions, ", "))
		}
	}
	for _, v := range s.Values("learner") {
		facts := f
		facts.Learner = advise.Learner(v.Text())
		_, err := advise.Choose(facts)
		if err == nil && slices.Contains(advise.Learners, facts.Learner) {
			continue
		}
		if err == nil {
			err = fmt.Errorf("no learner is called %q", v.Text())
		}
		var bad error
		if s, bad = s.Exclude("learner", v); bad != nil {
			return nil, fmt.Errorf("%w (%w)", bad, err)
		}
	}
	if WithoutOneHot(f.Schema, f.Target, f.Attributes) == nil {
		for _, v := range s.Values("features") {
			if v.Text() != "without-one-hot" {
				continue
			}
			var err error
			if s, err = s.Exclude("features", v); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}
