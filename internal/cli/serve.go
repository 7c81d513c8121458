package cli

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl/data/schema"
	"pawl/data/source"
	"pawl/data/table"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/serve"
	"pawl/store/heads"
	"pawl/workflow"
)

type serveFlags struct {
	serve.Endpoint
	roles, out  string
	tables      []string
	open, start bool
}

func serveCommand(a *app) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show budgets, plans, studies and reports in a browser",
		Long: `Show the ledger and what was released in a browser: budgets with their history, plans
and prices, studies, reports to compare, and a privacy calculator. The same is offered
to programs as JSON under /api/v1.

The server listens on this machine only, on a free port, and prints a link that lets one
browser in, once. The ledger is read; a steward's forms change it.

--roles FILE lets others in, one person per line: a name, and analyst, officer or steward.
Each gets a link. Everyone can read all pages; officers and stewards also verify
logs, and stewards grant, freeze and approve. Off loopback, TLS is required. Behind a
proxy that signs people in, use --socket: the proxy names the user in the header Pawl-User
and, without --roles, the role in Pawl-Role. These headers are ignored elsewhere.`,
		Example: `  pawl serve
  pawl serve --open=false --listen 127.0.0.1:8080
  pawl serve --listen 0.0.0.0:8443 --host pawl.example.org:8443 --tls-cert cert.pem --tls-key key.pem --roles roles.txt
  pawl serve --socket /run/pawl/pawl.sock --host pawl.example.org --roles roles.txt`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return servePages(c.Context(), a, &f, c.Flags().Changed("listen"))
		},
	}
	s := c.Flags()
	s.StringVar(&f.Address, "listen", "127.0.0.1:0", "IP address and port; port 0 is a free one")
	s.BoolVar(&f.open, "open", true, "open the page in a browser; --open=false prints the link alone")
	s.StringArrayVar(&f.Names, "host", nil, "further name of the server, with its port if it has one; may be repeated")
	s.StringVar(&f.Cert, "tls-cert", "", "TLS certificate, PEM; required off loopback")
	s.StringVar(&f.Key, "tls-key", "", "key of the TLS certificate, PEM")
	s.StringVar(&f.Socket, "socket", "", "listen on this Unix socket, for a proxy that signs people in, instead of --listen")
	s.StringVar(&f.roles, "roles", "", "file of the people to let in: a name and a role on each line")
	s.StringArrayVar(&f.tables, "table", nil, "offer plans for a table of your own, as FILE=SCHEMA; may be repeated")
	s.BoolVar(&f.start, "allow-jobs", false, "let analysts and stewards start jobs, which charge the ledger under their names")
	s.StringVar(&f.out, "out", workflow.DefaultDir, "folder of the reports to show; jobs write theirs into it")
	return c
}

// people reads who may ask.
func (f *serveFlags) people() ([]serve.Person, error) {
	if f.roles == "" {
		return nil, nil
	}
	in, err := os.Open(f.roles)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return serve.ReadRoles(in, f.roles)
}

func servePages(ctx context.Context, a *app, f *serveFlags, listen bool) error {
	if f.Socket != "" && listen {
		return mistake("--socket and --listen exclude each other", "leave out --listen")
	}
	people, err := f.people()
	if err != nil {
		return err
	}
	tables, err := tablesOf(f.tables)
	if err != nil {
		return err
	}
	if info, err := os.Stat(f.out); err == nil && !info.IsDir() {
		return mistakef("name the folder into which pawl fit wrote", "--out: %s is a file, not a directory", f.out)
	}
	where, err := a.ledgerAddress()
	if err != nil {
		return err
	}
	l, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	at, hosts, secure, err := f.Listen()
	if err != nil {
		return err
	}
	defer at.Close()
	studies, err := request.Studies()
	if err != nil {
		return err
	}
	state, err := heads.Default()
	if err != nil {
		return err
	}
	s := serve.New(serve.Options{Ledger: l, Address: where.String(), Hosts: hosts, TLS: secure, Proxy: f.Socket != "", People: people,
		Safe:   func() (workflow.Safe, error) { return request.SafeAt(where, true) },
		Tables: tables, AllowJobs: f.start, Jobs: filepath.Join(state, "jobs"), DataDir: a.dataDir, Reports: f.out, Studies: studies, Log: func(line string) { fmt.Fprintf(a.err, "note: %s\n", line) }})
	links := s.Links()
	if err := printLinks(a, f, links); err != nil {
		return err
	}
	fmt.Fprintln(a.err, "serving until interrupted")
	if f.open && len(links) == 1 && !a.json {
		forget := openBrowser(links[0].URL)
		defer forget()
	}
	return s.Serve(ctx, at)
}

// printLinks says where to go. Whoever reads a link first is let in by it.
func printLinks(a *app, f *serveFlags, links []serve.Link) error {
	type shown struct {
		User string     `json:"user"`
		Role serve.Role `json:"role"`
		URL  string     `json:"url"`
	}
	all := make([]shown, 0, len(links))
	for _, l := range links {
		all = append(all, shown{l.Name, l.Role, l.URL})
	}
	switch {
	case a.json:
		return writeJSON(a.out, map[string]any{"links": all, "socket": f.Socket})
	case f.Socket != "":
		fmt.Fprintln(a.out, f.Socket)
	case len(all) == 1:
		fmt.Fprintln(a.out, all[0].URL)
	default:
		for _, l := range all {
			fmt.Fprintf(a.out, "%s (%s): %s\n", l.User, l.Role, l.URL)
		}
	}
	return nil
}

// openBrowser opens a link by a file that only its owner may read: the arguments of a program
// are seen by every user of the machine. The function that it returns removes the file.
func openBrowser(link string) (forget func()) {
	dir, err := os.MkdirTemp("", "pawl-serve-")
	if err != nil {
		return func() {}
	}
	forget = func() { _ = os.RemoveAll(dir) }
	page := filepath.Join(dir, "open.html")
	if err := os.WriteFile(page, fmt.Appendf(nil, "<!DOCTYPE html><meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n", html.EscapeString(link)), 0o600); err != nil {
		return forget
	}
	opener := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if opener == nil {
		opener = []string{"xdg-open"}
	}
	c := exec.Command(opener[0], append(opener[1:], page)...)
	if c.Start() == nil {
		go func() { _ = c.Wait() }()
	}
	return forget
}

// tablesOf reads --table FILE=SCHEMA.
func tablesOf(flags []string) ([]serve.Table, error) {
	var all []serve.Table
	var faults []error
	for _, f := range flags {
		data, declared, ok := strings.Cut(f, "=")
		name := filepath.Base(data)
		switch {
		case !ok || data == "" || declared == "":
			faults = append(faults, mistakef("example: --table patients.csv=patients.yaml", "--table: %.80q is not FILE=SCHEMA", f))
			continue
		case slices.ContainsFunc(all, func(t serve.Table) bool { return t.Name == name }) || slices.Contains(source.Names(), name):
			faults = append(faults, mistakef("give one of the files another name", "--table: there are two data sets called %s", name))
		}
		_, err := schema.Load(declared)
		faults = append(faults, table.CheckFile(data), err)
		all = append(all, serve.Table{Name: name, Data: data, Schema: declared})
	}
	return all, usage.All(faults...)
}
