// Package identity recognises copies. It makes a print of a table (or of vectors behind keys) under the
// secret key of one ledger, and compares two prints: equal, mostly the same units, or different.
//
// Prints compare a loose form of each record: columns sorted by name, cells trimmed, numbers and booleans in
// one spelling, all missing values equal. Packing, re-encoding (CSV, JSON lines, Parquet), the order of rows
// and columns, blank lines and line ends therefore do not change a print. The form serves only to recognise
// copies: it may merge cells that a mechanism distinguishes, and it does not identify units.
//
// A print, together with the key, reveals for a share of all records whether a guessed record is in the table.
// It is stored beside the ledger's secret and never released.
package identity
