// Package feature chooses features. Every function is pure: its inputs are public
// facts (Domain) and Statistics — tables of counts or sums by class — that are exact on
// public data and noisy otherwise. Nothing here opens a private row or draws privacy
// noise; whoever releases the statistics pays for them once, by Need.Quote, and any
// search over them is free afterwards.
//
//	Domain ── Need.Quote ──> price of the release (workflow, core/release)
//	Statistics ── Matrix ──> merit ──> Greedy, Genetic
//	           └─ scores ──> Relevance, Distance, TStatistic, Threshold
//
// Attributes are the columns of a schema; columns (of an encoding) are attributes, or
// single levels of one that is encoded one-hot. A record touches one cell of a table of
// two attributes, whatever their number of levels, so tables are released at the level of
// attributes, and those of columns follow from them (Statistics.Matrix).
//
// Sources: Bao, Bauer and Bindschaedler, "On the Importance of Architecture and Feature
// Selection in Differentially Private Machine Learning" ([B]), for correlation-based
// selection and the privacy-aware search; "Larger model causes lower classification
// accuracy under differential privacy" ([D]) for the distance criterion.
package feature
