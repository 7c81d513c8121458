// Package formulas holds the models by which the source papers explain why a larger
// model can lose under differential privacy, as functions that can be computed
// and simulated: what privacy costs, when dropping a feature helps, a private
// Gaussian mixture with its Fisher classifier and error bound.
//
// Nothing here protects anybody and nothing here touches rows of a data set: noise
// comes from seeded generators, data from distributions written down in this
// package, accuracies from whoever measured them. Sources are marked
//
//	[B] Bao, Bauer and Bindschaedler, On the Importance of Architecture and
//	    Feature Selection in Differentially Private Machine Learning
//	[D] Larger Model Causes Lower Classification Accuracy under Differential
//	    Privacy: Reason and Solution (under review)
//
// Where our copy of them reads otherwise than the code, docs/READING.md says why.
//
// Where to start: lemma.go (dropping a feature), mixture.go, fisher.go
// and bound.go (the mixture), dfs.go (the study of feature selection). Intervals, crossings and fits
// of measured accuracies are in evidence/theory.
package formulas

import "math"

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
