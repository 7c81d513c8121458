package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"

	"pawl/report"
	"pawl/search/study"
)

// shownStudy is a study as a page shows it. Of one on sensitive data that is not finished nothing is
// told but that it is not: how many trainings were done, and how long they took, is a secret.
type shownStudy struct {
	*study.Record
	State, FinishedText string
	Outcome             *report.Brief
	Trials              []shownTrial
	Chart               *chart
}

type shownTrial struct {
	Number           int
	Score, Candidate string
}

// studyRecord reads a study by a name that has no path in it.
func (s *Server) studyRecord(name string) (*study.Record, error) {
	missing := refuse(http.StatusNotFound, "This study does not exist", "It may have been mistyped.", "The page Studies lists them.")
	if study.CheckName(name) != nil {
		return nil, missing
	}
	r, err := study.LoadRecord(filepath.Join(s.o.Studies, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing
	}
	return r, err
}

// trials are those that may be told: all of a study on public data, as far as it has come.
func (s *Server) trials(r *study.Record) []study.Line {
	if !r.Public || !r.Running() {
		return r.Trials
	}
	return study.Progress(filepath.Join(s.o.Studies, r.Name))
}

func (s *Server) shownStudy(r *study.Record) (*shownStudy, error) {
	out := &shownStudy{Record: r, State: "not finished: running or interrupted"}
	if !r.Running() {
		out.State, out.FinishedText = "finished", r.Finished.Format("2 Jan 2006")
	}
	if len(r.Outcome) > 0 {
		var st report.Statement
		if err := json.Unmarshal(r.Outcome, &st); err != nil {
			return nil, fmt.Errorf("study %s: %w", r.Name, err)
		}
		b := report.NewBrief(&st)
		out.Outcome = &b
	} else if !r.Running() {
		out.State = "finished: no candidate could be trained; charges remain"
	}
	points := series{Name: "trial"}
	best := series{Name: "best so far"}
	for i, l := range s.trials(r) {
		t := shownTrial{Number: l.Number, Score: fmt.Sprintf("%.4f", l.Score), Candidate: report.Plain(l.Words())}
		if l.Failed {
			t.Score = "failed"
		} else {
			x := float64(i + 1)
			points.X, points.Y = append(points.X, x), append(points.Y, l.Score)
			top := l.Score
			if n := len(best.Y); n > 0 {
				top = max(top, best.Y[n-1])
			}
			best.X, best.Y = append(best.X, x), append(best.Y, top)
		}
		out.Trials = append(out.Trials, t)
	}
	points.Low, points.High = points.Y, points.Y // drawn as points
	if out.Chart = newChart(axes{x: "trials", y: "score", counts: true}, points, best); out.Chart != nil {
		out.Chart.Curves[0].Path = ""
	}
	slices.Reverse(out.Trials)
	return out, nil
}

func (v *visit) studyList() error {
	all, err := study.Records(v.s.o.Studies)
	if err != nil {
		return err
	}
	p := v.newPager("studies", len(all), linesOnPage)
	return v.page("studies", "Studies", map[string]any{"All": all[p.From:p.To], "Pager": p})
}

func (v *visit) studyPage() error {
	r, err := v.s.studyRecord(v.query("name"))
	if err != nil {
		return err
	}
	shown, err := v.s.shownStudy(r)
	if err != nil {
		return err
	}
	p := v.newPager("trials", len(shown.Trials), entriesOnPage)
	return v.page("study", r.Name, map[string]any{"S": shown, "Trials": shown.Trials[p.From:p.To], "Count": len(shown.Trials), "Pager": p})
}

func (v *visit) apiStudies() error {
	all, err := study.Records(v.s.o.Studies)
	if err != nil {
		return err
	}
	if all == nil {
		all = []*study.Record{}
	}
	for _, r := range all {
		r.Trials, r.Outcome = nil, nil
	}
	return v.json(http.StatusOK, all)
}

func (v *visit) apiStudy() error {
	r, err := v.s.studyRecord(v.query("name"))
	if err != nil {
		return err
	}
	return v.json(http.StatusOK, r)
}
