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
	formulas.SelectionStudy
	Dense     bool           `json:"dense"`
	Variance  float64        `json:"variance"`
	Procedure dfs.Procedure  `json:"procedure"`
	Arms      []formulas.Arm `json:"arms"`
}

// study is that of the paper but for what a table says.
func (s *selecting) study() formulas.SelectionStudy {
	study, of := s.SelectionStudy, formulas.PublishedSelectionStudy()
	study.Data, study.Rows, study.Delta, study.Order, study.Seed, study.Epsilons = of.Data, of.Rows, of.Delta, of.Order, of.Seed, nil
	if s.Dense {
		study.Data = formulas.DenseMixture()
	}
	study.Data.MeanVariance = s.Variance
	for _, e := range s.Epsilons {
		study.Epsilons = append(study.Epsilons, noiseless(e))
	}
	return study
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
	out, err := s.study().Run(ctx)
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
	of := s.study()
	return dfs.Honest{Procedure: s.Procedure, Data: of.Data, Rows: of.Rows, Arms: s.Arms, Delta: of.Delta, Replicates: of.Replicates, Seed: of.Seed}.Run(ctx)
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
