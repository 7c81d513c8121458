package serve

import (
	"bytes"
	"net/http"
	"slices"

	"pawl/evidence/advise"
	"pawl/internal/usage"
)

// advice shows the rules' decisions for a data set, and what was measured on public ones.
func (v *visit) advice() error {
	a := asked{Data: v.query("data"), Target: v.query("target"), Epsilon: v.query("epsilon")}
	own, builtin := v.s.offered()
	menu := advise.Measured()
	var measured []string
	for _, c := range menu {
		if !slices.Contains(measured, c.Data) {
			measured = append(measured, c.Data)
		}
	}
	slices.Sort(measured)
	on := v.query("on")
	if !slices.Contains(measured, on) {
		on = measured[0]
	}
	view := map[string]any{"Asked": a, "Own": own, "Builtin": builtin, "Measured": measured, "On": on, "Chart": crossing(menu, on)}
	if a.Data == "" {
		view["Asked"] = asked{Epsilon: "1"}
		return v.page("advice", "Advice", view)
	}
	return v.compute(func() error {
		answer, err := v.s.adviceFor(a)
		if err != nil {
			return v.fault("advice", "Advice", view, err)
		}
		view["Answer"] = answer
		return v.page("advice", "Advice", view)
	})
}

func (s *Server) adviceFor(a asked) (*advise.Answer, error) {
	if own, builtin := s.offered(); !slices.Contains(own, a.Data) && !slices.Contains(builtin, a.Data) {
		return nil, usage.New("this server does not have this data set", "choose one from the list")
	}
	if a.Epsilon == "" {
		return nil, usage.New("give an epsilon", "example: 1")
	}
	return s.facts(a)
}

// diagram is the picture of the decisions.
func (v *visit) diagram() error {
	return v.compute(func() error {
		answer, err := v.s.adviceFor(asked{Data: v.query("data"), Target: v.query("target"), Epsilon: v.query("epsilon")})
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := advise.Diagram(&b, answer); err != nil {
			return err
		}
		v.w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = v.w.Write(b.Bytes())
		return nil
	})
}

func (v *visit) apiAdvice() error {
	return v.compute(func() error {
		answer, err := v.s.adviceFor(asked{Data: v.query("data"), Target: v.query("target"), Epsilon: v.query("epsilon")})
		if err != nil {
			return err
		}
		return v.json(http.StatusOK, answer)
	})
}

const mostCurves = 6

// crossing draws what each learner scored against epsilon: where curves cross, the better one
// changes. Of many the best are drawn.
func crossing(menu advise.Menu, on string) *chart {
	byEntry := map[string]*series{}
	best := map[string]float64{}
	for _, c := range menu {
		if c.Data != on {
			continue
		}
		s := byEntry[c.Entry]
		if s == nil {
			s = &series{Name: c.Entry}
			byEntry[c.Entry] = s
		}
		low, high := c.Interval()
		s.X, s.Y, s.Low, s.High = append(s.X, c.Epsilon), append(s.Y, c.Mean()), append(s.Low, low), append(s.High, high)
		best[c.Entry] = max(best[c.Entry], c.Mean())
	}
	var names []string
	for name := range byEntry {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		switch x, y := best[a], best[b]; {
		case x > y:
			return -1
		case x < y:
			return 1
		case a < b:
			return -1
		}
		return 1
	})
	var all []series
	for _, name := range names[:min(len(names), mostCurves)] {
		s := byEntry[name]
		s.sort()
		all = append(all, *s)
	}
	return newChart(axes{x: "epsilon", y: "score, in points", logX: true}, all...)
}

// sort puts the points in the order of x.
func (s *series) sort() {
	order := make([]int, len(s.X))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if s.X[a] < s.X[b] {
			return -1
		}
		return 1
	})
	pick := func(from []float64) []float64 {
		out := make([]float64, len(from))
		for i, k := range order {
			out[i] = from[k]
		}
		return out
	}
	s.X, s.Y, s.Low, s.High = pick(s.X), pick(s.Y), pick(s.Low), pick(s.High)
}
