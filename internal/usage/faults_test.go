package usage

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

type placed struct{ place, what string }

func (p placed) Error() string        { return p.place + ": " + p.what }
func (p placed) Fault() (_, _ string) { return p.place, p.what }
func (p placed) Hint() string         { return "mend it" }
func words(err error) string          { return err.Error() }

func TestAll(t *testing.T) {
	one := New("a slip", "mend it")
	if All() != nil || All(nil, nil) != nil {
		t.Error("nothing is a fault")
	}
	if All(nil, one) != one {
		t.Error("a single fault is not returned as it is")
	}
	err := fmt.Errorf("in a call: %w", All(one, nil, All(placed{"f:1", "blank"}, placed{"f:2", "blank"}), New("a slip", "mend it")))
	var all *Faults
	if !errors.As(err, &all) || len(all.List) != 3 || !errors.Is(err, Err) || !errors.As(err, new(placed)) {
		t.Fatalf("%v", err)
	}
	var b strings.Builder
	if err := all.Write(&b, words); err != nil {
		t.Fatal(err)
	}
	if want := "error: 3 faults; nothing was charged\na slip\n  hint: mend it\nblank\n  f:1\n  f:2\n  hint: mend it\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestFaultsAreCapped(t *testing.T) {
	var many []error
	for i := range 3 * MaxListed {
		many = append(many, placed{fmt.Sprint("f:", i), "blank"})
	}
	var b strings.Builder
	var all *Faults
	errors.As(All(many...), &all)
	if err := all.Write(&b, words); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n  f:"); n != MaxListed || !strings.Contains(b.String(), "more are not listed") {
		t.Errorf("%d places are listed, want %d and a remark", n, MaxListed)
	}
}
