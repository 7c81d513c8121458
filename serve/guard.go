package serve

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// policy is what a page may load: our own style and script, and nothing that is written into it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// The headers by which a proxy says who asks.
const (
	userHeader = "Pawl-User"
	roleHeader = "Pawl-Role"
)

// limits bound what one request may take.
type limits struct {
	header, read, write, idle time.Duration
	headerBytes               int
	bodyBytes                 int64
}

var usual = limits{header: 5 * time.Second, read: 20 * time.Second, write: 60 * time.Second, idle: 2 * time.Minute, headerBytes: 16 << 10, bodyBytes: 64 << 10}

// problem is why a request is not answered, in words for the person who asked.
type problem struct {
	Status           int
	Title, Text, How string
}

func (p *problem) Error() string { return p.Title + ": " + p.Text }

func refuse(status int, title, text, how string) error { return &problem{status, title, text, how} }

// ServeHTTP is the one gate: everything that is asked comes through here.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	v := &visit{s: s, w: w, r: r, api: strings.HasPrefix(r.URL.Path, "/api/")}
	defer func() {
		if fault := recover(); fault != nil {
			if fault == http.ErrAbortHandler {
				panic(fault)
			}
			// What it holds may come from a request or from a row: it is told to nobody.
			s.o.Log("a page failed: this is a fault of pawl")
			v.fail(errors.New("panic"))
		}
	}()
	if err := v.answer(); err != nil {
		v.fail(err)
	}
}

func (v *visit) answer() error {
	if err := v.admissible(); err != nil {
		return err
	}
	if done, err := v.static(); done || err != nil {
		return err
	}
	if v.r.URL.Path == "/enter" {
		return v.enter()
	}
	if err := v.identify(); err != nil {
		return err
	}
	byMethod := v.s.routes[v.r.URL.Path]
	if byMethod == nil {
		return refuse(http.StatusNotFound, "This page does not exist", "This server has nothing at this address.", "")
	}
	method := v.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	at := byMethod[method]
	if at == nil {
		var allowed []string
		for m := range byMethod {
			allowed = append(allowed, m)
		}
		slices.Sort(allowed)
		v.w.Header().Set("Allow", strings.Join(allowed, ", "))
		return refuse(http.StatusMethodNotAllowed, "This is not possible here", "This address does not accept "+v.r.Method+".", "")
	}
	if at.may != nil && !at.may(v.person().Role) {
		return refuse(http.StatusForbidden, "Your role does not allow this", fmt.Sprintf("You are here as %s.", v.person().Role), "Ask the steward, who maintains the roles.")
	}
	if method == http.MethodPost {
		if err := v.form(); err != nil {
			return err
		}
	}
	return at.serve(v)
}

// admissible refuses what no page of ours sends, before anybody is identified.
func (v *visit) admissible() error {
	r := v.r
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		v.w.Header().Set("Allow", "GET, HEAD, POST")
		return refuse(http.StatusMethodNotAllowed, "This is not possible here", "This server accepts GET, HEAD and POST.", "")
	case !v.s.hosts[strings.ToLower(r.Host)]:
		// A name that an attacker has let point here would otherwise count as our own origin.
		return refuse(http.StatusMisdirectedRequest, "Wrong host name", "The request names a host that is not this server.", "Open the address that pawl serve printed; --host adds another name.")
	case !v.s.o.Proxy && (r.Header[userHeader] != nil || r.Header[roleHeader] != nil):
		return refuse(http.StatusBadRequest, "Identity headers are not accepted here", "Headers that name the user are accepted only over a Unix socket.", "Put pawl serve --socket behind a proxy that signs people in.")
	case !plainPath(r.URL):
		return refuse(http.StatusNotFound, "This page does not exist", "This server has nothing at this address.", "")
	case r.ContentLength > v.s.limits.bodyBytes:
		return tooLarge()
	}
	// A browser sends the origin null with our own forms, because Referrer-Policy hides it. Sec-Fetch-Site, which
	// no page can set, tells them from the forms of others.
	if origin := r.Header.Get("Origin"); origin != "" && (origin != "null" || r.Header.Get("Sec-Fetch-Site") != "same-origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != v.s.scheme() && !v.s.o.Proxy || !v.s.hosts[strings.ToLower(u.Host)] {
			return refuse(http.StatusForbidden, "The request comes from another site", "Only pages of this server may send it.", "")
		}
	}
	if v.s.cross.Check(r) != nil {
		return refuse(http.StatusForbidden, "The request comes from another site", "Only pages of this server may send it.", "")
	}
	r.Body = http.MaxBytesReader(v.w, r.Body, v.s.limits.bodyBytes)
	return nil
}

func tooLarge() error {
	return refuse(http.StatusRequestEntityTooLarge, "The request is too large", "It exceeds the limit of this server.", "")
}

// incomplete is why the body of a request was not read to its end, nil for an error of another kind.
func incomplete(err error) error {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "The request took too long", "It did not arrive complete in time.", "Send it again.")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(http.StatusBadRequest, "The request did not arrive complete", "It ends too early.", "Send it again.")
	}
	return nil
}

// plainPath refuses every path that is written in more than one way.
func plainPath(u *url.URL) bool {
	return u.RawPath == "" && strings.HasPrefix(u.Path, "/") && !strings.Contains(u.Path, "//") && !strings.Contains(u.Path, "..") && !strings.ContainsAny(u.Path, "\\\x00%;")
}

// cookie is the name of the cookie: of servers on several ports each has its own.
func (s *Server) cookie() string {
	if s.o.TLS {
		return "__Host-pawl"
	}
	_, port, _ := net.SplitHostPort(s.o.Hosts[0])
	return "pawl-" + port
}

// enter exchanges a link for a cookie. The answer is a page that goes on by itself: after a
// redirect the browser would still count the request as one of the page that the link was on,
// and keep a strict cookie to itself.
func (v *visit) enter() error {
	if v.r.Method == http.MethodHead {
		return nil // who looks at a link does not use it up
	}
	if v.r.Method != http.MethodGet {
		return refuse(http.StatusMethodNotAllowed, "This is not possible here", "Open the link in a browser.", "")
	}
	secret, ok := v.s.door.enter(v.r.URL.Query().Get("token"))
	if !ok || v.s.o.Proxy {
		return refuse(http.StatusForbidden, "This link does not work", "A link works once, and only while the server that printed it is running.", "If you have already opened it in this browser, go to the first page. Otherwise start pawl serve again for a new link.")
	}
	http.SetCookie(v.w, &http.Cookie{Name: v.s.cookie(), Value: secret, Path: "/", HttpOnly: true, Secure: v.s.o.TLS, SameSite: http.SameSiteStrictMode, MaxAge: int(sessionTime.Seconds())})
	return v.page("enter", "Welcome", nil)
}

// identify says who asks, or refuses.
func (v *visit) identify() error {
	if v.s.o.Proxy {
		return v.identifyByProxy()
	}
	c, err := v.r.Cookie(v.s.cookie())
	if err == nil {
		v.session = v.s.door.find(c.Value)
	}
	if v.session == nil {
		return refuse(http.StatusUnauthorized, "You are not signed in", "This browser has no session here, or the session has ended.", "Open the link that pawl serve printed. It works once; start pawl serve again for a new one.")
	}
	return nil
}

func (v *visit) identifyByProxy() error {
	names, roles := v.r.Header[userHeader], v.r.Header[roleHeader]
	if len(names) != 1 || !plainName(names[0]) || len(roles) > 1 {
		return refuse(http.StatusUnauthorized, "Nobody is signed in", "The proxy must name the user in exactly one header "+userHeader+".", "Ask the administrator of the proxy.")
	}
	p := Person{Name: names[0]}
	if v.s.o.People != nil {
		at := slices.IndexFunc(v.s.o.People, func(x Person) bool { return x.Name == p.Name })
		if at < 0 {
			return refuse(http.StatusForbidden, "You have no role here", "The file of roles does not list you.", "Ask the steward, who maintains the roles.")
		}
		p.Role = v.s.o.People[at].Role
	} else {
		role, err := ParseRole(v.r.Header.Get(roleHeader))
		if err != nil {
			return refuse(http.StatusForbidden, "You have no role here", "The proxy must state your role in exactly one header "+roleHeader+".", "Ask the administrator of the proxy.")
		}
		p.Role = role
	}
	v.session = v.s.door.named(p)
	return nil
}

// form reads what was sent and uses its number up. A program sends JSON, which no form of another
// page can.
func (v *visit) form() error {
	kind, _, err := mime.ParseMediaType(v.r.Header.Get("Content-Type"))
	if v.api {
		if err != nil || kind != "application/json" {
			return refuse(http.StatusUnsupportedMediaType, "The request is not JSON", "Its content type must be application/json.", "")
		}
		return nil
	}
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return refuse(http.StatusUnsupportedMediaType, "The request is not a form", "Only forms from pages of this server are accepted.", "")
	}
	if err := v.r.ParseForm(); err != nil {
		if stopped := incomplete(err); stopped != nil {
			return stopped
		}
		return refuse(http.StatusBadRequest, "The form did not arrive complete", "It is incomplete or malformed.", "Send it again.")
	}
	if !v.s.door.sent(v.session, v.r.PostForm.Get("number"), v.r.URL.Path) {
		return refuse(http.StatusConflict, "This form was sent before, or is too old", "This request changed nothing.", "Check whether the first request was carried out; if not, fill in the form again.")
	}
	return nil
}
