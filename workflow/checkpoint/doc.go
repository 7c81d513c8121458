// Package checkpoint keeps one training that may be interrupted in one private file:
// its secret, from which the ledger derives all its randomness, what it computes, and how
// far it is.
//
// The secret makes the rest of the run, and its score, the same function of the rows that
// they would have been; whoever holds it can take the noise out of what was released.
// So the file is readable by its owner alone and is erased when the run has ended. A
// MAC under a key of the file's own finds bytes that were damaged or edited; it protects from
// nobody who reads the file.
package checkpoint
