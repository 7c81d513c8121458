package cli

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/store/sqlite"
)

// built is the folder of the program that scripts and other tests run as a process of its
// own; program builds it when the first of them asks.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "pawl-tests-")
	if err != nil {
		panic(err)
	}
	built = filepath.Join(dir, "bin")
	// What tests in this process remember of ledgers stays out of the home of whoever runs them.
	os.Setenv("XDG_STATE_HOME", dir)
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// program is the path of pawl, built like any user's: it starts faster than the tests'
// binary, which holds their oracles too.
func program(t interface{ Fatal(...any) }) string {
	path, err := builtOnce()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var builtOnce = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "pawl")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "pawl/cmd/pawl").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building pawl: %w: %s", err, out)
	}
	return path, nil
})

// canary stands in cells of the scripts' data. Nothing that the program prints may
// hold it.
const canary = "CANARY42"

// Every script finds clinic.csv and clinic.yaml, a sensitive table of clinicRows
// rows whose number is private and must never be printed.
const clinicRows = 2973

func TestScripts(t *testing.T) {
	bin := filepath.Dir(program(t))
	testscript.RunT(serial{t}, testscript.Params{
		ContinueOnError: true, // all that a change of texts breaks, at once
		Dir:             "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, ".data"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".data", "state"))
			e.Setenv("PAWL_LEDGER", "")
			e.Setenv("PAWL_DATA", "")
			// What an earlier version wrote, a copy for each script.
			if err := os.CopyFS(filepath.Join(e.WorkDir, "released"), os.DirFS("testdata/released")); err != nil {
				return err
			}
			return errors.Join(writeClinic(e.WorkDir, clinicRows), writeWide(e.WorkDir, clinicRows), writeCopies(e.WorkDir))
		},
		Condition: func(c string) (bool, error) {
			switch c {
			case "root":
				return os.Getuid() == 0, nil
			case "postgres":
				return postgresURL() != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", c)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "alone": alone, "tamper": tamper, "team": team, "entryid": entryid, "damage": damage, "between": between, "load": load},
	})
}

// serial runs scripts one after another: what they call in this process shares its
// directory and environment.
type serial struct{ *testing.T }

func (serial) Parallel()     {}
func (serial) Verbose() bool { return testing.Verbose() }
func (s serial) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(serial{t}) })
}

// exits runs a program and checks its exit status. A failure must keep the
// command line's contract: empty stdout, one error line and at most one hint or a list of
// faults, no new file, nothing booked in the ledger. No outcome may print a cell.
// pawl is called in this process, which spares the start of 1,500 others; alone runs it as
// one, for what depends on that, such as the standard input.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	keeps(ts, neg, args, func() (int, string, string) {
		if args[1] != "pawl" {
			return execute(ts, args[1:])
		}
		return within(ts, args[2:])
	})
}

func alone(ts *testscript.TestScript, neg bool, args []string) {
	keeps(ts, neg, args, func() (int, string, string) { return execute(ts, args[1:]) })
}

func execute(ts *testscript.TestScript, args []string) (status int, stdout, stderr string) {
	err := ts.Exec(args[0], args[1:]...)
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		status = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	return status, ts.ReadFile("stdout"), ts.ReadFile("stderr")
}

// within calls the program in the directory and the environment of a script.
func within(ts *testscript.TestScript, args []string) (status int, stdout, stderr string) {
	was, err := os.Getwd()
	ts.Check(err)
	defer func() { ts.Check(os.Chdir(was)) }()
	ts.Check(os.Chdir(ts.MkAbs(".")))
	for _, name := range []string{"HOME", "TMPDIR", "XDG_DATA_HOME", "XDG_STATE_HOME", "PAWL_LEDGER"} {
		before, set := os.LookupEnv(name)
		os.Setenv(name, ts.Getenv(name))
		defer func() {
			if os.Setenv(name, before); !set {
				os.Unsetenv(name)
			}
		}()
	}
	var out, errs strings.Builder
	status = run(context.Background(), args, streams{in: strings.NewReader(""), out: io.MultiWriter(&out, ts.Stdout()), err: io.MultiWriter(&errs, ts.Stderr())})
	return status, out.String(), errs.String()
}

// keeps holds a call to the contract of exits.
func keeps(ts *testscript.TestScript, neg bool, args []string, call func() (status int, stdout, stderr string)) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	work := ts.Getenv("WORK")
	var filesBefore []string
	recordsBefore := 0
	if want != 0 {
		filesBefore, recordsBefore = files(ts, work), records(ts, work)
	}
	got, stdout, stderr := call()
	if got != want {
		ts.Fatalf("exit status %d, want %d; stderr:\n%s", got, want, stderr)
	}
	if strings.Contains(stdout+stderr, canary) {
		ts.Fatalf("a cell was printed")
	}
	if want == 0 {
		return
	}
	if stdout != "" {
		ts.Fatalf("stdout is not empty on failure:\n%s", stdout)
	}
	if !failure.MatchString(stderr) {
		ts.Fatalf("stderr is not one error line with at most one hint:\n%s", stderr)
	}
	if d := cmp.Diff(filesBefore, files(ts, work)); d != "" {
		ts.Fatalf("files were changed (-before +after):\n%s", d)
	}
	if after := records(ts, work); after != recordsBefore {
		ts.Fatalf("%d records were booked by a command that failed", after-recordsBefore)
	}
}

// A refusal by the ledger comes after the plan was shown.
var failure = regexp.MustCompile(`^((NOT PRIVATE|warning|Plan|Total|Expected|note|  ).*\n)*(error: .+\n(hint: .+\n)?|error: [0-9]+ faults; nothing was charged\n(.+\n)+)$`)

func files(ts *testscript.TestScript, work string) []string {
	var out []string
	ts.Check(filepath.WalkDir(work, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".data" || d.Name() == ".tmp") {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			out = append(out, path)
			return nil
		}
		out = append(out, fmt.Sprintf("%s %d %v", path, info.Size(), info.ModTime()))
		return nil
	}))
	return out
}

func records(ts *testscript.TestScript, work string) int {
	path := filepath.Join(work, ".data", "pawl", "ledger.db")
	if _, err := os.Stat(path); err != nil {
		return 0
	}
	ctx := context.Background()
	store, err := sqlite.Open(ctx, path)
	ts.Check(err)
	defer store.Close()
	l := ledger.New(store, pricing.Accountant{}, ledger.Options{})
	names, err := l.Names(ctx)
	ts.Check(err)
	n := 0
	for _, name := range names {
		r, err := l.Records(ctx, name)
		if errors.Is(err, ledger.ErrBroken) {
			continue // a script broke it
		}
		ts.Check(err)
		n += len(r)
	}
	return n
}

// tamper raises the first budget of data set clinic with another program's hands.
func tamper(ts *testscript.TestScript, _ bool, _ []string) {
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("WORK"), ".data", "pawl", "ledger.db"))
	ts.Check(err)
	defer db.Close()
	for _, statement := range []string{
		`DROP TRIGGER ledger_records_no_update`,
		`UPDATE ledger_records SET body = CAST(replace(CAST(body AS TEXT), '"2"', '"9"') AS BLOB) WHERE dataset = 'clinic' AND seq = 1`,
	} {
		_, err := db.Exec(statement)
		ts.Check(err)
	}
}

const clinicSchema = `version: 1
dataset: clinic
unit: row
rows: about 3000
na: ["", "NA"]
columns:
  - {name: age, type: integer, lower: 0, upper: 120, why: "years of a human life"}
  - {name: ward, type: categorical, categories: [a, b, c]}
  - {name: smoker, type: boolean, missing: unknown}
  - {name: stay, type: numeric, lower: 0, upper: 30}
  - {name: note, type: ignore}
  - {name: sick, type: categorical, categories: ["no", "yes"]}
`

// writeClinic makes a table in which age and smoking decide.
func writeClinic(dir string, rows int) error {
	rng := rand.New(rand.NewPCG(11, uint64(rows)))
	var b strings.Builder
	b.WriteString("age,ward,smoker,stay,note,sick\n")
	for range rows {
		age, smoker, sick := 18+rng.IntN(70), "no", "no"
		if rng.IntN(3) == 0 {
			smoker = "yes"
		}
		if risk := float64(age-18)/70 + float64(len(smoker)-2)*0.3; rng.Float64() < risk*risk {
			sick = "yes"
		}
		fmt.Fprintf(&b, "%d,%c,%s,%.1f,%s,%s\n", age, 'a'+rune(rng.IntN(3)), smoker, float64(age)/10+3*rng.Float64(), canary, sick)
	}
	if err := os.WriteFile(filepath.Join(dir, "clinic.csv"), []byte(b.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "clinic.yaml"), []byte(clinicSchema), 0o644)
}

// A flag that cannot be read is told of in words, not by the function that read it.
func TestFlagWords(t *testing.T) {
	for text, want := range map[string]string{
		`invalid argument "1e4" for "--rows" flag: strconv.ParseInt: parsing "1e4": invalid syntax`: `invalid argument "1e4" for "--rows" flag: want a whole number`,
		`invalid argument "x" for "--rate" flag: strconv.ParseFloat: parsing "x": invalid syntax`:   `invalid argument "x" for "--rate" flag: want a number`,
		`unknown flag: --x`: `unknown flag: --x`,
	} {
		if got := flagWords(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
