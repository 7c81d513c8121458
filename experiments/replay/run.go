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
	guessing := s.run.Guessing()
	if guessing == nil {
		return nil
	}
	defer func(run *experiments.Run, series map[string][]float64) {
		s.run, s.series = run, series
		_ = recover()
	}(s.run, s.series)
	s.run, s.series = guessing, map[string][]float64{}
	if _, failed := experiments.Attempt(func() *experiments.Table { return s.table(ctx) }); errors.As(failed, new(*fault)) {
		err = failed
	}
	return err
}

func (f *file) run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	t, err := experiments.Attempt(func() *experiments.Table {
		s := &sheet{file: f, run: r, series: map[string][]float64{}}
		s.at = s.names(ctx)
		f.With.add(s.at)
		return s.table(ctx)
	})
	if (errors.As(err, new(*located)) || errors.As(err, new(*fault))) && !strings.HasPrefix(err.Error(), f.path+":") { // in what a runner says of its tables
		err = fmt.Errorf("%s: %w", f.path, err)
	}
	return t, err
}

// table measures the cells and makes the table of them.
func (s *sheet) table(ctx context.Context) *experiments.Table {
	f := s.file
	t := &experiments.Table{Unit: f.Unit, Guarantee: f.Guarantee, Rows: []experiments.Row{}, Claims: []experiments.Claim{}, Notes: []string{}}
	each(f.Cells, s.at, func(c *cell, at scope) { s.measure(ctx, c, at) })
	each(f.Then, s.at, func(h *then, at scope) { s.add(h.Key.key(at), h.Value.series(at)) })
	rows(t, f.Rows, s.at)
	if len(t.Rows) == 0 {
		experiments.Check(&fault{fmt.Errorf("%s: no rows", f.path)})
	}
	claims(t, f.Claims, s.at)
	each(f.Notes, s.at, func(n *note, at scope) { t.Notes = append(t.Notes, n.Note.in(at)) })
	each(f.PublishedEpsilon, s.at, func(e *stated, at scope) {
		if t.PublishedEpsilon == nil {
			t.PublishedEpsilon = map[string]float64{}
		}
		t.PublishedEpsilon[e.Name.in(at)] = e.Value.number(at)
	})
	return t
}

// add adds the values to the scope, those first that others use.
func (v *settings) add(at scope) {
	for pending := v.fields; len(pending) > 0; {
		var later []field
		for _, one := range pending {
			if one.value.uses(func(name string) bool {
				return slices.ContainsFunc(pending, func(f field) bool { return f.name == name })
			}) {
				later = append(later, one)
				continue
			}
			at[one.name] = one.value.in(at)
		}
		if len(later) == len(pending) {
			experiments.Check(fmt.Errorf("%s is made of itself", later[0].name))
		}
		pending = later
	}
}

func rows(t *experiments.Table, all []row, at scope) {
	each(all, at, func(w *row, at scope) {
		if len(w.Rows) > 0 {
			rows(t, w.Rows, at)
			return
		}
		t.Rows = append(t.Rows, w.row(at))
	})
}

func claims(t *experiments.Table, all []claim, at scope) {
	each(all, at, func(c *claim, at scope) {
		if len(c.Claims) > 0 {
			claims(t, c.Claims, at)
			return
		}
		t.Claims = append(t.Claims, c.claim(at))
	})
}

// each calls do for all parts, and for all values of what each repeats that its condition lets pass.
func each[T any, P interface {
	*T
	loop() *Loop
}](all []T, at scope, do func(P, scope)) {
	for i := range all {
		one := P(&all[i])
		one.loop().nested(one.loop().Each.fields, at, func(at scope) { do(one, at) })
	}
}

func (l *Loop) nested(each []field, at scope, do func(scope)) {
	in := maps.Clone(at)
	if len(each) > 0 {
		for i, one := range items(each[0].value.in(at)) {
			in[each[0].name], in[each[0].name+"_index"] = one, i
			l.nested(each[1:], in, do)
		}
		return
	}
	if !l.If.truth(in, true) {
		return
	}
	for _, f := range l.Let.fields {
		in[f.name] = f.value.in(in)
	}
	do(in)
}

// key is what a series is called.
func (l *expressions) key(at scope) string {
	key, _ := l.in(at).([]any)
	return joined(key)
}

func (s *sheet) add(key string, values []float64) { s.series[key] = append(s.series[key], values...) }

// measure measures a cell, or takes its values, and adds them to the series of its key.
func (s *sheet) measure(ctx context.Context, c *cell, at scope) {
	key, name := c.Key.key(at), c.Cell.in(at)
	measure := func() []float64 { return c.Value.series(at) }
	if !c.Value.given {
		measure = s.procedure(ctx, c, at)
	}
	if !s.sure && !s.run.Keeps(name) {
		s.sure = true
		experiments.Check(s.faults(ctx))
	}
	s.add(key, experiments.Must(s.run.Cell(ctx, name, func() ([]float64, error) { return experiments.Attempt(measure) })))
}

// procedure is that of a cell with its arguments.
func (s *sheet) procedure(ctx context.Context, c *cell, at scope) func() []float64 {
	args, measure := s.file.set.Kinds[c.Do]()
	d := json.NewDecoder(bytes.NewReader(experiments.Must(json.Marshal(c.With.in(at)))))
	d.DisallowUnknownFields()
	if err := d.Decode(args); err != nil {
		experiments.Check(fmt.Errorf("%s: %s: %s", c.Cell.place, c.Do, strings.TrimPrefix(err.Error(), "json: ")))
	}
	if checked, ok := args.(interface{ Check() error }); ok {
		if err := checked.Check(); err != nil {
			experiments.Check(&fault{fmt.Errorf("%s: %w", c.Cell.place, err)})
		}
	}
	return func() []float64 { return measure(ctx, s.run) }
}

func (w *row) row(at scope) experiments.Row {
	r := experiments.Row{Name: w.Name.in(at), Data: w.Data.in(at)}
	if w.Published.given {
		at["published"] = w.Published.in(at)
		if f, ok := float(at["published"]); ok {
			r.Published = &f
		}
	}
	for _, p := range []struct {
		name string
		of   *expression
		to   **experiments.Estimate
	}{{"ours", &w.Ours, &r.AsPublished}, {"honest", &w.Honest, &r.Honest}, {"baseline", &w.Baseline, &r.Baseline}} {
		if p.of.given {
			*p.to = only(p.of, at, "no series of numbers", estimate)
			at[p.name] = *p.to
		}
	}
	at["row"] = &r
	why := w.Why.in(at)
	r.Why = why
	if tolerance := w.Tolerance.optional(at); tolerance != nil {
		r.Why = ""
		r.Judge(*tolerance, why)
	}
	w.Verdict.verdict(at, &r.Verdict)
	if r.Verdict == experiments.Not && w.Same.given {
		same := w.Same.truth(at, false)
		if at["same"] = same; same {
			r.Verdict = experiments.SameSign
		}
		r.Why += w.More.in(at)
	}
	return r
}

func (c *claim) claim(at scope) experiments.Claim {
	out := experiments.Claim{Statement: c.Claim.in(at)}
	if c.Better.given { // one series against another, run by run: d is the difference
		a, b := c.Better.series(at), c.Than.series(at)
		if c.Within.given {
			out = Within(out.Statement, a, b, c.Within.number(at))
		} else {
			out = Better(out.Statement, a, b)
		}
		at["d"] = experiments.Of(difference(a, b))
	}
	if c.Holds.given {
		near := c.Nearly.truth(at, false)
		switch out.Verdict = experiments.Not; {
		case c.Holds.truth(at, false):
			out.Verdict = experiments.Reproduced
		case near:
			out.Verdict = experiments.SameSign
		}
	}
	c.Verdict.verdict(at, &out.Verdict)
	if c.Evidence.given {
		out.Evidence = c.Evidence.in(at)
	}
	return out
}
