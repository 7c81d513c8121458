// Package ledger records what was done to sensitive data, in one append-only, hash-chained log of
// records per data set. Every state is derived by replaying the log.
//
// A budget belongs to a data set's name, never to bytes or to a directory. Code that needs rows
// first calls Reserve: one durable transaction checks the limit and charges the event, and only
// then issues the permit that opens rows. Commit closes a reservation; a crash in between leaves it
// charged, because nobody can prove that the rows were not read. Records hold events and not
// epsilons, so that a better accountant can price an old log again.
//
// The permit also holds the source of the noise: the ledger makes the root of its streams fresh,
// from a seed (which the entry records), or from the secret of a computation that may be repeated.
//
// The first reservation on a data set is admitted by its own smallest bound at the budget's delta.
// From the second on somebody may have seen an output, so a privacy filter decides over all of
// them.
//
// A budget may be divided: a share caps what one analyst may reserve, by the same two rules over
// his entries alone, and once there is a share, users without one are refused. The steward can
// freeze a data set, approve the release of what an entry produced, and charge a run made outside
// pawl, even one that does not fit.
//
// Export and Import move logs between stores with every hash unchanged. The ledger's secret moves
// only on request; without it an account with scopes cannot continue in another ledger.
//
// The ledger is bookkeeping for honest users, not access control. Its chain reveals edited, cut and
// reordered logs. A code of each head under the ledger's secret reveals logs that were cut or
// rewritten so that the chain still holds. A second place (Heads) remembers what this machine has
// seen, so that a ledger that was deleted, swapped or restored from an old copy is refused until
// somebody gives a reason (Reconcile). Confirm checks through the ledger's address just before an
// output is released. Somebody who can write both places and read the secret can replace both, but
// cannot reproduce the chain head printed in a report: pass it to Verify.
package ledger
