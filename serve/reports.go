package serve

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"html/template"

	"pawl/internal/request"
	"pawl/model"
	"pawl/report"
	"pawl/workflow"
)

// found is a report in the folder that the server shows.
type found struct {
	Name string // of its folder, "." for the folder itself
	S    *report.Statement
	report.Brief
	Time string
	// Files are those that can be downloaded.
	Files []string
}

// released are the files of a run, all of which may leave. A folder may hold others, and these are
// not shown.
var released = []string{workflow.StatementFile, workflow.ReportFile, workflow.DescribeFile, workflow.CardFile, path.Join(workflow.ModelDir, "model.safetensors"),
	path.Join(workflow.ModelDir, "model.json"), path.Join(workflow.ModelDir, "schema.yaml"), workflow.SignatureFile}

const mostStatement = 64 << 20

// root is the folder of reports; nothing outside of it is reached through it, by links neither.
func (s *Server) root() (*os.Root, error) {
	root, err := os.OpenRoot(s.o.Reports)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return root, err
}

// reports lists the reports, the newest first.
func (s *Server) reports() (all []*found, err error) {
	root, err := s.root()
	if root == nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	names := []string{"."}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		if f := readReport(root, name); f != nil {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *found) int { return b.S.Time.Compare(a.S.Time) })
	return all, nil
}

// readReport reads the statement of a folder; nil where it has none of ours.
func readReport(root *os.Root, name string) *found {
	in, err := root.Open(path.Join(name, workflow.StatementFile))
	if err != nil {
		return nil
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, mostStatement))
	var s report.Statement
	if err != nil || json.Unmarshal(text, &s) != nil || s.Software.Name != "pawl" || report.Validate(&s) != nil {
		return nil
	}
	f := &found{Name: name, S: &s, Brief: report.NewBrief(&s), Time: s.Time.UTC().Format("2 Jan 2006, 15:04")}
	for _, file := range released {
		if info, err := root.Lstat(path.Join(name, file)); err == nil && info.Mode().IsRegular() {
			f.Files = append(f.Files, file)
		}
	}
	return f
}

// report is the one that a name of the list stands for.
func (s *Server) report(name string) (*found, error) {
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	if root != nil {
		defer root.Close()
		if name == "." || name != "" && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, `/\`) {
			if f := readReport(root, name); f != nil {
				return f, nil
			}
		}
	}
	return nil, refuse(http.StatusNotFound, "This report does not exist", "It is not in the folder that this server shows.", "The page Reports lists all reports.")
}

func (v *visit) reportList() error {
	all, err := v.s.reports()
	if err != nil {
		return err
	}
	p := v.newPager("reports", len(all), linesOnPage)
	return v.page("reports", "Reports", map[string]any{"All": all[p.From:p.To], "Pager": p, "Folder": v.s.o.Reports})
}

// reportPage shows the report as pawl wrote it.
func (v *visit) reportPage() error {
	f, err := v.s.report(v.query("r"))
	if err != nil {
		return err
	}
	body, err := report.Body(f.S)
	if err != nil {
		return err
	}
	body = strings.Replace(body, "<main>", `<main id="main">`, 1)
	// The template of package report has escaped every text in it.
	return v.write(http.StatusOK, "report", &frame{Title: "Report " + f.Name, Body: template.HTML(body), Data: f})
}

func (v *visit) files() error {
	f, err := v.s.report(v.query("r"))
	if err != nil {
		return err
	}
	return v.page("files", "Files of "+f.Name, f)
}

// difference is one line of a comparison.
type difference struct {
	Name   string
	Values []string
	Same   bool
}

const mostCompared = 6

func (v *visit) compare() error {
	names := v.r.URL.Query()["r"]
	if len(names) < 2 || len(names) > mostCompared {
		return refuse(http.StatusBadRequest, "Choose two to six reports", "A comparison shows reports side by side.", "Select them on the page Reports.")
	}
	var all []*found
	for _, name := range names {
		f, err := v.s.report(name)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	return v.page("compare", "Compare reports", map[string]any{"All": all, "Lines": differences(all), "Chart": scoreChart(all)})
}

func differences(all []*found) (lines []difference) {
	for _, x := range []struct {
		name string
		of   func(*found) string
	}{
		{"Claim", func(f *found) string { return strings.TrimSpace(f.Mark + " " + f.Claim) }},
		{"Unit", func(f *found) string { return f.Unit }},
		{"Data set", func(f *found) string { return report.Plain(f.S.Data.Name) }},
		{"Target", func(f *found) string { return report.Plain(f.S.Data.Target) }},
		{"Verdict", func(f *found) string { return f.Verdict }},
		{"Score", func(f *found) string { return f.Score }},
		{"95 % interval", func(f *found) string { return f.Interval }},
		{"Baseline", func(f *found) string { return f.Baseline }},
		{"Metric", func(f *found) string { return f.Metric }},
		{"Model", func(f *found) string { return f.Model }},
		{"Features", func(f *found) string { return f.Features }},
		{"Encoding", func(f *found) string { return report.Plain(f.S.Choice.Encoding) }},
		{"Run on", func(f *found) string { return f.Time }},
		{"Version", func(f *found) string { return report.Plain(f.S.Software.Version) }},
	} {
		d := difference{Name: x.name, Same: true}
		some := false
		for _, f := range all {
			d.Values = append(d.Values, x.of(f))
			some = some || x.of(f) != ""
			d.Same = d.Same && x.of(f) == d.Values[0]
		}
		if some {
			lines = append(lines, d)
		}
	}
	return lines
}

// scoreChart draws scores of one metric against epsilon; nil where there are fewer than two.
func scoreChart(all []*found) *chart {
	s := series{Name: "score"}
	metric := ""
	for _, f := range all {
		sc := f.S.Score
		if sc == nil || metric != "" && sc.Metric != metric || math.IsNaN(float64(sc.Value)) || math.IsInf(float64(f.S.Privacy.Epsilon), 0) {
			continue
		}
		metric = sc.Metric
		s.X, s.Y = append(s.X, float64(f.S.Privacy.Epsilon)), append(s.Y, float64(sc.Value))
		s.Low, s.High = append(s.Low, float64(sc.Interval[0])), append(s.High, float64(sc.Interval[1]))
	}
	if len(s.X) < 2 {
		return nil
	}
	c := newChart(axes{x: "epsilon", y: strings.ReplaceAll(metric, "_", " "), logX: true}, s)
	if c != nil {
		c.Curves[0].Path = "" // reports are no function of epsilon
	}
	return c
}

// download sends one of the files that may leave.
func (v *visit) download() error {
	f, err := v.s.report(v.query("r"))
	if err != nil {
		return err
	}
	file := v.query("file")
	if !slices.Contains(f.Files, file) {
		return refuse(http.StatusNotFound, "This file does not exist", "The report has no such file.", "The page of the report lists its files.")
	}
	root, err := v.s.root()
	if err != nil {
		return err
	}
	defer root.Close()
	in, err := root.Open(path.Join(f.Name, file))
	if err != nil {
		return err
	}
	defer in.Close()
	v.w.Header().Set("Content-Type", "application/octet-stream")
	v.w.Header().Set("Content-Disposition", `attachment; filename="`+path.Base(file)+`"`)
	_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(10 * time.Minute))
	_, _ = io.Copy(v.w, in)
	return nil
}

// effect is a column of a model, with bars.
type effect struct {
	model.ColumnEffect
	Rows []effectRow
}

type effectRow struct {
	Value   string
	Effects []string
	X, W    float64 // of a bar of 100 of the first output, from its zero
	Below   bool
}

const mostEffects = 12

func (v *visit) explain() error {
	f, m, err := v.loadModel()
	if err != nil {
		return err
	}
	return v.compute(func() error {
		e, err := m.Explain()
		if err != nil {
			return &problem{http.StatusBadRequest, "This model cannot be explained", err.Error(), "Linear models, additive models and networks on tables can be explained."}
		}
		var shown []effect
		for _, c := range e.Columns[:min(mostEffects, len(e.Columns))] {
			shown = append(shown, newEffect(c))
		}
		return v.page("explain", "What the model does", map[string]any{"F": f, "E": e, "Shown": shown, "More": len(e.Columns) - len(shown), "NotPrivate": m.NotPrivate, "Target": m.Target})
	})
}

func newEffect(c model.ColumnEffect) effect {
	out := effect{ColumnEffect: c}
	most := 0.0
	for _, x := range c.Values {
		most = math.Max(most, math.Abs(x.Effects[0]))
	}
	for _, x := range c.Values {
		r := effectRow{Value: report.Plain(x.Value), X: 50, Below: x.Effects[0] < 0}
		for _, e := range x.Effects {
			r.Effects = append(r.Effects, signed(e))
		}
		if most > 0 {
			r.W = math.Round(500*math.Abs(x.Effects[0])/most) / 10
			if r.Below {
				r.X = math.Round(10*(50-r.W)) / 10
			}
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

func signed(x float64) string {
	if t := short(math.Round(x*1e3) / 1e3); x >= 0 {
		return "+" + t
	} else {
		return t
	}
}

func (v *visit) loadModel() (*found, *model.Model, error) {
	f, err := v.s.report(v.query("r"))
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(f.Files, released[4]) {
		return nil, nil, refuse(http.StatusNotFound, "This report has no model", "It is a description, or its model was removed.", "")
	}
	m, err := request.LoadModel(path.Join(v.s.o.Reports, f.Name))
	return f, m, err
}

// reportLine is a report in the API's list.
type reportLine struct {
	Name       string        `json:"name"`
	Time       time.Time     `json:"time"`
	Dataset    string        `json:"dataset"`
	Target     string        `json:"target,omitempty"`
	Epsilon    report.Number `json:"epsilon"`
	Delta      report.Number `json:"delta"`
	NotPrivate bool          `json:"not_private"`
	Verdict    string        `json:"verdict"`
	Files      []string      `json:"files"`
}

func (v *visit) apiReports() error {
	all, err := v.s.reports()
	if err != nil {
		return err
	}
	lines := []reportLine{}
	for _, f := range all {
		p := f.S.Privacy
		lines = append(lines, reportLine{f.Name, f.S.Time, f.S.Data.Name, f.S.Data.Target, p.Epsilon, p.Delta, f.S.NotPrivate, f.Verdict, f.Files})
	}
	return v.json(http.StatusOK, lines)
}

func (v *visit) apiReport() error {
	f, err := v.s.report(v.query("r"))
	if err != nil {
		return err
	}
	return v.json(http.StatusOK, f.S)
}

func (v *visit) apiExplain() error {
	_, m, err := v.loadModel()
	if err != nil {
		return err
	}
	return v.compute(func() error {
		e, err := request.Explain(m)
		if err != nil {
			return &problem{http.StatusBadRequest, "This model cannot be explained", err.Error(), ""}
		}
		return v.json(http.StatusOK, e)
	})
}
