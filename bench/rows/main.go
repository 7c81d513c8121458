//go:build unix

// Command rows times pawl check, fit and predict on the made-up table of bench/table, in turn with a baseline: a loop that
// reads the same file by encoding/csv and parses its numbers, on one processor. It prints processor seconds, wall
// seconds and the peak of memory, and the ratio of processor seconds to the baseline's: medians of the runs.
//
//	go run ./bench/rows [-rows 1000000] [-runs 3]
package main

import (
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
	baseline := flag.String("read", "", "be the baseline: read this file")
	flag.Parse()
	err := error(nil)
	if *baseline != "" {
		err = read(*baseline)
	} else {
		err = measure(*rows, *runs)
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

func run(dir, program string, args ...string) (used, error) {
	home, err := os.MkdirTemp(dir, "home")
	if err != nil {
		return used{}, err
	}
	c := exec.Command(program, args...)
	c.Dir = home
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

func measure(rows int64, runs int) error {
	dir, err := os.MkdirTemp("", "pawl-rows")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	table, schema, pawl := filepath.Join(dir, "big.csv"), filepath.Join(dir, "big.yaml"), filepath.Join(dir, "pawl")
	if out, err := exec.Command("go", "build", "-o", pawl, "./cmd/pawl").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	file, err := os.Create(table)
	if err != nil {
		return err
	}
	generate := exec.Command("go", "run", "./bench/table", "-rows", strconv.FormatInt(rows, 10), "-schema", schema)
	generate.Stdout, generate.Stderr = file, os.Stderr
	if err := cmp.Or(generate.Run(), file.Close()); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	model := filepath.Join(dir, "out")
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
			u, err := run(dir, command[0], command[1:]...)
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
	fmt.Printf("%d rows, %d processors, medians of %d\n", rows, runtime.NumCPU(), runs)
	for _, name := range names {
		fmt.Printf("%-13s %6.2f s of processors, %6.2f s, %5.0f MB, %5.2f × the baseline\n", name, median(name, cpu),
			median(name, func(u used) float64 { return u.wall }), median(name, func(u used) float64 { return u.memory }),
			median(name, cpu)/median("encoding/csv", cpu))
	}
	return nil
}
