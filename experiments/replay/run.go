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
	s.at = s.names()
	if err := f.With.in(s.at); err != nil {
		return nil, err
	}
	return s.table(ctx)
}

// table measures the cells and makes the table of them.
func (s *sheet) table(ctx context.Context) (*experiments.Table, error) {
	f, at := s.file, s.at
	for i := range f.Cells {
		c := &f.Cells[i]
		if err := c.all(at, func(at scope) error { return s.measure(ctx, c, at) }); err != nil {
			return nil, err
		}
	}
	for i := range f.Then {
		h := &f.Then[i]
		if err := h.all(at, func(in scope) error { return s.then(h, in, at) }); err != nil {
			return nil, err
		}
	}
	t := &experiments.Table{Unit: f.Unit, Guarantee: f.Guarantee}
	if err := f.rows(t, f.Rows, at); err != nil {
		return nil, err
	}
	if len(t.Rows) == 0 {
		return nil, &fault{fmt.Errorf("%s: no rows", f.path)}
	}
	if err := f.claims(t, f.Claims, at); err != nil {
		return nil, err
	}
	for i := range f.Notes {
		n := &f.Notes[i]
		if err := n.all(at, func(at scope) error {
			words, err := n.Note.in(at)
			t.Notes = append(t.Notes, words)
			return err
		}); err != nil {
			return nil, err
		}
	}
	for i := range f.PublishedEpsilon {
		e := &f.PublishedEpsilon[i]
		if err := e.all(at, func(at scope) error {
			name, err := e.Name.in(at)
			if err != nil {
				return err
			}
			if t.PublishedEpsilon == nil {
				t.PublishedEpsilon = map[string]float64{}
			}
			t.PublishedEpsilon[name], err = e.Value.number(at)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// in adds the values to the scope, those first that others use.
func (v values) in(at scope) error {
	for pending := v; len(pending) > 0; {
		var later values
		for _, one := range pending {
			waits := false
			one.value.visit(nil, func(e *expression, _ known) {
				waits = waits || slices.ContainsFunc(pending, func(f valueField) bool { return slices.Contains(e.free, f.name) })
			})
			if waits {
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

func (f *file) rows(t *experiments.Table, rows []row, at scope) error {
	for i := range rows {
		w := &rows[i]
		if err := w.all(at, func(at scope) error {
			if len(w.Rows) > 0 {
				return f.rows(t, w.Rows, at)
			}
			one, err := w.row(at)
			t.Rows = append(t.Rows, one)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) claims(t *experiments.Table, claims []claim, at scope) error {
	for i := range claims {
		c := &claims[i]
		if err := c.all(at, func(at scope) error {
			if len(c.Claims) > 0 {
				return f.claims(t, c.Claims, at)
			}
			one, err := f.claim(c, at)
			t.Claims = append(t.Claims, one)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// all calls do for all values of each that the condition lets pass.
func (l *Loop) all(at scope, do func(scope) error) error { return l.nested(l.Each, at, do) }

func (l *Loop) nested(each fields, at scope, do func(scope) error) error {
	if len(each) > 0 {
		v, err := each[0].value.in(at)
		if err != nil {
			return err
		}
		for i, one := range items(v) {
			in := maps.Clone(at)
			in[each[0].name], in[each[0].name+"_index"] = one, i
			if err := l.nested(each[1:], in, do); err != nil {
				return err
			}
		}
		return nil
	}
	in := maps.Clone(at)
	if ok, err := l.If.truth(in, true); err != nil || !ok {
		return err
	}
	for _, f := range l.Let {
		v, err := f.value.in(in)
		if err != nil {
			return err
		}
		in[f.name] = v
	}
	return do(in)
}

func keyOf(f fields0, at scope) (string, error) {
	var parts []string
	for _, e := range f {
		v, err := e.in(at)
		if err != nil {
			return "", err
		}
		parts = append(parts, sprintf("%v", v))
	}
	return strings.Join(parts, "\x00"), nil
}

// measure measures a cell, or takes its values, and adds them to the series of its key.
func (s *sheet) measure(ctx context.Context, c *cell, at scope) error {
	key, err := keyOf(c.Key, at)
	if err != nil {
		return err
	}
	name, err := c.Cell.in(at)
	if err != nil {
		return err
	}
	args := map[string]any{}
	for _, f := range c.With {
		if args[f.name], err = f.value.in(at); err != nil {
			return err
		}
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
	if !s.sure && !s.run.Keeps(name) {
		if s.sure, err = true, s.faults(ctx); err != nil {
			return err
		}
	}
	v, err := s.run.Cell(ctx, name, func() ([]float64, error) { return kind.Run(ctx, s.run, own) })
	s.series[key] = append(s.series[key], v...)
	return err
}

func (s *sheet) then(h *then, in, all scope) error {
	v, err := h.Value.in(in)
	if err != nil {
		return err
	}
	key, err := keyOf(h.Key, in)
	if err != nil {
		return err
	}
	series, ok := series(v)
	if !ok {
		return fmt.Errorf("%s: %q is no series", h.Value.place, h.Value.source)
	}
	s.series[key] = append(s.series[key], series...)
	return nil
}

func (w *row) row(at scope) (r experiments.Row, err error) {
	for _, p := range []struct {
		of *text
		to *string
	}{{&w.Name, &r.Name}, {&w.Data, &r.Data}} {
		if *p.to, err = p.of.in(at); err != nil {
			return r, err
		}
	}
	if w.Published.given() {
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
		if !p.of.given() {
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

func (w *row) judge(r *experiments.Row, at scope) (err error) {
	at["row"] = r
	why := ""
	if w.Why.given() {
		if why, err = w.Why.in(at); err != nil {
			return err
		}
	}
	r.Why = why
	if w.Tolerance.given() {
		v, err := w.Tolerance.in(at)
		if err != nil {
			return err
		}
		tolerance, ok := float(v)
		if !ok && v != nil {
			return fmt.Errorf("%s: %q is %v, no number", w.Tolerance.place, w.Tolerance.source, v)
		}
		if !ok {
			return w.settle(r, at)
		}
		r.Why = ""
		r.Judge(tolerance, why)
	}
	return w.settle(r, at)
}

// settle is the verdict that a file gives itself.
func (w *row) settle(r *experiments.Row, at scope) (err error) {
	if w.Verdict.given() {
		v, err := w.Verdict.in(at)
		if err != nil {
			return err
		}
		r.Verdict = experiments.Verdict(fmt.Sprint(v))
	}
	if r.Verdict != experiments.Not || !w.Same.given() {
		return nil
	}
	same, err := w.Same.truth(at, false)
	if err != nil {
		return err
	}
	if at["same"] = same; same {
		r.Verdict = experiments.SameSign
	}
	more := ""
	if w.More.given() {
		more, err = w.More.in(at)
	}
	r.Why += more
	return err
}

func (f *file) claim(c *claim, at scope) (out experiments.Claim, err error) {
	form := c
	if c.Use != "" {
		of := f.Forms[c.Use]
		form = &of
		for _, l := range form.Let {
			if at[l.name], err = l.value.in(at); err != nil {
				return out, err
			}
		}
	}
	words := &c.Claim
	if !words.given() {
		words = &form.Claim
	}
	if out.Statement, err = words.in(at); err != nil {
		return out, err
	}
	if form.Better.given() {
		if err := form.compare(&out, at); err != nil {
			return out, fmt.Errorf("claim %q: %w", out.Statement, err)
		}
	}
	if form.Holds.given() {
		out.Verdict = experiments.Not
		if ok, err := form.Nearly.truth(at, false); err != nil {
			return out, err
		} else if ok {
			out.Verdict = experiments.SameSign
		}
		if ok, err := form.Holds.truth(at, false); err != nil {
			return out, err
		} else if ok {
			out.Verdict = experiments.Reproduced
		}
	}
	if form.Verdict.given() {
		v, err := form.Verdict.in(at)
		if err != nil {
			return out, err
		}
		out.Verdict = experiments.Verdict(fmt.Sprint(v))
	}
	if form.Evidence.given() {
		out.Evidence, err = form.Evidence.in(at)
	}
	return out, err
}

// compare holds one series against another, run by run: d is the difference.
func (c *claim) compare(out *experiments.Claim, at scope) error {
	var pair [2][]float64
	for i, e := range []*expression{&c.Better, &c.Than} {
		v, err := e.in(at)
		if err != nil {
			return err
		}
		var ok bool
		if pair[i], ok = series(v); !ok {
			return fmt.Errorf("%s: %q is no series", e.place, e.source)
		}
	}
	if !c.Within.given() {
		*out = Better(out.Statement, pair[0], pair[1])
	} else {
		points, err := c.Within.number(at)
		if err != nil {
			return err
		}
		*out = Within(out.Statement, pair[0], pair[1], points)
	}
	at["d"] = experiments.Of(Difference(pair[0], pair[1]))
	return nil
}
