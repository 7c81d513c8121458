// Package registry lists all replays.
package registry

import (
	"pawl/experiments"
	"pawl/experiments/arous"
	"pawl/experiments/arousattacks"
	"pawl/experiments/audits"
	"pawl/experiments/dfsexample1"
	"pawl/experiments/dfsfigure3"
	"pawl/experiments/dfsfigure4"
	"pawl/experiments/dfsfigure5"
	"pawl/experiments/dfstable1"
	"pawl/experiments/dfstheorem6"
	"pawl/experiments/figure3"
	"pawl/experiments/figure4"
	"pawl/experiments/lemma1"
	"pawl/experiments/mohapatra6"
	"pawl/experiments/mohapatra7"
	"pawl/experiments/mohapatra8"
	"pawl/experiments/selectionstudy"
	"pawl/experiments/table1"
	"pawl/experiments/table10"
	"pawl/experiments/table16"
	"pawl/experiments/table2"
	"pawl/experiments/table5"
	"pawl/experiments/table6"
	"pawl/experiments/table7"
	"pawl/experiments/table8"
	"pawl/experiments/table9"
)

// All returns the replays that there are.
func All() *experiments.Registry {
	return experiments.NewRegistry(
		arous.Table4(),
		arous.Table5(),
		arousattacks.Figure8(),
		arousattacks.Figure9(),
		arousattacks.Figure10(),
		arousattacks.Figure11(),
		audits.Counts(),
		audits.Fashion(),
		dfsexample1.Experiment(),
		dfsfigure3.Experiment(),
		dfsfigure4.Experiment(),
		dfsfigure5.Experiment(),
		figure3.Experiment(),
		figure4.Experiment(),
		table1.Experiment(),
		table2.Experiment(),
		table5.Experiment(),
		table6.Experiment(),
		table7.Experiment(),
		table8.Experiment(),
		table9.Experiment(),
		table10.Experiment(),
		table16.Experiment(),
		dfstable1.Experiment(),
		dfstheorem6.Experiment(),
		lemma1.Experiment(),
		mohapatra6.Experiment(),
		mohapatra7.Experiment(),
		mohapatra8.Figure8(),
		mohapatra8.Figure9(),
		mohapatra8.Figure10(),
		mohapatra8.Figure11(),
		selectionstudy.Experiment(),
	)
}
