package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/core/ledger/figures"
	"pawl/internal/usage"
)

// zeros is a body that has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Requests that no page of ours sends, or that somebody sends who was not let in. Each is refused
// with its status, and changes nothing.
func TestHostileRequests(t *testing.T) {
	l := filled(t)
	s := open(t, l, nil).enter("")
	host := strings.TrimPrefix(s.url, "http://")
	_, port, _ := net.SplitHostPort(host)
	const page = "/budget?name=clinic"
	freeze := func() url.Values {
		return url.Values{"name": {"clinic"}, "reason": {"hostile"}, "number": {s.number(page, "/budget/freeze")}}
	}
	post := func(v url.Values) *http.Request {
		r := s.request("POST", "/budget/freeze", strings.NewReader(v.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return r
	}
	with := func(r *http.Request, name, value string) *http.Request { r.Header.Set(name, value); return r }
	used := freeze()
	first := s.send(post(used))
	if first.status != 303 {
		t.Fatalf("an honest form: %d\n%s", first.status, first.body)
	}
	if got := s.form(page, "/budget/unfreeze", "name", "clinic", "reason", "honest"); got.status != 303 {
		t.Fatalf("an honest form: %d\n%s", got.status, got.body)
	}
	links := s.Links()
	spent := strings.TrimPrefix(links[0].URL, s.url)
	if got := s.get(spent); got.status != 200 {
		t.Fatalf("a link: %d", got.status)
	}
	otherForm := freeze()
	otherForm.Set("number", s.number(page, "/budget/grant"))
	stranger := s.browser()
	for _, x := range []struct {
		name     string
		stranger bool
		request  func() *http.Request
		want     int
	}{
		{"another origin", false, func() *http.Request { return with(post(freeze()), "Origin", "https://evil.example") }, 403},
		{"the null origin", false, func() *http.Request { return with(post(freeze()), "Origin", "null") }, 403},
		{"the null origin, sent by another site", false, func() *http.Request {
			return with(with(post(freeze()), "Origin", "null"), "Sec-Fetch-Site", "cross-site")
		}, 403},
		{"another origin that says it is this one", false, func() *http.Request {
			return with(with(post(freeze()), "Origin", "https://evil.example"), "Sec-Fetch-Site", "same-origin")
		}, 403},
		{"another port's origin", false, func() *http.Request { return with(post(freeze()), "Origin", "http://127.0.0.1:1") }, 403},
		{"another scheme's origin", false, func() *http.Request { return with(post(freeze()), "Origin", "https://"+host) }, 403},
		{"sent by another site", false, func() *http.Request { return with(post(freeze()), "Sec-Fetch-Site", "cross-site") }, 403},
		{"sent by another port of this host", false, func() *http.Request { return with(post(freeze()), "Sec-Fetch-Site", "same-site") }, 403},
		{"another host", false, func() *http.Request { r := s.request("GET", "/", nil); r.Host = "evil.example:" + port; return r }, 421},
		{"another host as its own origin", false, func() *http.Request {
			r := with(post(freeze()), "Origin", "http://evil.example:"+port)
			r.Host = "evil.example:" + port
			return r
		}, 421},
		{"the host without its port", false, func() *http.Request { r := s.request("GET", "/", nil); r.Host = "127.0.0.1"; return r }, 421},
		{"no session", true, func() *http.Request { return s.request("GET", "/", nil) }, 401},
		{"no session at the API", true, func() *http.Request { return s.request("GET", "/api/v1/budgets", nil) }, 401},
		{"a made-up cookie", true, func() *http.Request {
			r := s.request("GET", "/", nil)
			r.AddCookie(&http.Cookie{Name: s.cookie(), Value: "AAAA"})
			return r
		}, 401},
		{"a link that was used", true, func() *http.Request { return s.request("GET", spent, nil) }, 403},
		{"a made-up link", true, func() *http.Request { return s.request("GET", "/enter?token=AAAA", nil) }, 403},
		{"an empty link", true, func() *http.Request { return s.request("GET", "/enter", nil) }, 403},
		{"a form sent twice", false, func() *http.Request { return post(used) }, 409},
		{"a form without its number", false, func() *http.Request { v := freeze(); v.Del("number"); return post(v) }, 409},
		{"the number of another form", false, func() *http.Request { return post(otherForm) }, 409},
		{"a form as plain text", false, func() *http.Request { return with(post(freeze()), "Content-Type", "text/plain") }, 415},
		{"JSON in place of a form", false, func() *http.Request { return with(post(freeze()), "Content-Type", "application/json") }, 415},
		{"a change by GET", false, func() *http.Request { return s.request("GET", "/budget/freeze?"+freeze().Encode(), nil) }, 405},
		{"PUT", false, func() *http.Request { return s.request("PUT", "/", nil) }, 405},
		{"TRACE", false, func() *http.Request { return s.request("TRACE", "/", nil) }, 405},
		{"a path above", false, func() *http.Request {
			r := s.request("GET", "/", nil)
			r.URL.Opaque = "/static/../../etc/passwd"
			return r
		}, 404},
		{"a coded path above", false, func() *http.Request {
			r := s.request("GET", "/", nil)
			r.URL.Opaque = "/static/%2e%2e%2f%2e%2e%2fetc%2fpasswd"
			return r
		}, 404},
		{"a doubled slash", false, func() *http.Request {
			r := s.request("GET", "/", nil)
			r.URL.Opaque = "//" + host + "//budget"
			return r
		}, 404},
		{"a folder of files", false, func() *http.Request { return s.request("GET", "/static/", nil) }, 404},
		{"a body of 1 GB", false, func() *http.Request {
			r := s.request("POST", "/budget/freeze", io.LimitReader(zeros{}, 1<<30))
			r.ContentLength = 1 << 30
			return with(r, "Content-Type", "application/x-www-form-urlencoded")
		}, 413},
		{"a body of 1 GB of unknown length", false, func() *http.Request {
			return with(s.request("POST", "/budget/freeze", io.LimitReader(zeros{}, 1<<30)), "Content-Type", "application/x-www-form-urlencoded")
		}, 413},
		{"a user's name where no proxy is", false, func() *http.Request { return with(s.request("GET", "/", nil), userHeader, "root") }, 400},
		{"a role where no proxy is", true, func() *http.Request { return with(s.request("GET", "/", nil), roleHeader, "steward") }, 400},
		{"headers of 100 KB", false, func() *http.Request {
			return with(s.request("GET", "/", nil), "X-Large", strings.Repeat("x", 100<<10))
		}, 431},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := x.request()
			client := s.client
			if x.stranger {
				client = stranger
			}
			resp, err := client.Do(r)
			if err != nil {
				// A server that closes the connection before it has read a body is right too.
				if x.want == http.StatusRequestEntityTooLarge && !errors.Is(err, context.DeadlineExceeded) {
					return
				}
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
			if resp.StatusCode != x.want {
				t.Errorf("status %d, want %d\n%s", resp.StatusCode, x.want, text)
			}
			if resp.StatusCode != 431 && (resp.Header.Get("Content-Security-Policy") != policy || resp.Header.Get("Referrer-Policy") != "no-referrer") {
				t.Errorf("the answer lacks its headers: %v", resp.Header)
			}
			if strings.Contains(string(text), "root:") || strings.Contains(string(text), "evil.example") || x.stranger && strings.Contains(string(text), "memory") {
				t.Errorf("the answer shows what was sent:\n%s", text)
			}
		})
	}
	if st, err := figures.Show(t.Context(), l, "clinic"); err != nil || st.Frozen != nil || st.Total.Epsilon != 2 {
		t.Errorf("a hostile request changed the ledger: %+v (%v)", st.Frozen, err)
	}
	if s.log.Len() > 0 {
		t.Errorf("the log has %q", s.log)
	}
}

// Who sends slowly is cut off, and does not keep others waiting.
func TestSlowRequestsAreCutOff(t *testing.T) {
	listener, hosts, _, err := Endpoint{Address: "127.0.0.1:0"}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: New(Options{Ledger: filled(t), Hosts: hosts}), t: t, url: "http://" + hosts[0], log: &strings.Builder{}}
	s.limits.header, s.limits.read = 200*time.Millisecond, 400*time.Millisecond
	s.run(listener)
	s.client = s.browser()
	s.enter("")
	u, _ := url.Parse(s.url)
	cookie := s.client.Jar.Cookies(u)[0]
	for name, head := range map[string]string{
		"a slow header": "GET / HTTP/1.1\r\nHost: " + hosts[0] + "\r\nX-Slow: ",
		"a slow body": fmt.Sprintf("POST /budget/freeze HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nname=",
			hosts[0], cookie.Name, cookie.Value),
		"a slow body of JSON": fmt.Sprintf("POST /api/v1/account HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
			hosts[0], cookie.Name, cookie.Value),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", hosts[0])
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, head); err != nil {
				t.Fatal(err)
			}
			if got := s.get("/"); got.status != 200 {
				t.Errorf("others wait: %d", got.status)
			}
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			r := bufio.NewReader(c)
			line, err := r.ReadString('\n')
			if err == nil && (strings.Contains(line, " 200 ") || strings.Contains(line, " 303 ")) {
				t.Fatalf("it was answered: %s", line)
			}
			if name != "a slow header" && !strings.Contains(line, " 408 ") {
				t.Errorf("the answer to %s begins %q", name, line)
			}
			if _, err = io.Copy(io.Discard, r); errors.As(err, new(net.Error)) && strings.Contains(err.Error(), "timeout") {
				t.Fatal("it was not cut off")
			}
		})
	}
}

// Behind a proxy the header counts, over its socket alone.
func TestProxy(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "pawl.sock")
	listener, hosts, _, err := Endpoint{Socket: socket, Names: []string{"pawl.example.org"}}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: New(Options{Ledger: filled(t), Hosts: hosts, Proxy: true}), t: t, url: "http://pawl.example.org", log: &strings.Builder{}}
	s.run(listener)
	s.client = s.browser()
	s.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	if len(s.Links()) != 0 {
		t.Error("a link stands beside the proxy")
	}
	for _, x := range []struct {
		user, role []string
		want       int
	}{
		{[]string{"sue"}, []string{"steward"}, 200},
		{nil, []string{"steward"}, 401},
		{[]string{"sue", "root"}, []string{"steward"}, 401},
		{[]string{"sue"}, []string{"analyst", "steward"}, 401},
		{[]string{"sue"}, nil, 403},
		{[]string{"sue"}, []string{"root"}, 403},
		{[]string{"s ue"}, []string{"steward"}, 401},
	} {
		r := s.request("GET", "/budget?name=clinic", nil)
		r.Header[userHeader], r.Header[roleHeader] = x.user, x.role
		got := s.send(r)
		if got.status != x.want || got.status == 200 && !strings.Contains(got.body, "Raise the budget") {
			t.Errorf("user %q, role %q: %d, want %d", x.user, x.role, got.status, x.want)
		}
	}
	s.Server.o.People = []Person{{"sue", Officer}}
	r := s.request("GET", "/budget?name=clinic", nil)
	r.Header[userHeader], r.Header[roleHeader] = []string{"sue"}, []string{"steward"}
	if got := s.send(r); got.status != 200 || strings.Contains(got.body, "Raise the budget") {
		t.Errorf("a header raises the role that the file gives: %d", got.status)
	}
	r.Header[userHeader] = []string{"mallory"}
	if got := s.send(r); got.status != 403 {
		t.Errorf("a user whom the file does not name: %d", got.status)
	}
}

func TestEndpoint(t *testing.T) {
	for _, x := range []struct {
		e    Endpoint
		want string
	}{
		{Endpoint{Address: "127.0.0.1"}, `--listen: "127.0.0.1" is not HOST:PORT`},
		{Endpoint{Address: "example.org:80"}, `--listen: "example.org" is not an IP address or localhost`},
		{Endpoint{Address: "0.0.0.0:0"}, "0.0.0.0:0 can be reached by others, and pawl serve does not send budgets over a network in the clear"},
		{Endpoint{Address: "[::]:0"}, "[::]:0 can be reached by others, and pawl serve does not send budgets over a network in the clear"},
		{Endpoint{Address: "127.0.0.1:0", Cert: "cert.pem"}, "--tls-cert and --tls-key belong together"},
		{Endpoint{Address: "127.0.0.1:0", Names: []string{"http://x"}}, `--host: "http://x" is not a name with or without a port`},
		{Endpoint{Socket: "x.sock"}, "--socket needs --host: the name under which people reach the proxy"},
	} {
		l, _, _, err := x.e.Listen()
		if err == nil {
			_ = l.Close()
		}
		if err == nil || err.Error() != x.want || !errors.Is(err, usage.Err) {
			t.Errorf("%+v: got %v, want %s", x.e, err, x.want)
		}
	}
	l, hosts, secure, err := Endpoint{Address: "localhost:0", Names: []string{"pawl.test:1234"}}.Listen()
	if err != nil || secure || hosts[0] != "pawl.test:1234" || !strings.HasPrefix(hosts[2], "localhost:") {
		t.Fatalf("%v, %v, %v", hosts, secure, err)
	}
	_ = l.Close()
}

// Sessions and forms end, and no list of them grows without bound.
func TestDoor(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	d := newDoor(func() time.Time { return now })
	first, _ := d.enter(d.link(Person{"ann", Steward}))
	if d.find(first) == nil {
		t.Fatal("no session")
	}
	for range 2 * mostSessions {
		if _, ok := d.enter(d.link(Person{"ann", Steward})); !ok {
			t.Fatal("a link does not work")
		}
	}
	if len(d.sessions) > mostSessions || len(d.links) > 0 {
		t.Errorf("%d sessions, %d links", len(d.sessions), len(d.links))
	}
	second, _ := d.enter(d.link(Person{"ann", Steward}))
	s := d.find(second)
	number := d.form(s, "/x")
	for range 2 * mostForms {
		d.form(s, "/x")
	}
	if len(s.forms) > mostForms || d.sent(s, number, "/x") {
		t.Errorf("%d forms, and the first still counts", len(s.forms))
	}
	now = now.Add(sessionTime + time.Second)
	if d.find(second) != nil {
		t.Error("a session does not end")
	}
}

// A program is told which part of its JSON is wrong.
func TestJSONFaults(t *testing.T) {
	s := open(t, filled(t), nil).enter("")
	for body, want := range map[string]string{
		``:                          "one object",
		`[]`:                        "one object",
		`{} {}`:                     "one object",
		`{}`:                        "The field event is missing.",
		`{"events":1}`:              `There is no field \"events\".`,
		`{"delta":1}`:               "The field delta cannot be a JSON number.",
		`{"delta":"1e-6"`:           "ends too early",
		`{"event":{"x":`:            "ends too early",
		strings.Repeat(" ", 65<<10): "too large",
	} {
		r := s.request("POST", "/api/v1/account", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if got := s.send(r); got.status < 400 || got.status >= 500 || !strings.Contains(got.body, want) {
			t.Errorf("%.20q: %d %s, want %q", body, got.status, got.body, want)
		}
	}
}
