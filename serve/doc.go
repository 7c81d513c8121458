// Package serve shows a ledger, plans, studies and reports in a browser, and offers the same over
// HTTP as JSON. It is the pages of pawl serve.
//
// Everything is rendered by the server from templates; the pages can be read and used without
// their script. Pages show what the command line prints: public facts, and what was released and
// paid for. None shows a cell, a count of rows or an error's place in a file of rows.
//
// # Who may ask
//
// Every request passes one gate (guard.go) before a page is looked for: the name of the host is
// one of a list, the origin is ours, the size is bounded, and whoever asks has exchanged a link
// that works once for a cookie, or was named by a proxy over a Unix socket. A form carries a
// number that works once. The ledger is read, and changed by a steward's form and by a job only.
package serve
