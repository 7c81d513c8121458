package serve

import (
	"net/http"

	"pawl/core/ledger"
	"pawl/internal/request"
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
	return []*route{
		get("/openapi.json", (*visit).apiDescription, operation{does: "This description of the API", returns: map[string]any{}}),
		get("/budgets", (*visit).apiBudgets, operation{does: "All data sets: granted, spent, reserved and left, as pawl ledger show --json", returns: request.Budgets{}}),
		get("/budget", (*visit).apiBudget, operation{does: "One data set with its history, as pawl ledger show NAME --json", takes: []parameter{name}, returns: request.BudgetAccount{}}),
		{method: http.MethodGet, path: "/api/" + apiVersion + "/verify", may: Role.verifies, serve: (*visit).apiVerify,
			doc: &operation{does: "Read a whole log again and check it. For officers and stewards", takes: []parameter{name}, returns: ledger.Checked{}}},
	}
}

func (v *visit) apiDescription() error { return v.json(http.StatusOK, v.s.describeAPI()) }

func (v *visit) apiBudgets() error {
	ctx := v.r.Context()
	names, known, err := v.s.book.list(ctx)
	if err != nil {
		return err
	}
	out := request.Budgets{Ledger: v.s.o.Address, Datasets: []request.BudgetLine{}}
	for _, name := range names {
		l := known[name]
		if l == nil {
			if _, l, err = v.s.book.read(ctx, name); err != nil {
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
		checked, err := v.ledger().Check(v.r.Context(), v.query("name"))
		if err != nil {
			return err
		}
		return v.json(http.StatusOK, checked)
	})
}
