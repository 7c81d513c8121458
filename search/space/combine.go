package space

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Join is the product of several spaces: features, architecture and hyperparameters
// of one candidate (Bao, Bauer and Bindschaedler, Eq. (6)). A dimension may stand in
// one of them only, and one of them may say what builds the net. Quantities have to
// be bound anew.
func Join(name string, spaces ...*Space) (*Space, error) {
	d := Definition{Name: name}
	from := map[string]string{}
	for _, s := range spaces {
		for _, n := range s.Dimensions() {
			if other, twice := from[n]; twice {
				return nil, fmt.Errorf("search spaces %s and %s both have a dimension %s", other, s.Name(), n)
			}
			from[n] = s.Name()
		}
		if s.Net() != "" {
			if d.Net != "" && d.Net != s.Net() {
				return nil, fmt.Errorf("search space %s builds its net by %s, another by %s", s.Name(), s.Net(), d.Net)
			}
			d.Net = s.Net()
		}
		d.Dimensions = append(d.Dimensions, s.definition.Dimensions...)
		d.Constraints = append(d.Constraints, s.definition.Constraints...)
	}
	return New(d)
}

// Open returns the space that a person names: one that comes with the program, a
// file (a name with a dot or a slash), or several joined by commas, such as
// "fcn,optimizers".
func Open(text string) (*Space, error) {
	var all []*Space
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		s, ok := Lookup(one)
		if !ok {
			if !strings.ContainsAny(one, `./\`) {
				return nil, &Error{File: "search space " + one, Msg: "not a built-in space" + near(one, List()), hint: "built-in spaces: " + strings.Join(List(), ", ") + "; give a file with its folder or ending: ./" + one + ".yaml"}
			}
			var err error
			if s, err = Load(one); errors.Is(err, fs.ErrNotExist) {
				return nil, &Error{File: one, Msg: "there is no such file", hint: "spaces that come with the program: " + strings.Join(List(), ", ")}
			} else if err != nil {
				return nil, err
			}
		}
		all = append(all, s)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return Join(text, all...)
}

// Exclude returns the space without some values of a dimension, as one more
// constraint. Quantities have to be bound anew.
func (s *Space) Exclude(dimension string, values ...Value) (*Space, error) {
	i, ok := s.frame.index[dimension]
	if !ok {
		return nil, fmt.Errorf("search space %s: %q is not a dimension%s", s.Name(), dimension, near(dimension, s.Dimensions()))
	}
	d := s.Definition()
	for _, v := range values {
		text := ""
		switch v.kind {
		case Text:
			text = quote(v.text)
		case Number, Flag:
			text = NumberValue(v.number).String()
		}
		if text == "" || v.kind != s.frame.dims[i].kind {
			return nil, fmt.Errorf("search space %s: %s has no value %v to exclude", s.Name(), dimension, v)
		}
		d.Constraints = append(d.Constraints, Constraint{Check: dimension + " != " + text})
	}
	d.Constraints = slices.Clip(d.Constraints)
	return New(d)
}
