package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/experiments"
)

// sheet is a replay that runs.
type sheet struct {
	file   *file
	run    *experiments.Run
	series map[string][]float64
	at     scope
	sure   bool // that it has no faults, or of what guesses can tell of them
}

// fault is one of a table whatever its cells hold: a series that no cell has, or arguments that a procedure refuses.
type fault struct{ error }

// faults looks for those before anything is measured: it goes through the table with guesses. What else goes wrong with
// guesses means nothing.
func (s *sheet) faults(ctx context.Context) (err error) {
	defer func() {
		if own := (*fault)(nil); recover() != nil || !errors.As(err, &own) {
			err = nil
		}
	}()
	guessing := s.run.Guessing()
	if guessing == nil {
		return nil
	}
	defer func(run *experiments.Run, series map[string][]float64) { s.run, s.series = run, series }(s.run, s.series)
	s.run, s.series = guessing, map[string][]float64{}
	_, err = s.table(ctx)
	return err
}

func (f *file) run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	s := &sheet{file: f, run: r, series: map[string][]float64{}}
	s.at = s.names(ctx)
	t, err := (*experiments.Table)(nil), f.With.add(s.at)
	if err == nil {
		t, err = s.table(ctx)
	}
	var at *located
	var own *fault
	if (errors.As(err, &at) || errors.As(err, &own)) && !strings.HasPrefix(err.Error(), f.path+":") { // in what a runner says of its tables
		err = fmt.Errorf("%s: %w", f.path, err)
	}
	return t, err
}

// table measures the cells and makes the table of them.
func (s *sheet) table(ctx context.Context) (*experiments.Table, error) {
	f, t := s.file, &experiments.Table{Unit: s.file.Unit, Guarantee: s.file.Guarantee}
	if err := each(f.Cells, s.at, func(c *cell, at scope) error { return s.measure(ctx, c, at) }); err != nil {
		return nil, err
	}
	if err := each(f.Then, s.at, s.then); err != nil {
		return nil, err
	}
	if err := rows(t, f.Rows, s.at); err != nil {
		return nil, err
	}
	if len(t.Rows) == 0 {
		return nil, &fault{fmt.Errorf("%s: no rows", f.path)}
	}
	if err := claims(t, f.Claims, s.at); err != nil {
		return nil, err
	}
	if err := each(f.Notes, s.at, func(n *note, at scope) error {
		words, err := n.Note.in(at)
		t.Notes = append(t.Notes, words)
		return err
	}); err != nil {
		return nil, err
	}
	return t, each(f.PublishedEpsilon, s.at, func(e *stated, at scope) error {
		name, err := e.Name.in(at)
		if err != nil {
			return err
		}
		if t.PublishedEpsilon == nil {
			t.PublishedEpsilon = map[string]float64{}
		}
		t.PublishedEpsilon[name], err = e.Value.number(at)
		return err
	})
}

// add adds the values to the scope, those first that others use.
func (v *settings) add(at scope) error {
	for pending := v.fields; len(pending) > 0; {
		var later []field
		for _, one := range pending {
			if one.value.uses(func(name string) bool {
				return slices.ContainsFunc(pending, func(f field) bool { return f.name == name })
			}) {
				later = append(later, one)
				continue
			}
			got, err := one.value.in(at)
			if err != nil {
				return err
			}
			at[one.name] = got
		}
		if len(later) == len(pending) {
			return fmt.Errorf("%s is made of itself", later[0].name)
		}
		pending = later
	}
	return nil
}

func rows(t *experiments.Table, all []row, at scope) error {
	return each(all, at, func(w *row, at scope) error {
		if len(w.Rows) > 0 {
			return rows(t, w.Rows, at)
		}
		one, err := w.row(at)
		t.Rows = append(t.Rows, one)
		return err
	})
}

func claims(t *experiments.Table, all []claim, at scope) error {
	return each(all, at, func(c *claim, at scope) error {
		if len(c.Claims) > 0 {
			return claims(t, c.Claims, at)
		}
		one, err := c.claim(at)
		t.Claims = append(t.Claims, one)
		return err
	})
}

// each calls do for all parts, and for all values of what each repeats that its condition lets pass.
func each[T any, P interface {
	*T
	loop() *Loop
}](all []T, at scope, do func(P, scope) error) error {
	for i := range all {
		one := P(&all[i])
		if err := one.loop().nested(one.loop().Each.fields, at, func(at scope) error { return do(one, at) }); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) nested(each []field, at scope, do func(scope) error) error {
	in := maps.Clone(at)
	if len(each) > 0 {
		v, err := each[0].value.in(at)
		for i, one := range items(v) {
			if err == nil {
				in[each[0].name], in[each[0].name+"_index"] = one, i
				err = l.nested(each[1:], in, do)
			}
		}
		return err
	}
	if ok, err := l.If.truth(in, true); err != nil || !ok {
		return err
	}
	for _, f := range l.Let.fields {
		v, err := f.value.in(in)
		if err != nil {
			return err
		}
		in[f.name] = v
	}
	return do(in)
}

// key is what a series is called.
func (l *expressions) key(at scope) (string, error) {
	v, err := l.in(at)
	if err != nil || v == nil {
		return "", err
	}
	return joined(v.([]any)), nil
}

// measure measures a cell, or takes its values, and adds them to the series of its key.
func (s *sheet) measure(ctx context.Context, c *cell, at scope) error {
	key, err := c.Key.key(at)
	if err != nil {
		return err
	}
	name, err := c.Cell.in(at)
	if err != nil {
		return err
	}
	if c.Value.given {
		return s.keep(ctx, key, name, func() ([]float64, error) { return c.Value.series(at) })
	}
	args, err := c.With.in(at)
	if err != nil {
		return err
	}
	kind := s.file.set.Kinds[c.Do]
	own := kind.Args()
	text, err := json.Marshal(args)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		err = d.Decode(own)
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %s", c.Cell.place, c.Do, strings.TrimPrefix(err.Error(), "json: "))
	}
	if checked, ok := own.(interface{ Check() error }); ok {
		if err := checked.Check(); err != nil {
			return &fault{fmt.Errorf("%s: %w", c.Cell.place, err)}
		}
	}
	return s.keep(ctx, key, name, func() ([]float64, error) { return kind.Run(ctx, s.run, own) })
}

func (s *sheet) keep(ctx context.Context, key, name string, measure func() ([]float64, error)) error {
	if !s.sure && !s.run.Keeps(name) {
		s.sure = true
		if err := s.faults(ctx); err != nil {
			return err
		}
	}
	v, err := s.run.Cell(ctx, name, measure)
	s.series[key] = append(s.series[key], v...)
	return err
}

func (s *sheet) then(h *then, at scope) error {
	v, err := h.Value.series(at)
	if err != nil {
		return err
	}
	key, err := h.Key.key(at)
	s.series[key] = append(s.series[key], v...)
	return err
}

func (w *row) row(at scope) (r experiments.Row, err error) {
	if r.Name, err = w.Name.in(at); err != nil {
		return r, err
	}
	if r.Data, err = w.Data.in(at); err != nil {
		return r, err
	}
	if w.Published.given {
		v, err := w.Published.in(at)
		if err != nil {
			return r, err
		}
		if f, ok := float(v); ok {
			r.Published = &f
		}
		at["published"] = v
	}
	for _, p := range []struct {
		name string
		of   *expression
		to   **experiments.Estimate
	}{{"ours", &w.Ours, &r.AsPublished}, {"honest", &w.Honest, &r.Honest}, {"baseline", &w.Baseline, &r.Baseline}} {
		if !p.of.given {
			continue
		}
		v, err := p.of.in(at)
		if err == nil {
			*p.to, err = estimate(v)
		}
		if err != nil {
			return r, fmt.Errorf("row %q: %w", r.Name, err)
		}
		at[p.name] = *p.to
	}
	return r, w.judge(&r, at)
}

func (w *row) judge(r *experiments.Row, at scope) error {
	at["row"] = r
	why, err := w.Why.in(at)
	if err != nil {
		return err
	}
	r.Why = why
	if w.Tolerance.given {
		v, err := w.Tolerance.in(at)
		if err != nil {
			return err
		}
		tolerance, ok := float(v)
		if !ok && v != nil {
			return fmt.Errorf("%s: %q is %v, no number", w.Tolerance.place, w.Tolerance.source, v)
		}
		if ok {
			r.Why = ""
			r.Judge(tolerance, why)
		}
	}
	if w.Verdict.given { // that a file gives itself
		v, err := w.Verdict.in(at)
		if err != nil {
			return err
		}
		r.Verdict = experiments.Verdict(fmt.Sprint(v))
	}
	if r.Verdict != experiments.Not || !w.Same.given {
		return nil
	}
	same, err := w.Same.truth(at, false)
	if err != nil {
		return err
	}
	if at["same"] = same; same {
		r.Verdict = experiments.SameSign
	}
	more, err := w.More.in(at)
	r.Why += more
	return err
}

func (c *claim) claim(at scope) (out experiments.Claim, err error) {
	if out.Statement, err = c.Claim.in(at); err != nil {
		return out, err
	}
	if c.Better.given {
		if err := c.compare(&out, at); err != nil {
			return out, fmt.Errorf("claim %q: %w", out.Statement, err)
		}
	}
	if c.Holds.given {
		near, err := c.Nearly.truth(at, false)
		if err != nil {
			return out, err
		}
		holds, err := c.Holds.truth(at, false)
		if err != nil {
			return out, err
		}
		switch out.Verdict = experiments.Not; {
		case holds:
			out.Verdict = experiments.Reproduced
		case near:
			out.Verdict = experiments.SameSign
		}
	}
	if c.Verdict.given {
		v, err := c.Verdict.in(at)
		if err != nil {
			return out, err
		}
		out.Verdict = experiments.Verdict(fmt.Sprint(v))
	}
	if c.Evidence.given {
		out.Evidence, err = c.Evidence.in(at)
	}
	return out, err
}

// compare holds one series against another, run by run: d is the difference.
func (c *claim) compare(out *experiments.Claim, at scope) error {
	a, err := c.Better.series(at)
	if err != nil {
		return err
	}
	b, err := c.Than.series(at)
	if err != nil {
		return err
	}
	if !c.Within.given {
		*out = Better(out.Statement, a, b)
	} else {
		points, err := c.Within.number(at)
		if err != nil {
			return err
		}
		*out = Within(out.Statement, a, b, points)
	}
	at["d"] = experiments.Of(difference(a, b))
	return nil
}
