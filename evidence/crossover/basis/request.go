// Package basis opens what configurations are compared on: public data, what stands in
// for sensitive data, or sensitive rows on which the ledger charges every run.
package basis

import (
	"context"
	"io"

	"pawl/core/ledger"
	"pawl/data/source"
	"pawl/internal/request"
)

// Table declares a table.
type Table struct {
	request.Fit
	source.Options
}

// Request says how the data are declared, and what stands in for them or may be charged.
type Request struct {
	Table Table
	// StandIn is compared on instead of the data: a built-in data set or a file, or "".
	StandIn string
	// Pay is the largest epsilon for all runs together on sensitive data, or "".
	Pay string
	// Labels, Classes and Images declare images of one's own: the file of their labels, the
	// names of the classes, and their number.
	Labels, Classes, Images string
	// Updated accepts that the data have changed since they were last used.
	Updated bool
}

// Desk opens data and asks the ledger about them.
type Desk struct {
	OpenLedger func(context.Context) (*ledger.Ledger, error)
	DataDir    string       // of built-in data sets
	Note       func(string) // hears remarks for the operator
	Progress   io.Writer    // of one line that says what all runs cost
}

func (a *Desk) desk(l *ledger.Ledger) *request.Desk { return &request.Desk{Ledger: l, Note: a.Note} }
