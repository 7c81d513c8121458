package serve

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/pricing"
	"pawl/search/study"
	"pawl/store/memory"
)

// wants fails where a page lacks what it has to show, or has style or script within it.
func (s *site) wants(path string, status int, all ...string) string {
	s.t.Helper()
	got := s.get(path)
	if got.status != status {
		s.t.Fatalf("%s: %d, want %d\n%s", path, got.status, status, got.body)
	}
	for _, want := range all {
		if !strings.Contains(got.body, want) {
			s.t.Errorf("%s lacks %q:\n%s", path, want, got.body)
		}
	}
	for _, no := range []string{" style=", "<style", " onclick", "javascript:"} {
		if strings.Contains(got.body, no) {
			s.t.Errorf("%s has %q, which the policy refuses", path, no)
		}
	}
	return got.body
}

func TestCalculator(t *testing.T) {
	s := open(t, filled(t), nil).enter("")
	s.wants("/calculator", 200, "Sampling rate")
	q := "/calculator?sampling_rate=0.01&noise_multiplier=1&steps=1000&delta=1e-6"
	s.wants(q, 200, "the smallest of", "pld: ", "Epsilon against noise multiplier", "<path class=\"line c0\"", "yours")
	s.wants("/calculator?sampling_rate=0.01&epsilon=2&steps=1000&delta=1e-6", 200, "Noise multiplier</dt>")
	s.wants("/calculator?sampling_rate=2&noise_multiplier=1&steps=1000&delta=1e-6", 400, "That cannot be answered")
	s.wants("/calculator?sampling_rate=0.01&steps=1000&delta=1e-6", 400, "give the noise multiplier, or epsilon to find it")
	got := s.form("/calculator", "/calculator/event", "event", `{"version": 1, "kind": "gaussian", "noise_multiplier": 4}`, "delta", "1e-6")
	if got.status != 200 || !strings.Contains(got.body, "the smallest of") {
		t.Errorf("an event: %d\n%s", got.status, got.body)
	}
	if got = s.form("/calculator", "/calculator/event", "event", `{"kind": `, "delta", "1e-6"); got.status != 400 {
		t.Errorf("half an event: %d", got.status)
	}
}

func TestPlanAndAdvice(t *testing.T) {
	l := filled(t)
	s := open(t, l, nil).enter("")
	s.wants("/plan", 200, "Choose a data set and an epsilon", "<option>wdbc</option>")
	s.wants("/plan?data=wdbc&epsilon=1", 200, "pawl fit wdbc --epsilon 1", "Expected quality", "Confidence in the advice", "73.2 % sure", "Stages, each alone")
	if strings.Contains(s.get("/plan?data=wdbc&epsilon=1").body, "/jobs/start") {
		t.Error("a server without jobs offers to start one")
	}
	s.wants("/plan?data=wdbc&epsilon=-1", 400, "That cannot be answered", `value="-1"`)
	s.wants("/plan?data=/etc/passwd&epsilon=1", 404, "This server does not have this data set")
	s.wants("/advice", 200, "Which learner is best, by epsilon", "<circle class=\"dot c0\"")
	s.wants("/advice?data=wdbc&epsilon=1&on=wdbc", 200, "/advice.svg?data=wdbc")
	if got := s.get("/advice.svg?data=wdbc&epsilon=1"); got.header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(got.body, "<svg") {
		t.Errorf("the diagram: %v\n%.200s", got.header, got.body)
	}
	names, err := l.Names(t.Context())
	if err != nil || len(names) != 2 {
		t.Errorf("looking at plans changed the ledger: %v (%v)", names, err)
	}
}

// A job is charged once, whatever is sent how often, and its report is shown.
func TestJobs(t *testing.T) {
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
	folder := t.TempDir()
	s := open(t, l, func(o *Options) {
		o.AllowJobs, o.Jobs, o.People = true, folder, []Person{{"ann", Analyst}, {"otto", Officer}, {"bob", Analyst}}
	}).enter("ann")
	const page = "/plan?data=wdbc&epsilon=1"
	body := s.wants(page, 200, "Start the job and charge")
	_, after, _ := strings.Cut(body, `name="key" value="`)
	key, _, _ := strings.Cut(after, `"`)
	send := func() answer {
		return s.form(page, "/jobs/start", "key", key, "data", "wdbc", "epsilon", "1")
	}
	for range 3 {
		if got := send(); got.status != 303 {
			t.Fatalf("a job: %d\n%s", got.status, got.body)
		}
	}
	if got := s.form(page, "/jobs/start", "key", key, "data", "wdbc", "epsilon", "2"); got.status != 409 {
		t.Errorf("another job under the same key: %d", got.status)
	}
	r := s.done(t)
	if got := send(); got.status != 303 || len(s.jobs.list()) != 1 {
		t.Errorf("the same job once it was done: %d", got.status)
	}
	st, err := figures.Show(t.Context(), l, "wdbc")
	if err != nil || len(st.Entries) != 1 || st.Entries[0].By != "ann" || st.Entries[0].ID != r.Entry {
		t.Fatalf("entries %+v (%v), job %+v", st.Entries, err, r)
	}
	s.wants("/jobs", 200, "finished", r.ID)
	s.wants("/reports", 200, r.Report, "explain")
	s.wants("/report?r="+r.Report, 200, "Privacy report", "/static/report.css")
	s.wants("/report/files?r="+r.Report, 200, "model/model.safetensors", "statement.json")
	s.wants("/explain?r="+r.Report, 200, "What decides diagnosis", "importance")
	if got := s.get("/report/file?r=" + r.Report + "&file=statement.json"); got.status != 200 || !json.Valid([]byte(got.body)) || !strings.Contains(got.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("a download: %d %v", got.status, got.header)
	}
	for _, path := range []string{"/report/file?r=" + r.Report + "&file=../../x", "/report/file?r=" + r.Report + "&file=/etc/passwd", "/report?r=..", "/report?r=%2e%2e", "/explain?r=../" + r.Report, "/report/file?r=.&file=statement.json"} {
		if got := s.get(path); got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	s.client = s.browser()
	s.enter("otto")
	if got := s.form("", "/jobs/start", "number", "x", "key", key, "data", "wdbc", "epsilon", "1"); got.status != 403 {
		t.Errorf("an officer starts a job: %d", got.status)
	}
	s.client = s.browser()
	s.enter("bob")
	if got := send(); got.status != 409 {
		t.Errorf("somebody else under the same key: %d", got.status)
	}
}

// done waits for the only job.
func (s *site) done(t *testing.T) *jobRecord {
	t.Helper()
	for range 600 {
		if all := s.jobs.list(); len(all) == 1 && (all[0].State == finished || all[0].State == failed) {
			if all[0].State == failed {
				t.Fatalf("the job failed: %s", all[0].Why)
			}
			return all[0]
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the job does not end: %+v", s.jobs.list())
	return nil
}

// A job that a server had in hand when it was killed is not run again: its key is used up.
func TestAKilledServerChargesOnce(t *testing.T) {
	l := filled(t)
	folder := t.TempDir()
	change := func(o *Options) { o.AllowJobs, o.Jobs = true, folder }
	first := New(Options{Ledger: l, Hosts: []string{"127.0.0.1:1"}, AllowJobs: true, Jobs: folder})
	const key = "a-key-of-a-program"
	a := asked{Data: "wdbc", Epsilon: "1"}
	r, err := first.jobs.start("ann", key, a)
	if err != nil {
		t.Fatal(err)
	}
	r.State = charging // and the server dies
	if err := first.jobs.save(r); err != nil {
		t.Fatal(err)
	}
	s := open(t, l, change).enter("")
	again, err := s.jobs.start("ann", key, a)
	if err != nil || again.State != interrupted || again.ID != r.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	s.wants("/jobs", 200, "its entry is in the history")
	if got := s.form("", "/jobs/resume", "number", s.door.form(s.session(), "/jobs/resume"), "id", r.ID); got.status != 409 {
		t.Errorf("a fit without a search is gone on with: %d", got.status)
	}
	time.Sleep(50 * time.Millisecond)
	if names, _ := l.Names(t.Context()); len(names) != 2 {
		t.Errorf("it was charged: %v", names)
	}
	// Half a record is a used key too.
	if err := os.WriteFile(filepath.Join(folder, r.ID+".json"), []byte(`{"id"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.jobs.start("ann", key, a); err == nil {
		t.Error("a key of which half a record is left can be used again")
	}
}

func (s *site) session() *session {
	u, _ := url.Parse(s.url)
	return s.door.find(s.client.Jar.Cookies(u)[0].Value)
}

// An interrupted search is gone on with, and was charged once.
func TestAnInterruptedSearchGoesOn(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir()) // where studies lie
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
	folder := t.TempDir()
	s := open(t, l, func(o *Options) { o.AllowJobs, o.Jobs = true, folder }).enter("")
	// The first server is stopped as soon as the search is charged.
	first := New(Options{Ledger: l, Hosts: []string{"127.0.0.1:1"}, AllowJobs: true, Jobs: folder, Reports: t.TempDir()})
	r, err := first.jobs.start("ann", "a-key-of-a-program", asked{Data: "wdbc", Epsilon: "1", Search: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer stop()
		for range 600 {
			if st, err := figures.Show(t.Context(), l, "wdbc"); err == nil && len(st.Entries) > 0 {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	first.jobs.do(ctx, r)
	if r.State != interrupted {
		// Nothing was left to go on with: the machine ran the search between the charge and the stop.
		t.Skipf("the search was faster than its end: %s", r.State)
	}
	if got := s.form("/jobs", "/jobs/resume", "id", r.ID); got.status != 303 {
		t.Fatalf("going on: %d\n%s", got.status, got.body)
	}
	done := s.done(t)
	st, err := figures.Show(t.Context(), l, "wdbc")
	if err != nil || len(st.Entries) != 1 || st.Entries[0].State != ledger.Committed || done.Entry != st.Entries[0].ID {
		t.Fatalf("entries %+v (%v), job %+v", st.Entries, err, done)
	}
}

// Of a study on sensitive data nothing is told before it ends, and of one on public data its trials.
func TestStudies(t *testing.T) {
	folder := t.TempDir()
	s := open(t, filled(t), func(o *Options) { o.Studies = folder }).enter("")
	s.wants("/studies", 200, "No studies yet")
	for name, public := range map[string]bool{"open": true, "secret": false} {
		r := &study.Record{Name: name, Dataset: name, Public: public, Space: "fcn", Strategy: "ps", Started: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
		if err := r.Save(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
		lines := `{"number":1,"candidate":"{\"width\":8}","score":0.71,"seconds":1}` + "\n" + `{"number":2,"candidate":"{\"width\":16}","score":0.83,"seconds":1}` + "\n" + `{"num`
		if err := os.WriteFile(filepath.Join(folder, name, "trials.jsonl"), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.wants("/studies", 200, "open", "secret")
	s.wants("/study?name=open", 200, "2 trials", "0.8300", "width=16", "best so far")
	body := s.wants("/study?name=secret", 200, "is secret")
	before, err := s.standing("study", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "secret", "trials.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s.wants("/study?name=secret", 200) != body && strings.Contains(body, "trials") {
		t.Error("the page of a sensitive study follows its journal")
	}
	if after, err := s.standing("study", "secret"); err != nil || after != before {
		t.Error("the stream of a sensitive study follows its journal")
	}
	for _, path := range []string{"/study?name=../x", "/study?name=none", "/live?of=none", "/live?of=study&name=none"} {
		if got := s.get(path); got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

// A stream says that something has changed, and nothing else.
func TestLive(t *testing.T) {
	folder := t.TempDir()
	s := open(t, filled(t), func(o *Options) { o.Studies = folder }).enter("")
	resp, err := s.client.Do(s.request("GET", "/live?of=studies", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("type %q", resp.Header.Get("Content-Type"))
	}
	r := &study.Record{Name: "new", Dataset: "clinic", Started: time.Now()}
	if err := r.Save(filepath.Join(folder, "new")); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	buf := make([]byte, 256)
	for !strings.Contains(text.String(), "event: change") {
		n, err := resp.Body.Read(buf)
		text.Write(buf[:n])
		if err != nil {
			t.Fatalf("%v after %q", err, text.String())
		}
	}
	if got := text.String(); strings.TrimPrefix(got, ": here\n\n") != "event: change\ndata: look\n\n" {
		t.Errorf("the stream says %q", got)
	}
}

// No error about a row is shown.
func TestErrorsAboutRowsAreNotShown(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{`unknown column "x"`, `unknown column "x"`},
		{"patients.csv:17:4: want a number", "the file does not match its schema; only the operator may see where, with pawl check"},
		{"fit: patients.csv:17: too few fields", "fit: the file does not match its schema; only the operator may see where, with pawl check"},
	} {
		if got := withoutPlace(x.text); got != x.want {
			t.Errorf("%q: got %q, want %q", x.text, got, x.want)
		}
	}
}

// A description that was released is a page, of which nothing breaks the policy.
func TestDescriptions(t *testing.T) {
	for _, name := range []string{"XDG_DATA_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	folder := t.TempDir()
	led, err := pawl.OpenLedger(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer led.Close()
	data, err := pawl.Open("breast-cancer", "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := led.Plan(t.Context(), data, pawl.Describe{})
	if err == nil {
		_, err = plan.Run(t.Context(), pawl.Into(filepath.Join(folder, "look"), false))
	}
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, filled(t), func(o *Options) { o.Reports = folder }).enter("")
	s.wants("/reports", 200, "look", "exact: public data")
	s.wants("/report?r=look", 200, "Description", "The data set is public", `id="main"`)
	s.wants("/report/files?r=look", 200, "describe.html")
	s.wants("/explain?r=look", 404, "This report has no model")
}
