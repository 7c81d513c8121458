// Package audit runs mechanisms in two worlds that differ in one unit and asks whether
// their outputs can be told apart more often than what the mechanism is priced as
// allows. It is how a mistake in a mechanism shows that no proof and no price shows:
// noise that was scaled by the wrong sensitivity, shared, reused or left out.
//
// Where to start: mechanism.go (what an audit is), release.go, gradient.go, convex.go
// and selection.go (every mechanism of core with neighbours at which its sensitivity is
// attained or nearly so), bound (from outcomes to a lower bound on ε and a verdict).
// Membership inference against a trained model is in attack.
//
// Before the claim comes the specification (specification.go, spec*.go): on rows that are
// known, what is released less what they add must be noise of the stated law, drawn anew for
// every number. planted.go does the same for a named network, by canaries in the traces of
// its own layers. tools/sabotage makes core worse one line at a time and asks both.
//
// An audit finds faults. One that finds none proves nothing: it looked at one pair of
// neighbours and at one number of the output.
//
// All rows here are made up. They are sealed as a sensitive data set, so that mechanisms
// take the path that they take otherwise, permit included.
package audit
