// Package identity recognises copies. It makes a print of a table (or of vectors behind keys) under the
// secret key of one ledger, and compares two prints: equal, mostly the same units, or different.
//
// What is compared is a loose form of each record: columns sorted by name, cells trimmed, numbers and booleans
// in one spelling, missing values alike. Packing, re-encoding (CSV, JSON lines, Parquet), the order of rows and
// columns, blank lines and line ends therefore leave a print as it is. The form serves to recognise and nothing
// else: it may merge cells that a mechanism tells apart, and no unit is named by it.
//
// A print, with the key, tells for a share of all records whether a guessed record is in the table. It is kept
// beside the ledger's secret and leaves it never.
package identity
