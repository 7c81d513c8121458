package serve

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/pricing"
	"pawl/report"
	"pawl/store/memory"
)

// site is a server that runs, and a browser that was let in.
type site struct {
	*Server
	t      testing.TB
	url    string
	client *http.Client
	log    *strings.Builder
}

// filled is a ledger with what a first page has to show.
func filled(t *testing.T) *ledger.Ledger {
	t.Helper()
	ctx := context.Background()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(l.Create(ctx, ledger.Budget{Dataset: "clinic", Epsilon: "2", Delta: "1e-6", Unit: "patient", RowsPerUnit: 4, Relation: dp.AddOrRemoveOne}))
	must(l.Create(ctx, ledger.Budget{Dataset: "census <b>", Epsilon: "1", Delta: "1e-6", Unit: "person", Relation: dp.AddOrRemoveOne, Per: ledger.Month}))
	for _, reason := range []string{"counts for the yearly report", "second wave"} {
		_, err := l.Book(ctx, ledger.Booking{Dataset: "clinic", Event: dp.Gaussian{NoiseMultiplier: 8}, By: "bob", Reason: reason})
		must(err)
	}
	must(l.GrantShare(ctx, ledger.Share{Dataset: "clinic", Analyst: "bob", Epsilon: "1.5", Reason: "readmission study"}))
	return l
}

// open starts a server on loopback.
func open(t *testing.T, l *ledger.Ledger, change func(*Options)) *site {
	t.Helper()
	listener, hosts, _, err := Endpoint{Address: "127.0.0.1:0"}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	o := Options{Ledger: l, Address: "memory", Hosts: hosts, Reports: t.TempDir(), Studies: t.TempDir(), Log: func(line string) { log.WriteString(line + "\n") }}
	if change != nil {
		change(&o)
	}
	s := &site{Server: New(o), t: t, log: log, url: "http://" + hosts[0]}
	s.run(listener)
	s.client = s.browser()
	return s
}

func (s *site) run(l net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	s.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.t.Errorf("server: %v", err)
		}
	})
}

// browser is a client without a session; enter lets it in.
func (s *site) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (s *site) enter(name string) *site {
	s.t.Helper()
	for _, l := range s.Links() {
		if name == "" || l.Name == name {
			if got := s.get(strings.TrimPrefix(l.URL, s.url)); got.status != 200 {
				s.t.Fatalf("a link of %s: %d", l.Name, got.status)
			}
			return s
		}
	}
	s.t.Fatalf("no link for %q", name)
	return s
}

type answer struct {
	status int
	body   string
	header http.Header
}

func (s *site) send(r *http.Request) answer {
	s.t.Helper()
	resp, err := s.client.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{resp.StatusCode, string(text), resp.Header}
}

func (s *site) request(method, path string, body io.Reader) *http.Request {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// direct asks without a network.
func (s *site) direct(path string) string {
	s.t.Helper()
	secret, _ := s.door.enter(s.door.link(Person{"ann", Steward}))
	r := httptest.NewRequest("GET", s.url+path, nil)
	r.AddCookie(&http.Cookie{Name: s.cookie(), Value: secret})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 200 {
		s.t.Fatalf("%s: %d\n%s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

func epsilonUp(n ledger.Number) string { return report.Up(float64(n)) }

func (s *site) get(path string) answer {
	s.t.Helper()
	return s.send(s.request("GET", path, nil))
}

var numberOf = regexp.MustCompile(`action="([^"]*)"[^>]*>\s*<input type="hidden" name="number" value="([^"]+)"`)

// number is that of the form on page which is sent to action.
func (s *site) number(page, action string) string {
	s.t.Helper()
	got := s.get(page)
	for _, m := range numberOf.FindAllStringSubmatch(got.body, -1) {
		if m[1] == action {
			return m[2]
		}
	}
	s.t.Fatalf("%s (%d) has no form to %s:\n%s", page, got.status, action, got.body)
	return ""
}

// form sends a form with a number of its page, unless the fields have one.
func (s *site) form(page, action string, fields ...string) answer {
	s.t.Helper()
	q := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		q.Set(fields[i], fields[i+1])
	}
	if !q.Has("number") {
		q.Set("number", s.number(page, action))
	}
	r := s.request("POST", action, strings.NewReader(q.Encode()))
	for name, value := range map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": "null", "Sec-Fetch-Site": "same-origin"} {
		r.Header.Set(name, value) // as a browser sends a form of a page whose policy is no-referrer
	}
	return s.send(r)
}

func TestBudgetsAreShown(t *testing.T) {
	s := open(t, filled(t), nil).enter("")
	got := s.get("/")
	for _, want := range []string{"clinic", "census &lt;b&gt;", ">2.00<", "Jobs still possible", "a month"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the first page lacks %q:\n%s", want, got.body)
		}
	}
	if strings.Contains(got.body, "<b>") || strings.Contains(got.body, "style=") || strings.Contains(got.body, "onclick") {
		t.Error("the first page has a name that is not escaped, or style or script within it")
	}
	got = s.get("/budget?name=clinic")
	for _, want := range []string{"patient (up to 4 rows)", "counts for the yearly report", "readmission study", "about", "Raise the budget", "Verify the log"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the page of a budget lacks %q:\n%s", want, got.body)
		}
	}
	if got = s.get("/budget?name=nobody"); got.status != 404 || !strings.Contains(got.body, "does not have this data set") {
		t.Errorf("an unknown data set: %d", got.status)
	}
	if got = s.get("/?q=zzz"); !strings.Contains(got.body, "No data set matches") {
		t.Error("no words for an empty choice")
	}
}

func TestAnEmptyLedgerSaysHowToBegin(t *testing.T) {
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
	if got := open(t, l, nil).enter("").get("/"); !strings.Contains(got.body, "pawl ledger create") {
		t.Errorf("no words for an empty ledger:\n%s", got.body)
	}
}

// A steward's forms change the ledger under the steward's name, and others' do not.
func TestStewardActs(t *testing.T) {
	l := filled(t)
	people := []Person{{"sue", Steward}, {"otto", Officer}, {"bob", Analyst}}
	s := open(t, l, func(o *Options) { o.People = people }).enter("sue")
	const page = "/budget?name=clinic"
	if got := s.form(page, "/budget/grant", "name", "clinic", "epsilon", "3", "reason", "second study"); got.status != 303 {
		t.Fatalf("grant: %d\n%s", got.status, got.body)
	}
	if got := s.form(page, "/budget/grant", "name", "clinic", "epsilon", "1", "reason", "less"); got.status != 409 || !strings.Contains(got.body, "can only raise a budget") {
		t.Fatalf("a lower budget: %d\n%s", got.status, got.body)
	}
	if got := s.form(page, "/budget/share", "name", "clinic", "analyst", "eve", "epsilon", "0.5", "reason", "pilot"); got.status != 303 {
		t.Fatalf("share: %d\n%s", got.status, got.body)
	}
	if got := s.form(page, "/budget/freeze", "name", "clinic", "reason", "incident 12"); got.status != 303 {
		t.Fatalf("freeze: %d\n%s", got.status, got.body)
	}
	if got := s.get(page); !strings.Contains(got.body, "FROZEN by sue") || !strings.Contains(got.body, "second study") || !strings.Contains(got.body, "eve") {
		t.Fatalf("the page does not show what was done:\n%s", got.body)
	}
	if got := s.form(page, "/budget/unfreeze", "name", "clinic", "reason", "closed"); got.status != 303 {
		t.Fatalf("unfreeze: %d", got.status)
	}
	st, err := figures.Show(t.Context(), l, "clinic")
	if err != nil {
		t.Fatal(err)
	}
	id := st.Entries[0].ID
	if got := s.form("/budget/entry?name=clinic&entry="+id, "/budget/approve", "name", "clinic", "entry", id, "reason", "read it"); got.status != 303 {
		t.Fatalf("approve: %d\n%s", got.status, got.body)
	}
	if st, err = figures.Show(t.Context(), l, "clinic"); err != nil || st.Granted.By != "sue" || st.Total.Epsilon != 3 || len(st.Entries[0].Approvals) != 1 || st.Entries[0].Approvals[0].By != "sue" || len(st.Analysts) != 2 {
		t.Fatalf("the ledger has %+v (%v)", st, err)
	}
	if got := s.form(page, "/budget/verify", "name", "clinic"); got.status != 200 || !strings.Contains(got.body, "every record follows the previous one") {
		t.Fatalf("verify: %d\n%s", got.status, got.body)
	}
	for _, who := range people[1:] {
		s.client = s.browser()
		s.enter(who.Name)
		if got := s.get(page); got.status != 200 || strings.Contains(got.body, "Raise the budget") {
			t.Errorf("%s sees a steward's forms (%d)", who.Name, got.status)
		}
		for _, action := range []string{"/budget/grant", "/budget/share", "/budget/freeze", "/budget/unfreeze", "/budget/approve"} {
			if got := s.form("", action, "number", "x", "name", "clinic", "reason", "no"); got.status != 403 {
				t.Errorf("%s: %s: %d", who.Name, action, got.status)
			}
		}
		if got := s.form("", "/budget/verify", "number", "x", "name", "clinic"); (got.status == 403) == who.Role.verifies() {
			t.Errorf("%s verifies: %d", who.Name, got.status)
		}
	}
	if s.log.Len() > 0 {
		t.Errorf("the log has %q", s.log)
	}
}

func TestRolesFile(t *testing.T) {
	people, err := ReadRoles(strings.NewReader("# who\nann steward\n\nbob analyst # until May\n"), "roles.txt")
	if err != nil || len(people) != 2 || people[1] != (Person{"bob", Analyst}) {
		t.Fatalf("%v, %v", people, err)
	}
	for _, x := range []struct{ text, want string }{
		{"ann steward\nbob owner\n", `roles.txt:2: "owner" is not a role: want analyst, officer or steward`},
		{"ann\n", "roles.txt:1: want a name and a role, found 1 words"},
		{"ann steward\n\nann analyst\n", "roles.txt:3: ann already has a role, in line 1"},
		{"\n# nobody\n", "roles.txt names nobody"},
		{"a\u0000b analyst\n", "roles.txt:1: a name is 1 to 100 printable characters"},
	} {
		if _, err := ReadRoles(strings.NewReader(x.text), "roles.txt"); err == nil || err.Error() != x.want {
			t.Errorf("%q: got %v, want %s", x.text, err, x.want)
		}
	}
}
