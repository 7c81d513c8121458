package report_test

import (
	"fmt"
	"os"

	"pawl/evidence/quality"
	"pawl/report"
)

func ExampleText() {
	gain := 0.12
	s := &report.Statement{
		Version: report.StatementVersion,
		Data:    report.Data{Name: "clinic", Target: "relapse", Task: "classification", Rows: "about 8000", Attributes: 9},
		Privacy: report.Privacy{Epsilon: 0.9999991, Delta: 1e-5, Relation: "add_or_remove_one", Unit: "patient", RowsPerUnit: 1,
			Accountant: "PLD", Sampling: "full batch",
			ByStage: map[string]report.Stage{"train": {Order: 1, Epsilon: 0.81}, "score": {Order: 2, Epsilon: 0.9999991}}},
		Budget: report.Budget{Granted: "granted by J. Lindqvist on 2026-11-02",
			Total: report.Amount{Epsilon: 2, Delta: 1e-4}, Spent: report.Amount{Epsilon: 1.04, Delta: 1e-5}, Left: report.Amount{Epsilon: 0.96, Delta: 9e-5}},
		Score: &report.Score{Metric: "accuracy", Value: 0.81, Interval: [2]report.Number{0.78, 0.84}, How: "released on a held-out scope",
			Baseline: 0.69, BaselineInterval: &[2]report.Number{0.66, 0.72},
			Verdict: quality.Useful, UsefulFor: quality.ForLabels, Gain: &quality.Estimate{Value: &gain, Interval: &[2]float64{0.09, 0.15}}},
		Choice:  report.Choice{Workflow: "paw", Model: "logistic regression", UsefulModel: true},
		Outputs: report.Paths{Report: "pawl-out/report.html"},
	}
	if err := report.Text(os.Stdout, s); err != nil {
		fmt.Println(err)
	}
	// Output:
	// The model is useful. It scores 81.0%, against 69.0% for always predicting the majority class: on the same rows, it is better than that by 9.0 to 15.0 percentage points of accuracy.
	//
	// claim       (epsilon, delta) = (1.00, 1e-05), central model, privacy loss distribution (PLD)
	// neighbour   the same data with one patient added or removed (add/remove-one)
	// risk        somebody who is 50% sure that a certain patient is in the data can become at most 73.11% sure; somebody who is 1% sure, at most 2.68%
	// budget      granted by J. Lindqvist on 2026-11-02
	// ledger      epsilon 2.00: spent 1.04, reserved 0.00, left 0.96
	// stages      train 0.81, score 1.00 (epsilon of each alone)
	// score       accuracy 81.0%, 95% interval 78.0% to 84.0% (released on a held-out scope)
	// baseline    majority class 69.0%, 95% interval 66.0% to 72.0%
	// model       logistic regression
	// report      pawl-out/report.html
}
