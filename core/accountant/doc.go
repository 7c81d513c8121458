// Package accountant computes the cost of an Event: epsilon at a delta, delta at an epsilon, and
// its Rényi curve. It finds the noise that meets a target, and decides whether a budget admits one
// more event.
//
// Every number is a proven upper bound, named in the Result, and the smallest valid bound counts.
// The package reads no data and draws no randomness. An event that cannot be bounded costs +Inf;
// one that is not understood is an error.
//
// There are two kinds of accounts. Epsilon and Delta hold for events that were all fixed before
// data was read. Filter and Doors also hold if each event was chosen after seeing the outputs of
// those before it.
//
// Where to start: parts.go (an event taken apart), convert.go (from Rényi to
// epsilon), sampled.go (DP-SGD), gaussian.go (the analytic curve), pldlaw.go and
// pldcompose.go (privacy loss distributions), attained.go and package lower (how far from exact),
// selection.go (the best of many runs), spending.go (admission).
package accountant
