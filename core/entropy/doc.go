// Package entropy is the only origin of secret randomness in pawl: who is in a
// lot, every noise value, the number of runs of a private selection.
//
// A Source is a stream of AES-256 in counter mode. Its key comes from the
// operating system (New), or from a Secret that was drawn there earlier and is bound
// to one computation, so that a run which goes on after an interruption recomputes
// the same output instead of spending twice. No key of a caller's making becomes a
// stream: what is not from the operating system is Seeded, and tainted.
// Computational security replaces perfect randomness: a reader of the outputs
// who cannot break AES-256 and HMAC-SHA256 learns nothing about the stream.
//
// Source is a concrete type with unexported fields: a look-alike with weaker
// randomness does not compile where a mechanism asks for one. Seeded is the one
// predictable origin; it exists for simulation, and its taint is inherited by
// every child, so that mechanisms can mark their output NOT PRIVATE.
package entropy
