package runners

import (
	"context"
	"fmt"
	"math"

	"pawl/experiments"
	"pawl/experiments/dfs"
	"pawl/experiments/formulas"
)

// selecting is the study of selection by distance in one reading; ε is 0 without noise. Arms have an honest procedure.
type selecting struct {
	Dense       bool                 `json:"dense"`
	Variance    float64              `json:"variance"`
	Calibration formulas.Calibration `json:"calibration"`
	Noisy       bool                 `json:"noisy"`
	Counts      []int                `json:"counts"`
	Epsilons    []float64            `json:"epsilons"`
	Rankings    []formulas.Ranking   `json:"rankings"`
	Procedure   dfs.Procedure        `json:"procedure"`
	Arms        []formulas.Arm       `json:"arms"`
	Replicates  int                  `json:"replicates"`
}

func (s *selecting) data() formulas.Mixture {
	m := formulas.SparseMixture()
	if s.Dense {
		m = formulas.DenseMixture()
	}
	m.MeanVariance = s.Variance
	return m
}

// noiseless makes no noise of 0.
func noiseless(epsilon float64) float64 {
	if epsilon == 0 {
		return math.Inf(1)
	}
	return epsilon
}

// studySelection returns the errors of all replicates, for each ε, ranking and number of features.
func studySelection(ctx context.Context, _ *experiments.Run, s *selecting) (errors []float64, err error) {
	study := formulas.PublishedSelectionStudy()
	study.Data, study.Calibration, study.NoisyQueries, study.Replicates = s.data(), s.Calibration, s.Noisy, s.Replicates
	study.Counts, study.Rankings, study.Epsilons = s.Counts, s.Rankings, nil
	for _, e := range s.Epsilons {
		study.Epsilons = append(study.Epsilons, noiseless(e))
	}
	out, err := study.Run(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range out.All {
		errors = append(errors, o.Errors...)
	}
	return errors, nil
}

// selectHonestly returns the errors of all replicates, arm by arm.
func selectHonestly(ctx context.Context, _ *experiments.Run, s *selecting) ([]float64, error) {
	of := formulas.PublishedSelectionStudy()
	return dfs.Honest{Procedure: s.Procedure, Data: s.data(), Rows: of.Rows, Arms: s.Arms, Delta: of.Delta, Replicates: s.Replicates, Seed: of.Seed}.Run(ctx)
}

// selectingRows is the choice of features of real rows, point by point as published, or honest.
type selectingRows struct {
	Data       string      `json:"data"`
	How        string      `json:"how"`
	Points     []dfs.Point `json:"points"`
	Replicates int         `json:"replicates"`
}

func selectRows(ctx context.Context, r *experiments.Run, s *selectingRows) ([]float64, error) {
	src, err := dfs.Open(s.Data, r.DataDir)
	if err != nil {
		return nil, err
	}
	for i := range s.Points {
		s.Points[i].Epsilon = noiseless(s.Points[i].Epsilon)
	}
	switch s.How {
	case "published":
		return src.Published(ctx, s.Points, s.Replicates)
	case "honest":
		return src.Honest(ctx, s.Points, s.Replicates)
	}
	return nil, fmt.Errorf("how %q: want published or honest", s.How)
}
