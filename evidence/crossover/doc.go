// Package crossover measures below which ε a simple configuration is better than a
// complex one.
//
// A configuration (Spec) is everything that is chosen before training: features,
// encoding, model or network, which layers are trained, optimizer. Each one is tuned for
// every ε before it is compared (Tuning), both meet the same splits and seeds, and the
// crossover comes with a bootstrap interval (theory.EstimateCrossover).
//
// Runs on public data are simulations: nothing is paid for, every accuracy is exact, and
// nothing that is printed is private. On sensitive data each run is paid for (Purse):
// planned, booked and scored by noisy counts as a single fit is; Price says what all of
// them cost together.
//
// Where to start: spec.go (the words of a configuration), study.go (which cells are
// measured), paid.go (what differs on sensitive rows), result.go (what they say), rows.go
// (what more rows would change).
package crossover
