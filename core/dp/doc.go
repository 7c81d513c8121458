// Package dp holds the vocabulary of differential privacy that all other packages share: the
// neighbouring relation, the algebra of Events, and scopes of the unit hash. It imports no other
// package of pawl, draws no randomness and computes no epsilon, which core/accountant does.
//
// An Event describes what a mechanism does to sensitive data in the terms that are necessary and
// sufficient for accounting. Events are values: they are compared, stored as versioned JSON, and
// may be priced again years later by a better accountant. The meaning of a kind of Event never
// changes; a new meaning gets a new kind.
package dp
