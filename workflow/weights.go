package workflow

import (
	"maps"
	"math"
	"slices"
	"strings"

	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
)

// classWeights are the factors on the losses of the classes of the target, in the order
// of its levels, nil without any. A class that is not named has weight 1, and all are
// divided by the largest: gradients are clipped, so only the proportions count. They are
// the operator's words and follow from no row; one that followed from counts would have
// to be paid for.
func (p *problem) classWeights() ([]float64, error) {
	if len(p.ClassWeights) == 0 {
		return nil, nil
	}
	if p.task != model.Classification {
		return nil, usage("leave out the class weights", "class weights are given, and the target %q is a number", p.Target)
	}
	levels := p.Schema.Columns[p.targetColumn].Levels()
	all, most := make([]float64, len(levels)), 0.0
	for k := range all {
		all[k] = 1
	}
	for name, w := range p.ClassWeights {
		k := slices.Index(levels, name)
		if k < 0 {
			return nil, usage(schema.Meant(name, levels, "classes: "+strings.Join(levels, ", ")), "class weight of %q, which is not a class of %q", name, p.Target)
		}
		if !(w > 0 && w <= math.MaxFloat32) {
			return nil, usage("example: 5", "the weight of class %q must be a finite number above 0, got %g", name, w)
		}
		all[k] = w
	}
	for _, w := range all {
		most = max(most, w)
	}
	for k := range all {
		if all[k] /= most; all[k] < 1e-6 {
			return nil, usage("give weights closer to each other", "the weight of class %q is less than a millionth of the largest", levels[k])
		}
	}
	return all, nil
}

// directions are those that a schema declares of the columns beside the target.
func directions(s *schema.Schema, target string) map[string]int {
	all := map[string]int{}
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Monotone != 0 && c.Type != schema.Ignore && c.Name != target {
			all[c.Name] = c.Monotone
		}
	}
	return all
}

// unheld refuses a schema whose directions a job would not hold.
func unheld(s *schema.Schema, target, what string) error {
	for _, name := range slices.Sorted(maps.Keys(directions(s, target))) {
		return usage("use pawl fit --model gam or ebm, or take monotone out of the schema", "the schema declares column %q monotone, and %s does not hold effects to a direction", name, what)
	}
	return nil
}

// checkMonotone adds the schema's directions to those that were asked for.
func (p *problem) checkMonotone() error {
	all := directions(p.Schema, p.Target)
	if len(all) == 0 {
		return nil
	}
	for name, way := range p.Monotone {
		if declared, ok := all[name]; ok && declared != way {
			return usage("leave out --monotone for this column, or change the schema", "--monotone and the schema contradict each other about column %q", name)
		}
		all[name] = way
	}
	p.Monotone = all
	return nil
}

// directed refuses directions of effects that say nothing, and a learner that does not hold them.
func (p *problem) directed(k learn.Kind) error {
	if p.TargetScale != "" && p.task != model.Regression {
		return usage("leave it out", "--target-scale is given, and the target %q has classes", p.Target)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Monotone)) {
		way := p.Monotone[name]
		i := p.Schema.Column(name)
		switch {
		case i < 0:
			var names []string
			for i := range p.Schema.Columns {
				names = append(names, p.Schema.Columns[i].Name)
			}
			return usage(schema.Meant(name, names, "columns are those of the schema"), "a monotone effect of %q, which is no column", name)
		case i == p.targetColumn:
			return usage("name other columns", "a monotone effect of %q, which is the target", name)
		case way != 1 && way != -1:
			return usage("1 for increasing, -1 for decreasing", "the direction of %q is %d", name, way)
		}
		if c := &p.Schema.Columns[i]; len(c.Levels()) > 0 && !c.Ordered {
			return usage("declare ordered: true if its categories have an order", "a monotone effect of %q, which is a category without an order", name)
		}
	}
	if len(p.Monotone) == 0 {
		return nil
	}
	if p.task == model.Classification && len(p.Schema.Columns[p.targetColumn].Levels()) > 2 {
		return usage("leave out the directions", "effects are monotone for two classes or a number, and the target %q has more classes", p.Target)
	}
	if !k.Monotone && k.Name != string(advise.Majority) && k.Name != string(advise.Mean) {
		return usage("use --model gam or ebm, with a public number of rows (rows: about N in the schema)", "model %q does not hold effects to a direction", k.Name)
	}
	return nil
}

// weighted refuses class weights for a learner that does not take them.
func (p *problem) weighted(k learn.Kind) error {
	if len(p.ClassWeights) == 0 || k.Weights {
		return nil
	}
	var names []string
	for _, name := range learn.Names() {
		if learn.KindOf(name).Weights {
			names = append(names, name)
		}
	}
	return usage("use --model "+strings.Join(names, " or ")+", or pawl train", "class weights have no effect on %q", k.Name)
}

// weigh gives the network the operator's class weights.
func (n *training) weigh() (err error) {
	if len(n.ClassWeights) == 0 {
		return nil
	}
	p := &problem{Input: n.Input}
	if err := p.checkTarget(); err != nil {
		return err
	}
	n.Layers.ClassWeights, err = p.classWeights()
	return err
}
