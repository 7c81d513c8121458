// Package accountant computes what an Event costs: epsilon at a delta, delta at
// an epsilon, its Rényi curve, the noise that meets a target, and whether a
// budget admits one more event.
//
// Every number is an upper bound with a proof, named in the Result, and the
// smallest valid bound counts. Nothing here reads data or draws randomness.
// What cannot be bounded costs +Inf; what is not understood is an error.
//
// Two accounts are kept apart. Epsilon and Delta hold for events that were all
// fixed before data was read. Filter holds when each event was chosen after
// seeing the outputs of those before it.
//
// Where to start: parts.go (an event taken apart), convert.go (from Rényi to
// epsilon), sampled.go (DP-SGD), gaussian.go (the analytic curve), pldlaw.go and
// pldcompose.go (privacy loss distributions), attained.go and package lower (how far from exact),
// selection.go (the best of many runs), filter.go (admission).
package accountant
