package runners

import (
	"context"
	"math"

	"pawl/experiments"
	"pawl/experiments/dfs"
	"pawl/experiments/formulas"
)

// selecting is the study of selection by distance by one procedure: on rows of Data, else on drawn ones in one reading of
// their law. ε is 0 without noise.
type selecting struct {
	Data       string             `json:"data"`
	Dense      bool               `json:"dense"`
	Variance   float64            `json:"variance"`
	Procedure  formulas.Procedure `json:"procedure"`
	Arms       []formulas.Arm     `json:"arms"`
	Replicates int                `json:"replicates"`
}

// studySelection returns the errors of all replicates, arm by arm.
func studySelection(ctx context.Context, r *experiments.Run, s *selecting) []float64 {
	study := formulas.PublishedSelectionStudy()
	study.Procedure, study.Arms, study.Replicates = s.Procedure, s.Arms, s.Replicates
	for i := range s.Arms {
		if s.Arms[i].Epsilon == 0 {
			s.Arms[i].Epsilon = math.Inf(1)
		}
	}
	if s.Data != "" {
		rows := must(dfs.Open(s.Data, r.DataDir))
		rows.All = s.Procedure == formulas.ClassSums
		study.Data = rows
		return must(study.Run(ctx))
	}
	law := formulas.SparseMixture()
	if s.Dense {
		law = formulas.DenseMixture()
	}
	law.MeanVariance = s.Variance
	study.Data = formulas.Synthetic{Mixture: law, Rows: 30}
	return must(study.Run(ctx))
}
