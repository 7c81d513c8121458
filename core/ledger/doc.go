// Package ledger keeps the account of what was done to sensitive data: one
// append-only, hash-chained log of records per data set, from which every state
// is derived by replay.
//
// A budget belongs to a data set's name, never to bytes or to a directory. What
// touches rows first calls Reserve: one durable transaction checks the limit and
// books the event, and only then hands out the permit that opens rows. Commit
// closes a reservation; a crash in between leaves it charged, because nobody can
// prove that the rows were not read. Records hold events and not epsilons, so
// that a sharper accountant can read an old log again.
//
// The permit brings the noise too: the ledger makes the root of its streams, fresh, from
// a seed (and then the entry says so), or from the secret of a computation that may be
// run again.
//
// Two accounts are kept apart. The first reservation on a data set is admitted
// by its own smallest bound at the budget's delta; from the second on somebody
// has looked at an output, so a privacy filter decides over all of them.
//
// A budget may be divided: a share caps what one analyst may reserve, by the same two
// rules over his entries alone, and once there is one, who has none is refused. The
// steward can freeze a data set, sign the release of what an entry produced, and book
// a run that was done elsewhere, even one that did not fit.
//
// Logs move between stores by Export and Import with every hash as it was. The
// ledger's secret moves only when asked for; without it an account of scopes cannot
// go on in another ledger.
//
// The ledger is bookkeeping that keeps honest people honest: it detects edited,
// cut and reordered logs by their chain, and by a code of each head under its secret
// what was cut or written again so that the chain holds. A second place (Heads)
// remembers what this machine has seen, so that a ledger that was deleted, swapped
// or put back from an old copy is refused until somebody says why (Reconcile).
// Confirm asks through the ledger's address, last before an output leaves. Whoever
// can write both places and reads the secret can replace both; the chain head
// printed in a report is what that cannot reproduce; pass it to Verify.
package ledger
