package feature

import (
	"errors"
	"fmt"
)

// Errors that callers branch on with errors.Is.
var (
	ErrCount         = errors.New("number of features to choose is out of range")
	ErrNoFeatures    = errors.New("no features to choose from")
	ErrOneClass      = errors.New("the label has one class, so nothing can be learned about it")
	ErrOneCategory   = errors.New("an attribute with one category is the same for every row")
	ErrDuplicateName = errors.New("two features have one name")
	ErrShape         = errors.New("statistics do not fit the domain")
	ErrMissing       = errors.New("the selector needs statistics that are missing")
	ErrOption        = errors.New("selector option out of range")
	ErrTooNoisy      = errors.New("the noise exceeds the counts: do not select privately")
	ErrUnknownRows   = errors.New("the number of rows must be public here")
	ErrNotFinite     = errors.New("a count is not a finite number")
)

// CountError says how many features were asked for, and of how many.
type CountError struct {
	Asked, Features int
	// AutoAllowed: the selector can choose the number itself.
	AutoAllowed bool
}

func (e *CountError) Error() string {
	s := fmt.Sprintf("%v: asked for %d of %d features, want 1 to %d", ErrCount, e.Asked, e.Features, e.Features)
	if e.Asked == Auto {
		s = fmt.Sprintf("%v: this selector ranks features and cannot choose their number, want 1 to %d", ErrCount, e.Features)
	} else if e.AutoAllowed {
		s += " or auto"
	}
	return s
}

func (e *CountError) Unwrap() error { return ErrCount }

// FeatureError names the feature that a complaint is about.
type FeatureError struct {
	Feature string
	// Other is the second feature of a pair, or empty.
	Other string
	Err   error
}

func (e *FeatureError) Error() string {
	if e.Other != "" {
		return fmt.Sprintf("features %q and %q: %v", e.Feature, e.Other, e.Err)
	}
	return fmt.Sprintf("feature %q: %v", e.Feature, e.Err)
}

func (e *FeatureError) Unwrap() error { return e.Err }

// NoiseError holds the public figures behind ErrTooNoisy.
type NoiseError struct {
	// NoiseStdDev is the deviation of the noise in one cell, in rows.
	NoiseStdDev float64
	// MeanCell is the expected number of rows in a cell.
	MeanCell float64
	Rows     float64
	Tables   int
	Cells    int
}

func (e *NoiseError) Error() string {
	return fmt.Sprintf("%v: noise of standard deviation %.3g per cell against %.3g rows in an average cell (%.6g rows in each of %d tables with %d cells)",
		ErrTooNoisy, e.NoiseStdDev, e.MeanCell, e.Rows, e.Tables, e.Cells)
}

func (e *NoiseError) Unwrap() error { return ErrTooNoisy }

// Hint says how to go on.
func (e *NoiseError) Hint() string {
	return "use all features, or choose them by what is known about the subject; or merge levels, use fewer bins, or rank by label tables alone"
}
