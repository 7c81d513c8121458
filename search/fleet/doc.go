// Package fleet runs the trials of a study on other machines, through a NATS broker.
//
// The coordinator is the process that has charged the study. It alone draws candidates,
// keeps the journal and decides which trial is done; a worker is given one trial at a
// time and returns its score, nothing else. The winner is trained once more by the
// coordinator, with the noise that it had.
//
// Workers and coordinator share the ledger, whose secret closes every message: the broker
// sees that there are messages, how many and how long they are, never a permit, a
// candidate or a score. How many trials there are is a secret of a private selection, so
// the broker belongs to those who are trusted with that.
//
// A coordinator may hand its rows to workers that do not have them (Order.Cargo): each gets
// them closed under a key of its own and holds them in memory.
//
// What may happen, and what follows:
//
//   - A worker dies or is cut off: its trial goes to another one, which computes the same
//     score, because a trial's noise follows from its number.
//   - The coordinator dies: the study is charged and its journal holds what is done. The
//     same command goes on, and workers find it.
//   - The broker loses everything: the coordinator publishes again what it waits for.
//   - A message arrives twice: the second result of a trial is compared with the first and
//     dropped. An acknowledgement of the broker commits nothing; the journal does.
//
// No clock of one machine is compared with that of another.
package fleet
