// Package dp holds the vocabulary of differential privacy that every other
// package shares: the neighbouring relation, the algebra of Events and scopes of
// the unit hash. It imports nothing of pawl, draws
// no randomness and computes no epsilon: that is the work of core/accountant.
//
// An Event describes what a mechanism does to sensitive data in the terms that are
// necessary and sufficient for accounting. Events are values: they are compared,
// stored as versioned JSON, and read again by a sharper accountant years later.
// The meaning of an Event kind never changes; a new meaning is a new kind.
package dp
