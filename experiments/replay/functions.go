package replay

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"

	"gonum.org/v1/gonum/stat"

	"pawl/evidence/theory"
	"pawl/experiments"
)

// names are what every expression can use.
func (s *sheet) names(ctx context.Context) scope {
	at := scope{
		"scale": string(s.run.Scale), "paper": s.run.Scale == experiments.Paper,
		"reproduced": string(experiments.Reproduced), "samesign": string(experiments.SameSign), "not_": string(experiments.Not), "unpublished": string(experiments.Unpublished),
		"Inf": math.Inf(1), "π": math.Pi,
		// v is the series of a key, has says whether there is one.
		"v": func(key ...any) ([]float64, error) {
			v, ok := s.series[joined(key)]
			if !ok {
				return nil, &fault{fmt.Errorf("no cell has the key %v", key)}
			}
			return v, nil
		},
		"has": func(key ...any) bool { _, ok := s.series[joined(key)]; return ok },
		// of is the mean of a series with its interval.
		"of": func(v any) (*experiments.Estimate, error) {
			e, ok := estimate(v)
			if !ok {
				return nil, fmt.Errorf("%v is no series of numbers", v)
			}
			return e, nil
		},
		"avg": func(x []float64) float64 { return stat.Mean(x, nil) },
		// deviation is the standard deviation, 0 of fewer than two.
		"deviation": func(x []float64) float64 {
			if len(x) > 1 {
				return stat.StdDev(x, nil)
			}
			return 0
		},
		// paired is the mean difference of two series run by run, with Student's interval: Estimate, Lower and Upper.
		"paired": theory.PairedInterval,
		// bounds is an estimate with a known interval.
		"bounds": func(mean, low, high float64, runs int) *experiments.Estimate {
			return &experiments.Estimate{Mean: mean, Low: low, High: high, Runs: runs}
		},
		"half":    func(e *experiments.Estimate) float64 { return (e.High - e.Low) / 2 },
		"sprintf": func(format string, args ...any) string { return sprintf(format, args...) },
		"minus":   difference,
		// refuse ends a table that lacks something, before anything is measured.
		"refuse": func(why string) (any, error) { return nil, refusal(why) },
		// every takes the n-th values from the k-th on.
		"sqrt": math.Sqrt, "ln": math.Log,
		"every": func(v []float64, k, n int) (out []float64) {
			for ; k < len(v); k += n {
				out = append(out, v[k])
			}
			return out
		},
		// across are the values of several series run by run.
		"across": experiments.Across,
		"compact": func(of any) (out []string) {
			for _, one := range items(of) {
				if s := fmt.Sprint(one); len(out) == 0 || out[len(out)-1] != s {
					out = append(out, s)
				}
			}
			return out
		},
		// best is the place of the series with the highest mean, lowest that of the one with the lowest.
		"best": func(lists [][]float64) int { return highest(lists, 1) }, "lowest": func(lists [][]float64) int { return highest(lists, -1) },
	}
	maps.Copy(at, s.file.set.Functions(ctx, s.run))
	for name, f := range at {
		if v := reflect.ValueOf(f); v.Kind() == reflect.Func && !v.Type().IsVariadic() {
			at[name] = adapted(name, v)
		}
	}
	return at
}

// adapted is a function whose arguments may be numbers of any kind, and lists of them.
func adapted(name string, f reflect.Value) func(args ...any) (any, error) {
	return func(args ...any) (any, error) {
		if len(args) != f.Type().NumIn() {
			return nil, fmt.Errorf("%s takes %d arguments, not %d", name, f.Type().NumIn(), len(args))
		}
		in := make([]reflect.Value, len(args))
		for i, a := range args {
			want := f.Type().In(i)
			v, ok := as(a, want)
			if a == nil && want.Kind() != reflect.Slice {
				v, ok = reflect.Zero(want), true
			}
			if !ok {
				return nil, fmt.Errorf("%s: argument %d is %v, no %s", name, i+1, a, want)
			}
			in[i] = v
		}
		return experiments.Attempt(func() any {
			out := f.Call(in)
			if len(out) == 2 {
				err, _ := out[1].Interface().(error)
				experiments.Check(err)
			}
			return out[0].Interface()
		})
	}
}

// as is v as a value of a type: numbers are of any kind, and a list is any whose items are of the type of its own.
func as(v any, want reflect.Type) (reflect.Value, bool) {
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid():
	case r.Type().AssignableTo(want):
		return r, true
	case r.Kind() == reflect.Slice && want.Kind() == reflect.Slice:
		list := reflect.MakeSlice(want, 0, r.Len())
		for _, one := range items(v) {
			item, ok := as(one, want.Elem())
			if !ok {
				return r, false
			}
			list = reflect.Append(list, item)
		}
		return list, true
	case r.CanConvert(want) && (want.Kind() == reflect.String) == (r.Kind() == reflect.String) && want.Kind() != reflect.Slice:
		return r.Convert(want), true
	}
	return r, false
}

func to[T any](v any) (out T, ok bool) {
	r, ok := as(v, reflect.TypeFor[T]())
	if ok {
		out = r.Interface().(T)
	}
	return out, ok
}

// float is a number, series are numbers of one value each run.
func float(v any) (float64, bool)    { return to[float64](v) }
func series(v any) ([]float64, bool) { return to[[]float64](v) }

// highest is the place of the series whose mean times the sign is highest, the first of equals.
func highest(lists [][]float64, sign float64) (at int) {
	top := math.Inf(-1)
	for i, x := range lists {
		if m := sign * stat.Mean(x, nil); m > top {
			top, at = m, i
		}
	}
	return at
}

func joined(key []any) string {
	var parts []string
	for _, k := range key {
		parts = append(parts, sprintf("%v", k))
	}
	return strings.Join(parts, "\x00")
}

// items are those of any list; a single value is a list of one.
func items(v any) []any {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice {
		return []any{v}
	}
	out := make([]any, r.Len())
	for i := range out {
		out[i] = r.Index(i).Interface()
	}
	return out
}

// estimate is that of a series, or an exact number; nil for nil and for no runs.
func estimate(v any) (e *experiments.Estimate, ok bool) {
	if e, ok = v.(*experiments.Estimate); ok || v == nil {
		return e, true
	}
	if f, ok := float(v); ok {
		return experiments.Exact(f), true
	}
	x, ok := series(v)
	return experiments.Of(x), ok
}

// difference is a − b, run by run.
func difference(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// Better claims that a is above b, run by run: reproduced where the interval excludes 0, of the same sign where only
// the mean does.
func Better(statement string, a, b []float64) experiments.Claim {
	return compared(statement, a, b, func(v float64) bool { return v > 0 })
}

// Within claims that a is at most so many points below b.
func Within(statement string, a, b []float64, points float64) experiments.Claim {
	return compared(statement, a, b, func(v float64) bool { return v >= -points && !math.IsInf(v, -1) })
}

// compared claims that the difference of a and b is as holds says: where its interval's low end is, and nearly where its mean is.
func compared(statement string, a, b []float64, holds func(v float64) bool) experiments.Claim {
	d := experiments.Of(difference(a, b))
	c := experiments.Claim{Statement: statement, Verdict: experiments.Not, Evidence: fmt.Sprintf("difference %s points, seed by seed", d)}
	switch {
	case holds(d.Low):
		c.Verdict = experiments.Reproduced
	case holds(d.Mean):
		c.Verdict = experiments.SameSign
	}
	return c
}
