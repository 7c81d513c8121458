package export

import "fmt"

// Error names a part of a model that the format cannot express.
type Error struct {
	// Part is the column or layer: "layer 2 (scatter)".
	Part, Reason, Mend string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Part, e.Reason) }

// Hint says what to do instead.
func (e *Error) Hint() string { return e.Mend }
