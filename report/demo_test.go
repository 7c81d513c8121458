package report

import (
	"encoding/json"
	"math"
	"time"

	"pawl/evidence/quality"
)

func number(x float64) *Number { n := Number(x); return &n }

func about(value, low, high float64) *quality.Estimate {
	return &quality.Estimate{Value: &value, Interval: &[2]float64{low, high}}
}

// classification has every further score of two classes.
func classification() *quality.Classification {
	return &quality.Classification{Positive: "yes", Prevalence: about(.239, .229, .249), AveragePrecision: about(.62, .59, .65),
		BalancedAccuracy: *about(.742, .73, .754), Recall: about(.56, .53, .59), Precision: about(.71, .68, .74),
		Brier: about(.11, .105, .115), LogLoss: about(.35, .338, .362), RawLogLoss: about(.39, .37, .41), Calibrated: true,
		Calibration: &quality.Calibration{Intercept: -.1, Slope: .6}, Confusion: &quality.Confusion{Classes: []string{"no", "yes"}, Rows: [][]float64{{14310, 918}, {2107, 2676}}, NoiseSD: 11.4},
		Thresholds: []quality.Operating{
			{Threshold: .04, Flagged: *about(.7, .69, .71), Recall: *about(.97, .95, .98), FalsePositiveRate: *about(.61, .6, .62), Precision: *about(.33, .31, .35), BalancedAccuracy: *about(.68, .67, .69)},
			{Threshold: .24, Flagged: *about(.31, .3, .32), Recall: *about(.78, .76, .8), FalsePositiveRate: *about(.19, .18, .2), Precision: *about(.57, .55, .59), BalancedAccuracy: *about(.795, .785, .805)},
			{Threshold: .8, Flagged: *about(.08, .07, .09), FalsePositiveRate: *about(.01, 0, .02), BalancedAccuracy: *about(.61, .6, .62)}},
		Reliability: []quality.Reliability{{Predicted: .03, Observed: *about(.02, .01, .03), Rows: 6000}, {Predicted: .3, Observed: *about(.33, .3, .36), Rows: 8000}, {Predicted: .85, Rows: 900}},
		Advised:     &quality.Operating{Threshold: .24, Flagged: *about(.31, .3, .32), Recall: *about(.78, .76, .8), FalsePositiveRate: *about(.19, .18, .2), Precision: *about(.57, .55, .59), BalancedAccuracy: *about(.795, .785, .805)}}
}

// hospital is a statement about sensitive rows: a score released with noise, several
// rows per unit, a steward's grant.
func hospital() *Statement {
	return &Statement{
		Version: StatementVersion, Command: "pawl fit patients.csv --target readmitted --epsilon 1",
		Software: Software{Name: "pawl", Version: "0.1.0", Go: "go1.26.8"},
		Time:     time.Date(2026, 11, 27, 14, 5, 0, 0, time.UTC),
		Data: Data{Name: "patients-2025", Target: "readmitted", Task: "classification",
			Rows: "about 100000", Attributes: 14, Classes: []string{"no", "yes"},
			Fingerprint: "keyed-blake2b:5f1c0e2a77b8d1934cd2"},
		Privacy: Privacy{Epsilon: 0.9999991, Delta: 1e-6, Relation: "add_or_remove_one", Unit: "patient", RowsPerUnit: 4,
			Accountant:    "PLD",
			EpsilonBounds: map[string]Number{"PLD": 0.9999991, "RDP": 1.0831, "zCDP": 1.1442},
			EpsilonAsked:  "1", DeltaAsked: "1e-06 (default)", Sampling: "Poisson",
			Events: []json.RawMessage{
				json.RawMessage(`{"kind":"scoped","scope":{"lower":0,"upper":0.8},"event":{"kind":"discrete_gaussian","noise_multiplier":14.2}}`),
				json.RawMessage(`{"kind":"scoped","scope":{"lower":0,"upper":0.8},"event":{"kind":"repeat","count":420,"event":{"kind":"poisson_sampled","rate":0.0512,"event":{"kind":"gaussian","noise_multiplier":4.871}}}}`),
				json.RawMessage(`{"kind":"scoped","scope":{"lower":0.8,"upper":1},"event":{"kind":"discrete_gaussian","noise_multiplier":5.02}}`),
			},
			ByStage: map[string]Stage{
				"features": {Order: 1, Epsilon: 0.3121, Scope: "[0, 0.8)", What: "Noisy counts of each attribute against the target; the ranking is computed from them."},
				"train":    {Order: 2, Epsilon: 0.8912, Scope: "[0, 0.8)", What: "Gradient steps with clipping and Gaussian noise."},
				"score":    {Order: 3, Epsilon: 0.9214, Scope: "[0.8, 1)", What: "Noisy numbers of correct answers and of rows, and noisy class counts for the baseline."},
			},
			NotCovered: []string{"Rows of a patient beyond the fourth: they are dropped before anything is computed."},
		},
		Budget: Budget{Ledger: "team", Dataset: "patients-2025", Granted: "granted by Dr. R. Okafor on 2026-11-02, for readmission study 17",
			Total: Amount{3, 1e-5}, Spent: Amount{1.32118, 2e-6}, Reserved: Amount{0.5, 1e-6}, Left: Amount{1.17882, 7e-6},
			Entry: "e-000004", Head: "9b3f6a0c51d27e88a1c4"},
		Score: &Score{Metric: "accuracy", Value: 0.8437, Interval: [2]Number{0.8341, 0.8533}, How: "released on a held-out scope",
			Baseline: 0.7610, BaselineInterval: &[2]Number{0.7512, 0.7708},
			Verdict: quality.Useful, UsefulFor: quality.ForLabels, Gain: about(0.0827, 0.0741, 0.0913),
			AUROC: number(0.8712), AUROCInterval: &[2]Number{0.8604, 0.8820}, Classification: classification()},
		Choice: Choice{Workflow: "paw", Model: "logistic regression", Features: []string{"age", "prior admissions", "length of stay", "emergency", "ward", "discharge"},
			Encoding: "scaled to declared bounds, one-hot for categories", Parameters: 31,
			Hyperparameters: map[string]any{"clipping_norm": 1.0, "steps": 420, "expected_batch_size": 4096, "learning_rate": 0.5, "noise_multiplier": 4.871},
			UsefulModel:     true, Search: "none: below r = 10,000 the best search is no search"},
		Advice: []Advice{
			{Rule: "No architecture search", Because: "r = n/σ₁(ε, δ) is 7,420, below 10,000", Evidence: "On six tables that this rule was not fitted to, a search lost 0.4 to 2.1 points of accuracy in 11 of 12 paired comparisons.", Changes: "ε of 1.6 or more, or about 135,000 patients"},
			{Rule: "Six features", Because: "noise grows with the number of parameters, and eight attributes add less than they cost", Evidence: "The noisy ranking of stage 1; the drop after the sixth feature is 3.1 standard deviations of its noise.", Changes: "a larger share of ε for features"},
		},
		Outputs:  Paths{Model: "pawl-out/model", Report: "pawl-out/report.html", Statement: "pawl-out/statement.json", Card: "pawl-out/README.md"},
		Warnings: []string{"delta was not given; 1e-06 is the largest power of ten not above 1/(10·rows)"},
	}
}

// simulation is hospital with a seed.
func simulation() *Statement {
	s := hospital()
	s.NotPrivate = true
	s.Budget.Granted, s.Budget.SelfGranted = "self-granted by ann at 2026-11-27 14:05 UTC", true
	s.Warnings = append(s.Warnings, "--seed makes the noise predictable")
	return s
}

// benchmarkDemo is a public data set without a limit.
func benchmarkDemo() *Statement {
	s := hospital()
	test, auroc, chosen := Number(0.9012), Number(0.9431), Number(0.861)
	s.Command = "pawl fit adult --epsilon 2"
	s.Data = Data{Name: "adult", Target: "income", Task: "classification", Public: true, Rows: "declared 32561", Attributes: 14,
		Classes: []string{"<=50K", ">50K"}, Licence: "CC BY 4.0", Fingerprint: "keyed-blake2b:02ff"}
	s.Privacy.Unit, s.Privacy.RowsPerUnit, s.Privacy.Epsilon = "row", 1, 1.001
	s.Privacy.EpsilonBounds = map[string]Number{"PLD": 1.001, "RDP": Number(math.Inf(1))}
	s.Privacy.NotCovered = nil
	inf := Amount{Number(math.Inf(1)), 1}
	s.Budget = Budget{Ledger: "per-user", Dataset: "adult", Granted: "public data set: not limited", Total: inf, Spent: Amount{7.2, 1e-5}, Left: inf, Entry: "e-9", Head: "aa"}
	s.Score.Test, s.Score.AUROC, s.Score.UsedForChoosing = &test, &auroc, &chosen
	s.Score.AUROCInterval = &[2]Number{0.9402, 0.946}
	s.Score.How = "public benchmark, official test set"
	return s
}

// majority is a run whose budget buys no model.
func majority() *Statement {
	s := hospital()
	s.Budget.Granted, s.Budget.SelfGranted = "self-granted by ann at 2026-11-27 14:05 UTC", true
	s.Privacy.Epsilon, s.Privacy.Delta = 0.08, 0
	s.Privacy.EpsilonBounds = map[string]Number{"pure": 0.08}
	s.Privacy.Accountant, s.Privacy.Sampling, s.Privacy.Relation = "closed form", "full batch", "replace_one"
	s.Privacy.ByStage = map[string]Stage{"majority": {Order: 1, Epsilon: 0.08, Scope: "[0, 1)", What: "Class counts with discrete Laplace noise."}}
	s.Choice = Choice{Workflow: "paw", Model: "majority", UsefulModel: false, Search: "none"}
	s.Score = nil
	s.Warnings = nil
	return s
}

// shapesDemo is an additive model of eight classes, with more classes, categories and
// bins than are drawn in full, and groups that were paid for.
func shapesDemo() *Statement {
	s := hospital()
	s.Choice.Model = "explainable boosting machine"
	shapes := &Shapes{Scale: "the score of a class"}
	for k := range 8 {
		shapes.Outputs = append(shapes.Outputs, "class "+string(rune('A'+k)))
	}
	wave := func(j, k int) Number {
		return Number(math.Round(1e3*math.Sin(float64(j)/9+float64(k))) / 1e3 * float64(k+1) / 8)
	}
	fill := func(a Shape, bins int) {
		a.Values = make([][]Number, len(shapes.Outputs))
		for j := range bins {
			a.Rows = append(a.Rows, Number(math.Round(400*math.Exp(-float64(j*j)/float64(bins*bins)*9))-3))
			for k := range a.Values {
				a.Values[k] = append(a.Values[k], wave(j, k))
			}
		}
		shapes.Attributes = append(shapes.Attributes, a)
	}
	charges := Shape{Attribute: "charges", Importance: 0.61, Unknown: true}
	for j := range 65 {
		charges.Edges = append(charges.Edges, Number(math.Expm1(math.Log1p(50_000)*float64(j)/64)))
	}
	fill(charges, 65)
	ward := Shape{Attribute: "ward", Importance: 0.42, Unknown: true}
	for j := range 44 {
		ward.Categories = append(ward.Categories, "ward number "+string(rune('A'+j%26))+string(rune('a'+j/26)))
	}
	fill(ward, 45)
	fill(Shape{Attribute: "stay", Importance: 0.2, Edges: []Number{-0.5, 0.5, 1.5, 2.5, 3.5}}, 4)
	fill(Shape{Attribute: "smoker", Importance: 0.1, Categories: []string{"no", "yes"}}, 2)
	s.Shapes = shapes
	s.Choice.Selection = &Selection{How: "mutual-information from noisy tables with the label", Offered: 8, LeftOut: []string{"payer", "weekday"}, Epsilon: 0.3121, Share: 0.3121003}
	few := Number(math.NaN())
	s.Score.ByGroup = &ByGroup{Attribute: "sex", How: "released on held-out rows", Epsilon: 0.61, Groups: []GroupScore{
		{Group: "female", Value: 0.861, Interval: &[2]Number{0.842, 0.879}, Rows: 9120},
		{Group: "male", Value: 0.823, Interval: &[2]Number{0.802, 0.844}, Rows: 8874},
		{Group: "other", Value: few, Rows: 3, TooFew: true},
	}}
	return s
}
