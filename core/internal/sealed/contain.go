package sealed

import "errors"

// ErrFault replaces a panic while rows were open. It contains no details, because the message of a
// panic, and the arguments in its stack trace, may be cells.
var ErrFault = errors.New("a fault while rows were open (its details could show a row and are withheld); the charge stays")

// Contain is deferred by a mechanism around its work on opened rows:
//
//	defer sealed.Contain(&err)
//
// Callbacks (targets, predictions, encodings) get rows and may fail on one of them. The named
// results beside err must still be zero if they do.
func Contain(err *error) {
	if recover() != nil {
		*err = ErrFault
	}
}
