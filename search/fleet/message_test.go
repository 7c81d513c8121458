package fleet

import (
	"strings"
	"testing"
)

// An order that another version wrote in its own way is not read in part: what says who wrote it is kept, and refused by name.
func TestOrdersOfOtherVersions(t *testing.T) {
	for _, c := range []struct {
		text string
		want Order
		bad  bool
	}{
		{text: `{"study":"s","name":"n","software":"1","kernel":"k","spec":"p","job":{}}`, want: Order{Study: "s", Name: "n", Software: "1", Kernel: "k", Spec: "p"}},
		{text: `{"study":"s","name":"n","software":"2","kernel":"k","spec":"p","job":{},"clipping":"new"}`, want: Order{Study: "s", Name: "n", Software: "2 (other messages)"}},
		{text: `{"study":"s","name":"n","software":"2","rows":{"key":"","secret":"","size":1,"packed":true}}`, want: Order{Study: "s", Name: "n", Software: "2 (other messages)"}},
		{text: `{"study":"s","job":{}}{"study":"t"}`, bad: true},
		{text: `[]`, bad: true},
	} {
		var o Order
		err := readOrder([]byte(c.text), &o)
		o.Job = nil
		if (err != nil) != c.bad || err == nil && (o.Study != c.want.Study || o.Name != c.want.Name || o.Software != c.want.Software || o.Kernel != c.want.Kernel || o.Spec != c.want.Spec || o.Rows != nil) {
			t.Errorf("%s: %+v, %v", c.text, o, err)
		}
	}
	for _, text := range []string{`{"trial":"a","bits":1,"gave":true}`, `{"trial":"a"} x`} {
		if err := strictly([]byte(text), new(Result)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
	if text := (&MismatchError{What: "pawl", Study: "n", There: "2 (other messages)", Here: "1"}).Error(); !strings.Contains(text, "pawl 2") || !strings.Contains(text, "has 1") {
		t.Error(text)
	}
}
