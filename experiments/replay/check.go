package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/data/schema"
	"pawl/experiments"
)

// known are the names that an expression can use.
type known map[string]bool

func (k known) and(more ...string) known {
	out := known{}
	maps.Copy(out, k)
	for _, name := range more {
		out[name] = true
	}
	return out
}

// visitor sees an expression with the names that stand before it.
type visitor func(e *expression, k known)

// check says which name of an expression is none, before anything is measured.
func (f *file) check() (err error) {
	base := known{}
	for name := range (&sheet{file: f, run: &experiments.Run{}}).names() {
		base[name] = true
	}
	f.visit(base, func(e *expression, k known) {
		for _, name := range e.free {
			if err != nil || k[name] {
				continue
			}
			near := schema.Nearest(name, slices.Sorted(maps.Keys(k)))
			if near != "" {
				near = fmt.Sprintf("; did you mean %s?", near)
			}
			err = fmt.Errorf("%s: %q: there is no %s%s", e.place, e.source, name, near)
			if !strings.HasPrefix(e.place, f.path+":") { // in what a runner expects of its tables
				err = fmt.Errorf("%s: %w", f.path, err)
			}
		}
	})
	return err
}

// visit shows every expression, those of forms where a claim uses them; without names it shows all forms once.
func (f *file) visit(k known, see visitor) {
	if k == nil {
		for name, form := range f.Forms {
			form.visit(f, nil, see)
			f.Forms[name] = form
		}
	}
	for _, v := range f.With {
		k = k.and(v.name)
	}
	for _, v := range f.With {
		v.value.visit(k, see)
	}
	for i := range f.Cells {
		c := &f.Cells[i]
		in := c.Loop.visit(k, see)
		for _, e := range c.Key {
			e.visit(in, see)
		}
		c.Cell.visit(in, see)
		for _, v := range c.With {
			v.value.visit(in, see)
		}
	}
	for i := range f.Then {
		h := &f.Then[i]
		in := h.Loop.visit(k, see)
		h.Value.visit(in, see)
		for _, e := range h.Key {
			e.visit(in, see)
		}
	}
	for i := range f.Rows {
		f.Rows[i].visit(k, see)
	}
	for i := range f.Claims {
		f.Claims[i].visit(f, k, see)
	}
	for i := range f.Notes {
		f.Notes[i].Note.visit(f.Notes[i].Loop.visit(k, see), see)
	}
	for i := range f.PublishedEpsilon {
		e := &f.PublishedEpsilon[i]
		in := e.Loop.visit(k, see)
		e.Name.visit(in, see)
		e.Value.visit(in, see)
	}
}

func (l *Loop) visit(k known, see visitor) known {
	for _, e := range l.Each {
		e.value.visit(k, see)
		k = k.and(e.name, e.name+"_index")
	}
	l.If.visit(k, see)
	return l.Let.visit(k, see)
}

func (l fields) visit(k known, see visitor) known {
	for _, e := range l {
		e.value.visit(k, see)
		k = k.and(e.name)
	}
	return k
}

func (w *row) visit(k known, see visitor) {
	k = w.Loop.visit(k, see)
	for i := range w.Rows {
		w.Rows[i].visit(k, see)
	}
	w.Name.visit(k, see)
	w.Data.visit(k, see)
	for _, p := range []struct {
		name string
		of   *expression
	}{{"published", &w.Published}, {"ours", &w.Ours}, {"honest", &w.Honest}, {"baseline", &w.Baseline}} {
		if p.of.given() {
			p.of.visit(k, see)
			k = k.and(p.name)
		}
	}
	k = k.and("row")
	w.Why.visit(k, see)
	w.Tolerance.visit(k, see)
	w.Verdict.visit(k, see)
	w.Same.visit(k, see)
	w.More.visit(k.and("same"), see)
}

func (c *claim) visit(f *file, k known, see visitor) {
	k = c.Loop.visit(k, see)
	for i := range c.Claims {
		c.Claims[i].visit(f, k, see)
	}
	form := c
	if of, ok := f.Forms[c.Use]; ok && k != nil {
		form = &of
		k = form.Let.visit(k, see)
	}
	if c.Claim.given() {
		c.Claim.visit(k, see)
	} else {
		form.Claim.visit(k, see)
	}
	for _, e := range []*expression{&form.Better, &form.Than, &form.Within} {
		e.visit(k, see)
	}
	if form.Better.given() {
		k = k.and("d")
	}
	for _, e := range []*expression{&form.Holds, &form.Nearly, &form.Verdict} {
		e.visit(k, see)
	}
	form.Evidence.visit(k, see)
}

func (e *expression) visit(k known, see visitor) {
	if e.tree != nil {
		e.tree.visit(k, see)
	} else if e.program != nil {
		see(e, k)
	}
}

func (t *text) visit(k known, see visitor) {
	for i := range t.parts {
		t.parts[i].visit(k, see)
	}
}

func (v *value) visit(k known, see visitor) {
	if v.text != nil {
		v.text.visit(k, see)
	}
	for _, one := range v.list {
		one.visit(k, see)
	}
	for _, one := range v.fields {
		one.value.visit(k, see)
	}
}
