// Package crossover measures below which ε a simple configuration is better than a
// complex one.
//
// A configuration (Spec) is everything that is chosen before training: features,
// encoding, model or network, which layers are trained, optimizer. Each one is tuned for
// every ε before it is compared (Tuning), both meet the same splits and seeds, and the
// crossover comes with a bootstrap interval (theory.EstimateCrossover).
//
// All runs are simulations on public data: nothing is paid for, every accuracy is exact,
// and nothing that is printed is private. On sensitive data each run would have to be
// paid; Price says what they would cost together.
//
// Where to start: spec.go (the words of a configuration), study.go (which cells are
// measured), result.go (what they say), rows.go (what more rows would change).
package crossover
