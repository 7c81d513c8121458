package fleet

import (
	"bytes"
	"errors"
	"testing"

	"pawl/core/ledger"
)

// What one end closes for another opens there, about the same thing, and nowhere else: not at a
// third end of the same study, not without its secret, not altered, not sent back.
func TestHandover(t *testing.T) {
	end := func(secret string) *handover {
		h, err := newHandover([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	from, to, third := end("s"), end("s"), end("s")
	stranger := &handover{[]byte("other"), to.private} // who has broken the agreement, and not the ledger
	rows := []byte("age,sick\n41,yes\n")
	closed, err := from.close(rows, to.public(), "part 0")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(closed, []byte("41")) {
		t.Error("the rows can be read on the way")
	}
	if got, err := to.open(closed, from.public(), "part 0"); err != nil || !bytes.Equal(got, rows) {
		t.Errorf("%q, %v", got, err)
	}
	altered := bytes.Clone(closed)
	altered[len(altered)-1]++
	for name, c := range map[string]struct {
		at            *handover
		closed, other []byte
		about         string
	}{
		"another part":          {to, closed, from.public(), "part 1"},
		"a third end":           {third, closed, from.public(), "part 0"},
		"the sender of another": {to, closed, third.public(), "part 0"},
		"sent back":             {from, closed, to.public(), "part 0"},
		"altered":               {to, altered, from.public(), "part 0"},
		"cut":                   {to, closed[:8], from.public(), "part 0"},
		"no key":                {to, closed, nil, "part 0"},
		"a key of small order":  {to, closed, make([]byte, 32), "part 0"},
		"without the secret":    {stranger, closed, from.public(), "part 0"},
	} {
		if got, err := c.at.open(c.closed, c.other, c.about); !errors.Is(err, ledger.ErrToken) || got != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
