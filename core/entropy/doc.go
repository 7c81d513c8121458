// Package entropy is the only source of secret randomness in pawl: for lots, for every noise value,
// and for the number of runs of a private selection.
//
// A Source is a stream of AES-256 in counter mode. Its key comes from the operating system (New),
// or from a Secret that was drawn there earlier and is bound to one computation, so that a resumed
// run recomputes the same output instead of spending twice. A caller cannot supply the key of a
// stream: a stream that is not from the operating system is Seeded, and marked as such.
// Computational security replaces perfect randomness: a reader of the outputs who cannot break
// AES-256 and HMAC-SHA256 learns nothing about the stream.
//
// Source is a concrete type with unexported fields: a substitute with weaker randomness does not
// compile where a mechanism needs a Source. Seeded is the only predictable origin. It exists for
// simulation, and every child inherits its mark, so that mechanisms can mark their output NOT
// PRIVATE.
package entropy
