package serve

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"pawl/search/study"
)

// The description is valid, names every address of the API, and the answers are as it says.
func TestOpenAPI(t *testing.T) {
	folder, studies := t.TempDir(), t.TempDir()
	s := open(t, filled(t), func(o *Options) { o.AllowJobs, o.Jobs, o.Studies = true, folder, studies }).enter("")
	r := &study.Record{Name: "done", Dataset: "clinic", Space: "fcn", Strategy: "ps", Started: time.Now().UTC()}
	r.Finish(time.Now())
	if err := r.Save(filepath.Join(studies, "done")); err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData([]byte(s.get("/api/v1/openapi.json").body))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path := range s.routes {
		if strings.HasPrefix(path, "/api/") && doc.Paths.Find(path) == nil {
			t.Errorf("%s is not described", path)
		}
	}
	doc.Servers = openapi3.Servers{{URL: s.url}}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	check := func(method, path, body string, status int) string {
		t.Helper()
		req := s.request(method, path, strings.NewReader(body))
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set(idempotency, "a-key-of-a-program")
		}
		at, params, err := router.FindRoute(req)
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		asked := &openapi3filter.RequestValidationInput{Request: req.Clone(t.Context()), PathParams: params, Route: at,
			Options: &openapi3filter.Options{AuthenticationFunc: func(context.Context, *openapi3filter.AuthenticationInput) error { return nil }}}
		if body != "" {
			asked.Request.Body = io.NopCloser(strings.NewReader(body))
		}
		if err := openapi3filter.ValidateRequest(t.Context(), asked); err != nil && status < 400 {
			t.Errorf("%s %s: %v", method, path, err)
		}
		got := s.send(req)
		if got.status != status {
			t.Fatalf("%s %s: %d, want %d\n%s", method, path, got.status, status, got.body)
		}
		out := &openapi3filter.ResponseValidationInput{RequestValidationInput: asked, Status: got.status, Header: http.Header{"Content-Type": got.header["Content-Type"]}, Body: io.NopCloser(strings.NewReader(got.body)), Options: asked.Options}
		if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
			t.Errorf("%s %s: the answer is not as described: %v\n%.2000s", method, path, err, got.body)
		}
		return got.body
	}
	check("GET", "/api/v1/openapi.json", "", 200)
	check("GET", "/api/v1/budgets", "", 200)
	check("GET", "/api/v1/budget?name=clinic", "", 200)
	check("GET", "/api/v1/budget?name=nobody", "", 404)
	check("GET", "/api/v1/verify?name=clinic", "", 200)
	check("GET", "/api/v1/plan?data=wdbc&epsilon=1", "", 200)
	check("GET", "/api/v1/plan?data=wdbc&epsilon=-1", "", 400)
	check("GET", "/api/v1/advice?data=wdbc&epsilon=1", "", 200)
	check("GET", "/api/v1/account?sampling_rate=0.01&noise_multiplier=1&steps=100&delta=1e-6", "", 200)
	check("POST", "/api/v1/account", `{"event": {"version": 1, "kind": "gaussian", "noise_multiplier": 4}, "delta": "1e-6"}`, 200)
	check("POST", "/api/v1/account", `{"evnt": 1}`, 400)
	check("GET", "/api/v1/studies", "", 200)
	check("GET", "/api/v1/study?name=done", "", 200)
	var first, second jobRecord
	for _, into := range []*jobRecord{&first, &second} {
		if err := json.Unmarshal([]byte(check("POST", "/api/v1/jobs", `{"data": "wdbc", "epsilon": "1"}`, 202)), into); err != nil {
			t.Fatal(err)
		}
	}
	if first.ID == "" || first.ID != second.ID {
		t.Errorf("one key names two jobs: %+v, %+v", first, second)
	}
	s.done(t)
	check("GET", "/api/v1/jobs", "", 200)
	var reports []reportLine
	if err := json.Unmarshal([]byte(check("GET", "/api/v1/reports", "", 200)), &reports); err != nil || len(reports) != 1 {
		t.Fatalf("%v (%v)", reports, err)
	}
	check("GET", "/api/v1/report?r="+reports[0].Name, "", 200)
	check("GET", "/api/v1/explain?r="+reports[0].Name, "", 200)
	var account struct{ Entries []any }
	if err := json.Unmarshal([]byte(check("GET", "/api/v1/budget?name=wdbc", "", 200)), &account); err != nil || len(account.Entries) != 1 {
		t.Errorf("the job was charged %d times (%v)", len(account.Entries), err)
	}
}
