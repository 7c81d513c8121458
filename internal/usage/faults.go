package usage

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Faults are several mistakes that one look has found.
type Faults struct{ List []error }

// All is what errs are together: nil for none, and a single one as it is. Lists within it are
// taken apart, and what was said before is passed over.
func All(errs ...error) error {
	var all []error
	said := map[string]bool{}
	add := func(err error) {
		if !said[err.Error()] {
			said[err.Error()] = true
			all = append(all, err)
		}
	}
	for _, err := range errs {
		if more := (*Faults)(nil); errors.As(err, &more) {
			for _, one := range more.List {
				add(one)
			}
		} else if err != nil {
			add(err)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &Faults{all}
}

// Error is the first of them in one line, and how many more there are.
func (f *Faults) Error() string {
	return fmt.Sprintf("%v (and %d more)", f.List[0], len(f.List)-1)
}

// Hint is that of the first.
func (f *Faults) Hint() string { return hintOf(f.List[0]) }

// ExitStatus is 2.
func (f *Faults) ExitStatus() int { return Status }

// Is says that they are mistakes of an operator's.
func (f *Faults) Is(target error) bool { return target == Err }

// Unwrap returns all of them.
func (f *Faults) Unwrap() []error { return f.List }

// MaxListed is how many lines of places Write writes.
const MaxListed = 100

// Write lists the mistakes by kind: what is wrong, the places where it is, and how to mend it.
// words turns an error into one line.
func (f *Faults) Write(w io.Writer, words func(error) string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "error: %d faults; nothing was charged\n", len(f.List))
	listed := 0
	for _, k := range f.kinds(words) {
		if listed >= MaxListed {
			break
		}
		fmt.Fprintf(&b, "%s\n", k.what)
		for _, at := range k.places {
			if listed++; listed > MaxListed {
				break
			}
			fmt.Fprintf(&b, "  %s\n", at)
		}
		if k.hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", k.hint)
		}
	}
	if listed > MaxListed {
		fmt.Fprintf(&b, "more are not listed: correct these first\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Kind is one kind of mistake with the places where it was found.
type kind struct {
	what, hint string
	places     []string
}

// kinds groups the mistakes in the order of their first.
func (f *Faults) kinds(words func(error) string) []*kind {
	var all []*kind
	known := map[[2]string]*kind{}
	for _, err := range f.List {
		what, place, hint := words(err), "", strings.Join(strings.Fields(hintOf(err)), " ")
		var placed interface{ Fault() (place, what string) }
		if errors.As(err, &placed) {
			place, what = placed.Fault()
		}
		k := known[[2]string{what, hint}]
		if k == nil {
			k = &kind{what: what, hint: hint}
			known[[2]string{what, hint}] = k
			all = append(all, k)
		}
		if place != "" {
			k.places = append(k.places, place)
		}
	}
	return all
}

func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}
