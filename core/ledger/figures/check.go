package figures

import (
	"context"
	"fmt"

	"pawl/core/ledger"
)

// Checked is the result of Check, in words.
type Checked struct {
	Name    string      `json:"name"`
	Records int         `json:"records"`
	Head    ledger.Hash `json:"head"`
	// Chain, Codes and SecondPlace describe in words what was checked and the result.
	Chain       string `json:"chain"`
	Codes       string `json:"authentication_code"`
	SecondPlace string `json:"second_place"`
}

// Check reads a whole log again, as the ledger's Verify does, and returns what was checked.
func Check(ctx context.Context, l Books, dataset string, heads ...string) (Checked, error) {
	c, err := l.Check(ctx, dataset, heads...)
	if err != nil {
		return Checked{}, err
	}
	out := Checked{Name: c.Name, Records: c.Records, Head: c.Head, Chain: "holds: every record follows the previous one",
		Codes: "none yet: the next record creates it"}
	if c.Coded {
		out.Codes = "holds: the head is signed with the ledger's key"
	}
	switch {
	case !c.Heads:
		out.SecondPlace = "not asked"
	case c.Seen.Seq == 0:
		out.SecondPlace = "this machine had not seen this log before, or its record of it was deleted"
	case c.Seen.Hash == c.Head:
		out.SecondPlace = fmt.Sprintf("agrees: this machine has seen it up to record %d, its last", c.Seen.Seq)
	default:
		out.SecondPlace = fmt.Sprintf("agrees: this machine has seen it up to record %d, which is in it", c.Seen.Seq)
	}
	return out, nil
}
