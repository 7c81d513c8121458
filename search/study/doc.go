// Package study runs a priced search: it draws candidates, has them trained and scored
// under the permit of the whole search, and returns what the strategy may release.
//
// A study can be interrupted at any moment. Its randomness is the permit's and every
// trial's that of a part of the permit named by its number, so that a study that goes on recomputes what
// it computed before, bit for bit: nothing new is learnt about the data, and nothing is
// charged again. A Journal keeps the scores of trials that are done; models are not
// kept, the winner's is trained once more where it is missing.
//
// Whether scores of losers may be looked at is the strategy's matter: a selection lets
// the winner out alone, and its journal is as secret as the data until it is erased.
package study
