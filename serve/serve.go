package serve

import (
	"context"
	"crypto/tls"
	"embed"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pawl/core/ledger"
	"pawl/internal/usage"
	"pawl/workflow"
)

//go:embed static
var static embed.FS

// Table is a table that may be planned for: a file of rows with its schema. The name is what
// pages call it.
type Table struct{ Name, Data, Schema string }

// Options say what is shown, and to whom.
type Options struct {
	// Ledger is read; Address is shown, and has no password.
	Ledger  *ledger.Ledger
	Address string
	// Safe is where a release that the ledger does not confirm is held back.
	Safe func() (workflow.Safe, error)
	// Hosts are the names, each with its port, under which the server may be asked, the first one
	// for its links. TLS says that it is asked by https.
	Hosts []string
	TLS   bool
	// Proxy says that all requests come from a proxy over a Unix socket, which says who asks.
	Proxy bool
	// People are those who may ask. Without any a proxy says each one's role, and without a proxy
	// whoever has the link is the ledger's user, as steward.
	People []Person
	// Tables may be planned for beside the built-in data sets, those in DataDir included.
	Tables  []Table
	DataDir string
	// Reports is the folder whose reports are shown, Studies that of studies.
	Reports, Studies string
	// AllowJobs lets jobs be started; their records lie in the folder Jobs.
	AllowJobs bool
	Jobs      string
	// Log is told single lines that hold nothing of a request; nil: nobody is.
	Log   func(string)
	Clock func() time.Time
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	o      Options
	hosts  map[string]bool
	limits limits
	door   *door
	routes map[string]map[string]*route
	cross  *http.CrossOriginProtection
	book   *book
	jobs   *jobs
	busy   chan struct{} // one place for each computation at a time
	// streams is the number of those that are open.
	streams atomic.Int64

	mu      sync.Mutex
	ledgers map[string]*ledger.Ledger // by user
}

// New returns a server. Nothing runs before Serve.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	s := &Server{o: o, hosts: map[string]bool{}, limits: usual, door: newDoor(o.Clock), cross: http.NewCrossOriginProtection(), busy: make(chan struct{}, 2), ledgers: map[string]*ledger.Ledger{}}
	for _, h := range o.Hosts {
		s.hosts[strings.ToLower(h)] = true
	}
	s.book = newBook(o.Ledger, o.Clock)
	s.jobs = newJobs(s)
	s.routes = map[string]map[string]*route{}
	for _, r := range s.table() {
		if s.routes[r.path] == nil {
			s.routes[r.path] = map[string]*route{}
		}
		s.routes[r.path][r.method] = r
	}
	return s
}

func (s *Server) scheme() string {
	if s.o.TLS {
		return "https"
	}
	return "http"
}

// Link is an address that lets one person in, once.
type Link struct {
	Person
	URL string
}

// Links makes a link for everybody who may ask; none behind a proxy.
func (s *Server) Links() (all []Link) {
	people := s.o.People
	switch {
	case s.o.Proxy:
		return nil
	case people == nil:
		people = []Person{{s.o.Ledger.User(), Steward}}
	}
	for _, p := range people {
		u := url.URL{Scheme: s.scheme(), Host: s.o.Hosts[0], Path: "/enter", RawQuery: "token=" + s.door.link(p)}
		all = append(all, Link{p, u.String()})
	}
	return all
}

// as is the ledger for whoever asks.
func (s *Server) as(user string) *ledger.Ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ledgers[user]
	if l == nil {
		if len(s.ledgers) >= mostPersons {
			clear(s.ledgers)
		}
		l = s.o.Ledger.As(user)
		s.ledgers[user] = l
	}
	return l
}

// Serve answers requests until ctx ends, and waits for those that are being answered.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	h := &http.Server{Handler: s, ReadHeaderTimeout: s.limits.header, ReadTimeout: s.limits.read, WriteTimeout: s.limits.write, IdleTimeout: s.limits.idle,
		MaxHeaderBytes: s.limits.headerBytes, BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog: log.New(io.Discard, "", 0)} // its lines hold addresses and what was sent
	var running sync.WaitGroup
	running.Go(func() { s.book.keep(ctx) })
	running.Go(func() { s.jobs.work(ctx) })
	running.Go(func() {
		<-ctx.Done()
		// What streams ends with ctx.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if h.Shutdown(last) != nil {
			_ = h.Close()
		}
	})
	err := h.Serve(l)
	stop()
	running.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Endpoint says where to listen.
type Endpoint struct {
	// Address is HOST:PORT; HOST is an IP address or localhost, and port 0 a free one. Off
	// loopback it needs Cert and Key, files of a TLS certificate and its key.
	Address   string
	Cert, Key string
	// Socket is the path of a Unix socket for a proxy, in place of Address.
	Socket string
	// Names are further names, each with its port if it is not the scheme's own, by which the
	// server is asked.
	Names []string
}

// Listen opens the endpoint and says under which names it may be asked.
//
// Errors: [usage.Err] for an address that cannot be read or is taken, and for one that others can
// reach without TLS.
func (e Endpoint) Listen() (l net.Listener, hosts []string, secure bool, err error) {
	for _, name := range e.Names {
		if u, err := url.Parse("http://" + name); err != nil || u.Host != name || strings.ContainsAny(name, "/?#@ ") {
			return nil, nil, false, usage.Newf("example: --host pawl.example.org", "--host: %.80q is not a name with or without a port", name)
		}
	}
	if e.Socket != "" {
		return e.listenSocket()
	}
	host, port, err := net.SplitHostPort(e.Address)
	if err != nil {
		return nil, nil, false, usage.Newf("example: --listen 127.0.0.1:8080", "--listen: %.80q is not HOST:PORT", e.Address)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" {
		return nil, nil, false, usage.Newf("example: --listen 127.0.0.1:8080; --host adds a name", "--listen: %.80q is not an IP address or localhost", host)
	}
	if (e.Cert == "") != (e.Key == "") {
		return nil, nil, false, usage.New("--tls-cert and --tls-key belong together", "give both, or neither on loopback")
	}
	if e.Cert == "" && !ip.IsLoopback() {
		return nil, nil, false, usage.Newf("give --tls-cert and --tls-key, listen on 127.0.0.1, or use --socket behind a proxy", "%s can be reached by others, and pawl serve does not send budgets over a network in the clear", e.Address)
	}
	var certificate tls.Certificate
	if e.Cert != "" {
		if certificate, err = tls.LoadX509KeyPair(e.Cert, e.Key); err != nil {
			return nil, nil, false, usage.New("--tls-cert and --tls-key: "+err.Error(), "both are PEM files, and the key belongs to the certificate")
		}
	}
	if l, err = net.Listen("tcp", net.JoinHostPort(host, port)); err != nil {
		return nil, nil, false, usage.Newf("choose another port, or 0 for a free one", "cannot listen on %s: %v", e.Address, reason(err))
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	hosts = append(hosts, e.Names...)
	if !ip.IsUnspecified() {
		hosts = append(hosts, net.JoinHostPort(host, port))
	}
	if ip.IsLoopback() || ip.IsUnspecified() {
		hosts = append(hosts, "localhost:"+port)
	}
	if e.Cert != "" {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	}
	return l, hosts, e.Cert != "", nil
}

func (e Endpoint) listenSocket() (net.Listener, []string, bool, error) {
	if len(e.Names) == 0 {
		return nil, nil, false, usage.New("--socket needs --host: the name under which people reach the proxy", "example: --socket /run/pawl/pawl.sock --host pawl.example.org")
	}
	if e.Cert+e.Key != "" {
		return nil, nil, false, usage.New("--socket and --tls-cert exclude each other", "TLS ends at the proxy")
	}
	if info, err := os.Lstat(e.Socket); err == nil && info.Mode()&os.ModeSocket != 0 {
		if c, err := net.Dial("unix", e.Socket); err == nil {
			_ = c.Close()
			return nil, nil, false, usage.Newf("stop it, or name another socket", "%s: a server already listens there", e.Socket)
		}
		if err := os.Remove(e.Socket); err != nil { // of a server that was killed
			return nil, nil, false, usage.New(err.Error(), "name another socket")
		}
	}
	l, err := net.Listen("unix", e.Socket)
	if err != nil {
		return nil, nil, false, usage.Newf("name another socket", "cannot listen on %s: %v", e.Socket, reason(err))
	}
	if err := os.Chmod(e.Socket, 0o660); err != nil {
		return nil, nil, false, errors.Join(err, l.Close())
	}
	return l, e.Names, false, nil
}

// reason is what the operating system says, without the address.
func reason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
