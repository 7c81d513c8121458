package replay

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"pawl/data/schema"
	"pawl/experiments"
)

// known are the names that an expression can use.
type known map[string]bool

func (k known) and(more ...string) known {
	out := maps.Clone(k)
	for _, name := range more {
		out[name] = true
	}
	return out
}

// checking looks for a name of an expression that is none, before anything is measured.
type checking struct {
	file *file
	err  error
}

func (f *file) check() error {
	base := known{}
	for name := range (&sheet{file: f, run: &experiments.Run{}}).names(context.Background()) {
		base[name] = true
	}
	for _, v := range f.With.fields {
		base[v.name] = true
	}
	c := &checking{file: f}
	c.all(reflect.ValueOf(f).Elem(), base)
	return c.err
}

// all checks everything in v, where the names are known, and returns those that are known behind it. Fields of structs
// are in the order in which they are evaluated: “gives” names what an expression that is given is called in those that
// follow, “with” what is known from its field on.
func (c *checking) all(v reflect.Value, k known) known {
	switch x := v.Addr().Interface().(type) {
	case *Loop:
		for _, f := range x.Each.fields {
			c.node(f.value, k)
			k = k.and(f.name, f.name+"_index")
		}
		c.node(&x.If.node, k)
		for _, f := range x.Let.fields {
			c.node(f.value, k)
			k = k.and(f.name)
		}
		return k
	case interface{ self() *node }:
		c.node(x.self(), k)
		return k
	}
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			c.all(v.Index(i), k)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if name := f.Tag.Get("with"); name != "" {
				k = k.and(name)
			}
			k = c.all(v.Field(i), k)
			if e, ok := v.Field(i).Addr().Interface().(*expression); ok && e.given && f.Tag.Get("gives") != "" {
				k = k.and(f.Tag.Get("gives"))
			}
		}
	}
	return k
}

func (c *checking) node(v *node, k known) {
	v.visit(func(e *node) {
		for _, name := range e.free {
			if c.err != nil || k[name] {
				continue
			}
			near := schema.Nearest(name, slices.Sorted(maps.Keys(k)))
			if near != "" {
				near = fmt.Sprintf("; did you mean %s?", near)
			}
			c.err = fmt.Errorf("%s: %q: there is no %s%s", e.place, e.source, name, near)
			if !strings.HasPrefix(e.place, c.file.path+":") { // in what a runner expects of its tables
				c.err = fmt.Errorf("%s: %w", c.file.path, c.err)
			}
		}
	})
}
