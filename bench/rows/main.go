//go:build unix

// Command rows times pawl check, fit and predict on the made-up table of bench/table, in turn with a baseline: a loop that
// reads the same file by encoding/csv and parses its numbers, on one processor. It prints processor seconds, wall
// seconds and the peak of memory, and the ratio of processor seconds to the baseline's: medians of the runs.
//
//	go run ./bench/rows [-rows 1000000] [-runs 3] [-columns 17]
//
// With -stream no table is written: fit alone reads it from a pipe while it is made, and keeps what does not fit the memory
// in an encrypted temporary file. -memory declares a limit as GOMEMLIMIT does; a control group holds the program to it.
package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
)

func main() {
	rows := flag.Int64("rows", 1_000_000, "rows of the table")
	runs := flag.Int("runs", 3, "runs of each")
	columns := flag.Int("columns", 17, "columns of the table, 17 or 20")
	stream := flag.Bool("stream", false, "fit a table that is made meanwhile, and stored nowhere")
	memory := flag.String("memory", "", "with -stream, the memory that fit is told of, for example 8GiB")
	baseline := flag.String("read", "", "be the baseline: read this file")
	flag.Parse()
	err := error(nil)
	t := made{rows: strconv.FormatInt(*rows, 10), columns: strconv.Itoa(*columns)}
	switch {
	case *baseline != "":
		err = read(*baseline)
	case *stream:
		err = t.stream(*memory)
	default:
		err = t.measure(*runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rows:", err)
		os.Exit(1)
	}
}

// read is the baseline.
func read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	total := 0.0
	for {
		record, err := r.Read()
		if err == io.EOF {
			fmt.Println(total)
			return nil
		}
		if err != nil {
			return err
		}
		for _, cell := range record {
			if v, err := strconv.ParseFloat(cell, 64); err == nil {
				total += v
			}
		}
	}
}

// used is what a run took: processor and wall seconds, and MB.
type used struct{ cpu, wall, memory float64 }

// made is the table and what measures it, in a folder of its own.
type made struct{ rows, columns, dir, schema, pawl, table string }

// build builds the programs; the caller removes the folder.
func (t *made) build() (err error) {
	if t.dir, err = os.MkdirTemp("", "pawl-rows"); err != nil {
		return err
	}
	t.schema, t.pawl, t.table = filepath.Join(t.dir, "big.yaml"), filepath.Join(t.dir, "pawl"), filepath.Join(t.dir, "table")
	for program, folder := range map[string]string{t.pawl: "./cmd/pawl", t.table: "./bench/table"} {
		if out, err := exec.Command("go", "build", "-o", program, folder).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	return nil
}

// write makes the table.
func (t *made) write(to io.Writer) error {
	c := exec.Command(t.table, "-rows", t.rows, "-columns", t.columns, "-schema", t.schema)
	c.Stdout, c.Stderr = to, os.Stderr
	return c.Run()
}

// stream fits the table while it is made.
func (t *made) stream(memory string) error {
	defer func() { os.RemoveAll(t.dir) }()
	if err := t.build(); err != nil {
		return err
	}
	// The schema is needed before the first row.
	rows := t.rows
	t.rows = "0"
	if err := t.write(io.Discard); err != nil {
		return err
	}
	t.rows = rows
	schema, err := os.ReadFile(t.schema)
	if err != nil {
		return err
	}
	declared := filepath.Join(t.dir, "declared.yaml")
	if err := os.WriteFile(declared, bytes.Replace(schema, []byte("rows: 0\n"), []byte("rows: "+rows+"\n"), 1), 0o600); err != nil {
		return err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	made := make(chan error, 1)
	go func() { made <- cmp.Or(t.write(in), in.Close()) }()
	if memory != "" {
		os.Setenv("GOMEMLIMIT", memory)
	}
	u, err := run(t.dir, out, t.pawl, "fit", "-", "--schema", declared, "--target", "y", "--epsilon", "1", "--out", filepath.Join(t.dir, "out"))
	out.Close()
	if err := cmp.Or(err, <-made); err != nil {
		return err
	}
	fmt.Printf("%s rows × %s columns, made on the fly, %d processors\nfit %.0f s of processors, %.0f s, %.0f MB\n", rows, t.columns, runtime.NumCPU(), u.cpu, u.wall, u.memory)
	return nil
}

func run(dir string, stdin io.Reader, program string, args ...string) (used, error) {
	home, err := os.MkdirTemp(dir, "home")
	if err != nil {
		return used{}, err
	}
	c := exec.Command(program, args...)
	c.Dir, c.Stdin = home, stdin
	c.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_STATE_HOME="+home)
	begin := time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		return used{}, fmt.Errorf("%s %v: %w\n%s", program, args, err, out)
	}
	u := used{cpu: (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), wall: time.Since(begin).Seconds()}
	if r, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		if u.memory = float64(r.Maxrss) / 1024; runtime.GOOS == "darwin" {
			u.memory /= 1024 // bytes there
		}
	}
	return u, nil
}

func (t *made) measure(runs int) error {
	defer func() { os.RemoveAll(t.dir) }()
	if err := t.build(); err != nil {
		return err
	}
	table, schema, pawl := filepath.Join(t.dir, "big.csv"), t.schema, t.pawl
	file, err := os.Create(table)
	if err != nil {
		return err
	}
	if err := cmp.Or(t.write(file), file.Close()); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	model := filepath.Join(t.dir, "out")
	names := []string{"encoding/csv", "check", "fit", "predict"}
	took := map[string][]used{}
	for range runs {
		for _, name := range names {
			command := map[string][]string{
				"encoding/csv": {self, "-read", table},
				"check":        {pawl, "check", table, "--schema", schema, "--target", "y", "--epsilon", "1"},
				"fit":          {pawl, "fit", table, "--schema", schema, "--target", "y", "--epsilon", "1", "--out", model, "--force"},
				"predict":      {pawl, "predict", filepath.Join(model, "model"), table},
			}[name]
			u, err := run(t.dir, nil, command[0], command[1:]...)
			if err != nil {
				return err
			}
			took[name] = append(took[name], u)
		}
	}
	median := func(name string, of func(used) float64) float64 {
		var all []float64
		for _, u := range took[name] {
			all = append(all, of(u))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	cpu := func(u used) float64 { return u.cpu }
	fmt.Printf("%s rows × %s columns, %d processors, medians of %d\n", t.rows, t.columns, runtime.NumCPU(), runs)
	for _, name := range names {
		fmt.Printf("%-13s %6.2f s of processors, %6.2f s, %5.0f MB, %5.2f × the baseline\n", name, median(name, cpu),
			median(name, func(u used) float64 { return u.wall }), median(name, func(u used) float64 { return u.memory }),
			median(name, cpu)/median("encoding/csv", cpu))
	}
	return nil
}
