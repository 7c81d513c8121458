package serve

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/core/ledger"
	"pawl/internal/usage"
	"pawl/report"
)

//go:embed templates/*.tmpl
var templates embed.FS

// pages are parsed when the first one is shown: other commands need none.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(functions).ParseFS(templates, "templates/*.tmpl"))
})

var functions = template.FuncMap{
	"up":    func(n ledger.Number) string { return report.Up(float64(n)) },
	"down":  func(n ledger.Number) string { return report.Down(float64(n)) },
	"delta": func(n ledger.Number) string { return report.Delta(float64(n)) },
	"upr":   func(n report.Number) string { return report.Up(float64(n)) },
	"plain": report.Plain,
	"when":  when,
	"query": func(pairs ...string) string {
		q := url.Values{}
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i+1] != "" {
				q.Set(pairs[i], pairs[i+1])
			}
		}
		return "?" + q.Encode()
	},
}

// when writes a time of the ledger for a person.
func when(at string) string {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return at
	}
	return t.UTC().Format("2 Jan 2006, 15:04 UTC")
}

// visit is one request.
type visit struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	session *session
	api     bool
}

func (v *visit) person() Person { return v.session.Person }

// ledger books under the name of whoever asks.
func (v *visit) ledger() *ledger.Ledger { return v.s.as(v.person().Name) }

func (v *visit) query(name string) string { return strings.TrimSpace(v.r.URL.Query().Get(name)) }

// frame is what every page has.
type frame struct {
	Title, Path string
	Person      *Person
	Ledger      string
	Jobs        bool
	// Done is what was done by the form before.
	Done string
	// Body is a page of package report, in the place of ours.
	Body template.HTML
	Data any

	v *visit
}

// Number is that of a form which is sent to path.
func (f *frame) Number(path string) string { return f.v.s.door.form(f.v.session, path) }

// part is a part of the navigation.
type part struct {
	Path, Name string
	Here       bool
}

// Nav lists the parts, and says to which one the page belongs.
func (f *frame) Nav() (all []part) {
	for _, p := range []part{{Path: "/", Name: "Budgets"}, {Path: "/plan", Name: "Plan"}, {Path: "/jobs", Name: "Jobs"}, {Path: "/studies", Name: "Studies"},
		{Path: "/reports", Name: "Reports"}, {Path: "/calculator", Name: "Calculator"}, {Path: "/advice", Name: "Advice"}} {
		at := f.v.s.routes[p.Path]
		if at == nil {
			continue
		}
		under := map[string]string{"/": "/budget", "/studies": "/study", "/reports": "/report"}[p.Path]
		p.Here = f.Path == p.Path || under != "" && strings.HasPrefix(f.Path, under) || p.Path != "/" && strings.HasPrefix(f.Path, p.Path) || p.Path == "/reports" && f.Path == "/explain"
		all = append(all, p)
	}
	return all
}

// page answers with a page, whole or not at all.
func (v *visit) page(name, title string, data any) error {
	return v.write(http.StatusOK, name, &frame{Title: title, Data: data})
}

func (v *visit) write(status int, name string, f *frame) error {
	f.v, f.Path, f.Ledger, f.Jobs = v, v.r.URL.Path, v.s.o.Address, v.s.o.AllowJobs
	if v.session != nil {
		p := v.person()
		f.Person = &p
	}
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, name, f); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b.Bytes()) // whoever has gone away is not told
	return nil
}

// json answers with one object, as the command line prints it.
func (v *visit) json(status int, what any) error {
	var b bytes.Buffer
	var err error
	if s, ok := what.(*report.Statement); ok {
		err = report.WriteJSON(&b, s)
	} else {
		err = report.Encode(&b, what)
	}
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b.Bytes())
	return nil
}

// goTo sends the browser to a page once a form has been dealt with.
func (v *visit) goTo(path string, pairs ...string) error {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}

// body reads the JSON that a program sends: one object, and no field that is not known.
func (v *visit) body(into any) error {
	d := json.NewDecoder(v.r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.More() {
		err = errors.New("there is more than one object")
	}
	var kind *json.UnmarshalTypeError
	if err == nil {
		return nil
	}
	if stopped := incomplete(err); stopped != nil {
		return stopped
	}
	text := "It must be one object with the fields that openapi.json lists."
	if errors.As(err, &kind) && kind.Field != "" {
		text = fmt.Sprintf("The field %s cannot be a JSON %s.", kind.Field, kind.Value)
	} else if field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		text = "There is no field " + field + "."
	}
	return refuse(http.StatusBadRequest, "The JSON is not valid", text, "openapi.json lists the fields.")
}

// apiError is how the API says that it did not do what was asked.
type apiError struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

// fail answers with an error.
func (v *visit) fail(err error) {
	p := v.s.problemOf(err)
	if p.Status == http.StatusRequestEntityTooLarge {
		v.w.Header().Set("Connection", "close")
	}
	if v.api {
		text, _ := json.Marshal(apiError{strings.TrimSuffix(p.Title+": "+p.Text, ": "), p.How})
		v.w.Header().Set("Content-Type", "application/json")
		v.w.WriteHeader(p.Status)
		_, _ = v.w.Write(append(text, '\n'))
		return
	}
	f := &frame{Title: p.Title, Data: map[string]any{"Text": p.Text, "How": p.How, "Status": p.Status}}
	if err := v.write(p.Status, "error", f); err != nil {
		http.Error(v.w, p.Title, p.Status)
	}
}

// problemOf puts an error into words. What is neither a mistake in the request nor a refusal is
// not shown: its text was made for the operator.
func (s *Server) problemOf(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	e := pawl.AsError(err)
	switch {
	case errors.Is(err, errBusy):
		return &problem{http.StatusServiceUnavailable, "The server is busy", "Other computations are running.", "Try again in a moment."}
	case errors.Is(err, ledger.ErrUnknownDataset):
		return &problem{http.StatusNotFound, "The ledger does not have this data set", "It may have been mistyped.", "The page Budgets lists them."}
	case errors.Is(err, ledger.ErrUnavailable):
		return &problem{http.StatusServiceUnavailable, "The ledger does not answer", "It is locked, full or cannot be reached.", "Try again in a moment."}
	case errors.Is(err, ledger.ErrBroken), errors.Is(err, ledger.ErrContradicted):
		return &problem{http.StatusConflict, "The ledger contradicts itself", e.Error(), e.Hint()}
	case errors.Is(err, ledger.ErrRefused):
		return &problem{http.StatusConflict, "The ledger refuses this", e.Error(), e.Hint()}
	case e.ExitStatus() == usage.Status, errors.Is(err, ledger.ErrUnaccountable):
		return &problem{http.StatusBadRequest, "That cannot be answered", withoutPlace(e.Error()), e.Hint()}
	}
	s.o.Log("a request failed: an error that is shown to nobody")
	return &problem{http.StatusInternalServerError, "Something went wrong", "The reason is not shown here, since it may contain facts that only the operator may see.", "Run the same job on the command line to see it."}
}

// static answers with a file that is the same for everybody.
func (v *visit) static() (bool, error) {
	name, ok := strings.CutPrefix(v.r.URL.Path, "/static/")
	if !ok {
		return false, nil
	}
	if v.r.Method == http.MethodPost {
		return true, refuse(http.StatusMethodNotAllowed, "This is not possible here", "Files can only be read.", "")
	}
	text, err := fs.ReadFile(static, "static/"+name)
	if name == "report.css" {
		text, err = []byte(report.Style()), nil
	}
	if err != nil {
		return true, refuse(http.StatusNotFound, "This file does not exist", "This server has nothing at this address.", "")
	}
	v.w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	v.w.Header().Set("Cache-Control", "no-cache")
	_, _ = v.w.Write(text)
	return true, nil
}

// errBusy says that there is no place for another computation.
var errBusy = errors.New("busy")

// compute takes one of the places for what is dear, and waits a little for it.
func (v *visit) compute(do func() error) error {
	// The deadlines of a page are too short for it.
	c := http.NewResponseController(v.w)
	_ = c.SetReadDeadline(time.Time{})
	_ = c.SetWriteDeadline(time.Now().Add(5 * time.Minute))
	wait := time.NewTimer(10 * time.Second)
	defer wait.Stop()
	select {
	case v.s.busy <- struct{}{}:
		defer func() { <-v.s.busy }()
		return do()
	case <-v.r.Context().Done():
		return v.r.Context().Err()
	case <-wait.C:
		return errBusy
	}
}
