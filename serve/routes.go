package serve

import "net/http"

// route is one thing that may be asked. may is nil where everybody may who was let in.
type route struct {
	method, path string
	may          func(Role) bool
	serve        func(*visit) error
	// doc is nil for a page.
	doc *operation
}

// table is everything that may be asked, beside files that are the same for everybody and the link.
func (s *Server) table() []*route {
	get := func(path string, serve func(*visit) error) *route {
		return &route{method: http.MethodGet, path: path, serve: serve}
	}
	post := func(path string, may func(Role) bool, serve func(*visit) error) *route {
		return &route{method: http.MethodPost, path: path, may: may, serve: serve}
	}
	pages := []*route{
		get("/", (*visit).budgets), get("/budget", (*visit).budget), get("/budget/entry", (*visit).entry),
		post("/budget/verify", Role.verifies, (*visit).verify),
		post("/budget/grant", Role.acts, (*visit).grant), post("/budget/share", Role.acts, (*visit).share),
		post("/budget/freeze", Role.acts, (*visit).freeze), post("/budget/unfreeze", Role.acts, (*visit).unfreeze),
		post("/budget/approve", Role.acts, (*visit).approve),
		get("/plan", (*visit).plan),
		get("/calculator", (*visit).calculator), post("/calculator/event", nil, (*visit).event),
		get("/advice", (*visit).advice), get("/advice.svg", (*visit).diagram),
		get("/reports", (*visit).reportList), get("/reports/compare", (*visit).compare), get("/report", (*visit).reportPage),
		get("/report/files", (*visit).files), get("/report/file", (*visit).download), get("/explain", (*visit).explain),
		get("/studies", (*visit).studyList), get("/study", (*visit).studyPage), get("/live", (*visit).live),
		get("/jobs", (*visit).jobList), post("/jobs/start", Role.runs, (*visit).start), post("/jobs/resume", Role.runs, (*visit).resume),
		post("/leave", nil, (*visit).leave),
	}
	return append(pages, s.api()...)
}

// leave ends the session of whoever asks.
func (v *visit) leave() error {
	if c, err := v.r.Cookie(v.s.cookie()); err == nil {
		v.s.door.leave(c.Value)
	}
	v.session = nil
	return v.page("left", "Good-bye", nil)
}
