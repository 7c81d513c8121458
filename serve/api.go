package serve

import (
	"net/http"

	"pawl/core/ledger/figures"
	"pawl/internal/request"
	"pawl/report"
	"pawl/search/study"
)

// apiVersion is the version in every address of the API. What an address answers may gain fields
// and never loses one.
const apiVersion = "v1"

// api is what programs may ask: the JSON of the command line's --json.
func (s *Server) api() []*route {
	get := func(path string, serve func(*visit) error, doc operation) *route {
		return &route{method: http.MethodGet, path: "/api/" + apiVersion + path, serve: serve, doc: &doc}
	}
	name := parameter{"name", "string", true, "the data set"}
	ofReport := parameter{"r", "string", true, "name of the report"}
	plan := []parameter{{"data", "string", true, "a data set that this server offers"}, {"target", "string", false, "column to predict"}, {"epsilon", "string", true, "of the whole job"},
		{"delta", "string", false, "failure probability"}, {"search", "string", false, "yes: search privately too"}}
	return []*route{
		get("/openapi.json", (*visit).apiDescription, operation{does: "This description of the API", returns: map[string]any{}}),
		get("/budgets", (*visit).apiBudgets, operation{does: "All data sets: granted, spent, reserved and left; as pawl ledger show --json", returns: request.Budgets{}}),
		get("/budget", (*visit).apiBudget, operation{does: "One data set with its history, as pawl ledger show NAME --json", takes: []parameter{name}, returns: request.BudgetAccount{}}),
		{method: http.MethodGet, path: "/api/" + apiVersion + "/verify", may: Role.verifies, serve: (*visit).apiVerify,
			doc: &operation{does: "Read a whole log again and verify it. For officers and stewards", takes: []parameter{name}, returns: figures.Checked{}}},
		get("/plan", (*visit).apiPlan, operation{does: "Price a fit, as pawl plan fit --json; charges nothing", takes: plan, returns: report.Statement{}}),
		get("/advice", (*visit).apiAdvice, operation{does: "What the rules recommend, as pawl advise --json", takes: plan[:3], returns: object{}}),
		get("/account", (*visit).apiAccount, operation{does: "The epsilon of a training run by DP-SGD, as pawl account dpsgd --json; with epsilon in place of the noise, the noise, as pawl calibrate dpsgd --json",
			takes: []parameter{{"sampling_rate", "number", true, "probability that a row joins a batch"}, {"steps", "integer", true, "number of noisy updates"}, {"delta", "string", true, "failure probability"},
				{"noise_multiplier", "number", false, "standard deviation of the noise / clipping norm"}, {"epsilon", "string", false, "target epsilon, to find the noise"}}, returns: accountView{}}),
		{method: http.MethodPost, path: "/api/" + apiVersion + "/account", serve: (*visit).apiEvent,
			doc: &operation{does: "The epsilon of an event, as pawl account event --json", body: eventBody{}, returns: accountView{}}},
		get("/reports", (*visit).apiReports, operation{does: "The reports in the folder of this server", returns: []reportLine{}}),
		get("/report", (*visit).apiReport, operation{does: "A statement, as in statement.json", takes: []parameter{ofReport}, returns: report.Statement{}}),
		get("/explain", (*visit).apiExplain, operation{does: "How each column changes a model's output, as pawl explain --json", takes: []parameter{ofReport}, returns: request.Explained{}}),
		get("/studies", (*visit).apiStudies, operation{does: "All studies, as pawl study list --json", returns: []*study.Record{}}),
		get("/study", (*visit).apiStudy, operation{does: "One study, as pawl study show --json", takes: []parameter{{"name", "string", true, "the study"}}, returns: study.Record{}}),
		get("/jobs", (*visit).apiJobs, operation{does: "The jobs started here, newest first", returns: []*jobRecord{}}),
		{method: http.MethodPost, path: "/api/" + apiVersion + "/jobs", may: Role.runs, serve: (*visit).apiStart,
			doc: &operation{does: "Start a fit. A key belongs to one job permanently: if it is sent again, the answer is that job, and nothing is charged", status: http.StatusAccepted,
				takes: []parameter{{idempotency, "string", true, "16 to 200 letters, digits, hyphens or underscores, new for each job"}}, body: asked{}, returns: jobRecord{}}},
	}
}

func (v *visit) apiDescription() error { return v.json(http.StatusOK, v.s.describeAPI()) }

func (v *visit) apiBudgets() error {
	ctx := v.r.Context()
	names, tips, known, err := v.s.book.list(ctx)
	if err != nil {
		return err
	}
	out := request.Budgets{Ledger: v.s.o.Address, Datasets: []request.BudgetLine{}}
	for _, name := range names {
		l := known[name]
		if l == nil {
			if _, l, err = v.s.book.read(ctx, name, tips[name]); err != nil {
				return err
			}
		}
		if l.Fault != "" { // a list that leaves one out would be taken for whole
			return refuse(http.StatusConflict, "A log cannot be read", "The log of one data set is damaged or from a newer version.", "pawl ledger verify says which.")
		}
		out.Datasets = append(out.Datasets, l.BudgetLine)
	}
	return v.json(http.StatusOK, out)
}

func (v *visit) apiBudget() error {
	a, err := v.s.book.account(v.r.Context(), v.query("name"))
	if err != nil {
		return err
	}
	return v.json(http.StatusOK, a.BudgetAccount)
}

func (v *visit) apiVerify() error {
	return v.compute(func() error {
		checked, err := figures.Check(v.r.Context(), v.ledger(), v.query("name"))
		if err != nil {
			return err
		}
		return v.json(http.StatusOK, checked)
	})
}
