// Package book keeps what replays measured: one small file for each table or figure, with
// its rows, its cells, and what they were measured on. Pages and docs/RESULTS.md are made
// from these files and from nothing else.
package book

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"pawl/compute/kernel"
	"pawl/data/dataset"
	"pawl/experiments"
	"pawl/internal/build"
	"pawl/internal/usage"
)

// Version is the version of the form of a stored result.
const Version = 1

// Folder is where the repository has its stored results.
const Folder = "experiments/book/results"

//go:embed results
var stored embed.FS

//go:embed RULES.md
var rules []byte

// Rule names the rules of RULES.md by their digest.
func Rule() string {
	sum := sha256.Sum256(rules)
	return hex.EncodeToString(sum[:6])
}

// Result is what a replay measured, and on what.
type Result struct {
	Version int     `json:"version"`
	Rule    string  `json:"rule"` // digest of the rules of its verdicts
	Pawl    string  `json:"pawl"`
	Go      string  `json:"go"`
	Machine Machine `json:"machine"`
	Date    string  `json:"date"` // of the last cell
	// Minutes is the time of all cells, those of earlier sittings included.
	Minutes float64            `json:"minutes"`
	Data    []Data             `json:"data"`
	Table   *experiments.Table `json:"table"`
	// Cells are what was measured; Table follows from them.
	Cells map[string]Cell `json:"cells"`
}

// Machine is what the numbers depend on. It names no host.
type Machine struct {
	System string `json:"system"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
}

// Data names a built-in data set exactly.
type Data struct {
	Name  string   `json:"name"`
	Files []string `json:"sha256"`
}

// Cell is one measurement: its values, or for more than fewValues of them their digest.
type Cell struct {
	Values  []float64 `json:"values,omitempty"`
	SHA256  string    `json:"sha256,omitempty"`
	Seconds float64   `json:"seconds"`
}

const fewValues = 1000

// newCell keeps the values, or what tells them from all others.
func newCell(values []float64, seconds float64) Cell {
	if len(values) <= fewValues {
		return Cell{Values: values, Seconds: round(seconds)}
	}
	return Cell{SHA256: digest(values), Seconds: round(seconds)}
}

// digest names the bits of the values.
func digest(values []float64) string {
	h := sha256.New()
	for _, v := range values {
		_ = binary.Write(h, binary.LittleEndian, v) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// holds says that the values are the cell's, bit for bit.
func (c Cell) holds(values []float64) bool {
	return digest(values) == cmp.Or(c.SHA256, digest(c.Values))
}

func (c Cell) String() string {
	switch {
	case c.SHA256 != "":
		return "values with SHA-256 " + c.SHA256
	case len(c.Values) > 8:
		return fmt.Sprintf("%d values with SHA-256 %s", len(c.Values), digest(c.Values))
	}
	return fmt.Sprint(c.Values)
}

// Different is a cell or a table that a second run did not repeat.
type Different struct{ Name, Msg, hint string }

func (e *Different) Error() string { return e.Name + ": " + e.Msg }

// Hint says what may be the reason.
func (e *Different) Hint() string { return e.hint }

func thisMachine() Machine {
	return Machine{runtime.GOOS + "/" + runtime.GOARCH, runtime.NumCPU(), kernel.Name()}
}

// New makes a result of a finished replay. standIn says of data that are not the paper's
// what they stand for.
func New(e experiments.Experiment, r *experiments.Run, t *experiments.Table, standIn map[string]string, now time.Time) (*Result, error) {
	if err := OneMachine(e.Name, r); err != nil {
		return nil, err
	}
	data, err := digests(e)
	if err != nil {
		return nil, err
	}
	values, seconds := r.Cells()
	total := 0.0
	cells := map[string]Cell{}
	for name, v := range values {
		cells[name] = newCell(v, seconds[name])
		total += seconds[name]
	}
	if len(cells) == 0 {
		total = t.Seconds
	}
	own := judged(t, standIn)
	own.Seconds = round(total)
	return &Result{Version: Version, Rule: Rule(), Pawl: build.Version(), Go: runtime.Version(), Machine: thisMachine(),
		Date: now.UTC().Format(time.DateOnly), Minutes: round(total / 60), Data: data, Table: own, Cells: cells}, nil
}

// OneMachine refuses a run with cells of other machines: a result names the machine and the kernel
// that all its cells were measured on.
func OneMachine(name string, r *experiments.Run) error {
	if n := len(r.Elsewhere()); n > 0 {
		return usage.New(fmt.Sprintf("%s: workers measured %d of its cells, and a stored result names the one machine that measured it", name, n),
			"measure it here: another --out, without --nats")
	}
	return nil
}

// round keeps hundredths, and four digits of what is shorter.
func round(v float64) float64 {
	var out float64
	format := "%.2f"
	if v < 1 {
		format = "%.4f"
	}
	// A number that was just written can be read.
	_, _ = fmt.Sscan(fmt.Sprintf(format, v), &out)
	return out
}

// agrees begins the reason of a row that would be reproduced but for its scale or data.
const agrees = "agrees"

// judged is a copy of a table with the verdicts of the rules, where those of a replay compare numbers alone: what
// has no published value, or is judged by the honest column, loses its verdict; scale and data keep
// the others from being reproduced. It changes nothing when it is applied again.
func judged(of *experiments.Table, standIn map[string]string) *experiments.Table {
	t, computed := *of, true
	t.Rows, t.Claims = slices.Clone(t.Rows), slices.Clone(t.Claims)
	reason := func(data string) string {
		for _, name := range slices.Sorted(maps.Keys(standIn)) {
			if data == name || strings.HasPrefix(data, name+",") {
				return agrees + ", on a stand-in: " + standIn[name]
			}
		}
		if t.Scale != experiments.Paper {
			return agrees + ", at scale " + string(t.Scale)
		}
		return ""
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.AsPublished != nil && !r.AsPublished.Computed() || r.AsPublished == nil && r.Honest != nil && !r.Honest.Computed() {
			computed = false
		}
		switch {
		case r.Published == nil || r.AsPublished == nil:
			r.Verdict = experiments.Unpublished
		case r.AsPublished.Computed():
		default:
			if why := reason(r.Data); r.Verdict == experiments.Reproduced && why != "" {
				r.Verdict, r.Why = experiments.SameSign, why
			}
		}
	}
	for i := range t.Claims {
		c := &t.Claims[i]
		switch {
		case own(t.Source, c.Statement):
			c.Verdict = experiments.Unpublished
		case c.Verdict == experiments.Reproduced && !computed && (t.Scale != experiments.Paper || len(standIn) > 0):
			c.Verdict = experiments.SameSign
		}
	}
	return &t
}

// own says that a claim is ours and not the paper's. Replays mark such claims in their words, for a
// reader to see; all claims of a replay whose source we are are ours.
func own(source, statement string) bool {
	marks := []string{"(our remark", "(our question", "as the library trains them"}
	return strings.HasPrefix(source, "ours:") || strings.HasPrefix(source, "our question") ||
		slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(statement, mark) })
}

func digests(e experiments.Experiment) ([]Data, error) {
	out, all := []Data{}, []dataset.Info{}
	for _, name := range e.Data {
		info, ok := dataset.Describe(name)
		if !ok {
			return nil, fmt.Errorf("%s: no built-in data set %q", e.Name, name)
		}
		all = append(all, info)
	}
	for _, info := range append(all, e.Files...) {
		d := Data{Name: info.Name}
		for _, f := range info.Files {
			d.Files = append(d.Files, f.SHA256)
		}
		out = append(out, d)
	}
	return out, nil
}

// Encode writes a result as it is stored.
func (r *Result) Encode(w io.Writer) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return err
	}
	_, err := w.Write(numbers.ReplaceAllFunc(b.Bytes(), func(list []byte) []byte {
		return bytes.ReplaceAll(bytes.Join(bytes.Fields(list), nil), []byte(","), []byte(", "))
	}))
	return err
}

// numbers are lists of numbers over several lines, which stand better in one.
var numbers = regexp.MustCompile(`\[\s[-+0-9.eE,\s]*\]`)

// ID is the name of the replay, and of its result at scale paper NAME-paper: both scales of a replay
// are stored side by side.
func (r *Result) ID() string { return id(r.Table.Name, r.Table.Scale) }

func id(name string, scale experiments.Scale) string {
	if scale == experiments.Paper {
		return name + "-paper"
	}
	return name
}

// File is the name of a result's file.
func (r *Result) File() string { return r.ID() + ".json" }

func decode(name string, b []byte) (*Result, error) {
	again := fmt.Sprintf("store it again: pawl reproduce %s --store DIR", strings.TrimSuffix(filepath.Base(name), ".json"))
	var head struct {
		Version int    `json:"version"`
		Rule    string `json:"rule"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, usage.New(fmt.Sprintf("%s is not a stored result: %v", name, err), again)
	}
	if head.Version != Version {
		return nil, usage.New(fmt.Sprintf("%s is a stored result of version %d; this pawl reads version %d", name, head.Version, Version), again)
	}
	if head.Rule != Rule() {
		return nil, usage.New(fmt.Sprintf("%s was judged by rules %q; those of this pawl are %s", name, head.Rule, Rule()), again)
	}
	var r Result
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, usage.New(fmt.Sprintf("%s is not a stored result: %v", name, err), again)
	}
	if r.Table == nil || r.File() != filepath.Base(name) {
		return nil, usage.New(fmt.Sprintf("%s is not the stored result that its name says", name), again)
	}
	return &r, nil
}

// Book is a set of stored results.
type Book struct {
	files fs.FS
	where string // for messages
}

// Open is the book in a folder, or for "" the one that is part of the program.
func Open(dir string) (*Book, error) {
	if dir == "" {
		files, err := fs.Sub(stored, "results")
		return &Book{files, "this pawl"}, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usage.New(fmt.Sprintf("%s is not a folder of stored results", dir), "pawl reproduce NAME --store DIR makes one")
	}
	return &Book{os.DirFS(dir), dir}, nil
}

// Names are those of the results, sorted.
func (b *Book) Names() ([]string, error) {
	files, err := fs.Glob(b.files, "*.json")
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".json")
	}
	slices.SortFunc(files, experiments.CompareNames)
	return files, err
}

// Has says whether it has a result of that name: at scale quick that of its replay, else its ID.
func (b *Book) Has(name string) bool {
	_, err := fs.Stat(b.files, name+".json")
	return err == nil
}

// Result reads that of a replay at a scale; "" takes that of scale quick before that of scale paper.
func (b *Book) Result(name string, scale experiments.Scale) (*Result, error) {
	stem := id(name, scale)
	if paper := id(name, experiments.Paper); scale == "" && !b.Has(name) && b.Has(paper) {
		stem = paper
	}
	r, err := b.read(stem)
	if err == nil && scale != "" && r.Table.Scale != scale {
		return nil, usage.New(fmt.Sprintf("%s has %q at scale %s, not at %s", b.where, name, r.Table.Scale, scale), "pawl reproduce show lists what is stored")
	}
	return r, err
}

// read is the result in a file.
func (b *Book) read(name string) (*Result, error) {
	content, err := fs.ReadFile(b.files, name+".json")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, usage.New(fmt.Sprintf("%s has no stored result of %q", b.where, name), "pawl reproduce show lists what is stored")
	}
	if err != nil {
		return nil, err
	}
	return decode(name+".json", content)
}

// Results reads all.
func (b *Book) Results() ([]*Result, error) {
	names, err := b.Names()
	if err != nil {
		return nil, err
	}
	var all []*Result
	for _, n := range names {
		r, err := b.read(n)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Check runs the named cell of a stored result again and compares every bit of it, and of
// the table that follows from the cells. cell is a part of a name that one cell alone has;
// "" takes the quickest. It returns the name of the cell, "" where the table has none and
// was computed as a whole. A *usage.Error says why the cell cannot be compared, a *Different what
// differs.
func (r *Result) Check(ctx context.Context, e experiments.Experiment, cell, dataDir string, standIn map[string]string) (string, error) {
	if err := r.comparable(e); err != nil {
		return "", err
	}
	name, err := r.pick(cell)
	if err != nil {
		return "", err
	}
	// Cells of which there is a digest only are measured as well.
	given := map[string][]float64{}
	for n, c := range r.Cells {
		if n != name && c.SHA256 == "" {
			given[n] = c.Values
		}
	}
	run := experiments.Restored(e.Name, r.Table.Scale, given)
	run.DataDir = dataDir
	t, err := experiments.Replay(ctx, e, run)
	if err != nil {
		return name, err
	}
	cells, _ := run.Cells()
	differs := func(format string, args ...any) error {
		return &Different{r.Table.Name, fmt.Sprintf(format, args...), fmt.Sprintf("stored by pawl %s, %s on %d cores; this is %s, %s on %d cores",
			r.Pawl, r.Go, r.Machine.Cores, build.Version(), runtime.Version(), runtime.NumCPU())}
	}
	for _, n := range slices.Sorted(maps.Keys(cells)) {
		switch before, there := r.Cells[n]; {
		case !there:
			return name, differs("the replay now asks for the cell “%s”, which is not stored", n)
		case !before.holds(cells[n]):
			return name, differs("the cell “%s” differs: stored %s, now %s", n, before, newCell(cells[n], 0))
		}
	}
	if _, there := cells[name]; name != "" && !there {
		return name, differs("the replay no longer asks for the cell “%s”", name)
	}
	if err := r.sameTable(t, standIn); err != nil {
		return name, differs("%v", err)
	}
	return name, nil
}

func (r *Result) comparable(e experiments.Experiment) error {
	name := r.Table.Name
	if e.Clocked {
		return usage.New(fmt.Sprintf("%s: its cells are times, which no second run repeats", name), "pawl reproduce "+name+" measures them anew")
	}
	if k := kernel.Name(); k != r.Machine.Kernel {
		return usage.New(fmt.Sprintf("%s was stored with the kernel %s, and this machine runs %s: sums differ in their last bits", name, r.Machine.Kernel, k),
			fmt.Sprintf("a processor that has it: PAWL_KERNEL=%s pawl reproduce check %s", r.Machine.Kernel, name))
	}
	data, err := digests(e)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(data, r.Data) {
		return usage.New(fmt.Sprintf("%s was stored with other data: the SHA-256 of their files differ", name), "store it again: pawl reproduce "+name+" --store DIR")
	}
	return nil
}

// pick finds a cell.
func (r *Result) pick(part string) (string, error) {
	var names []string
	for n := range r.Cells {
		if n == part {
			return n, nil
		}
		if strings.Contains(n, part) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	switch {
	case part == "" && len(names) > 0: // the quickest
		return slices.MinFunc(names, func(a, b string) int { return cmp.Compare(r.Cells[a].Seconds, r.Cells[b].Seconds) }), nil
	case part == "":
		return "", nil
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", usage.New(fmt.Sprintf("%s has no cell whose name contains %q", r.Table.Name, part), "pawl reproduce show "+r.Table.Name+" --json lists them")
	}
	return "", usage.New(fmt.Sprintf("%s has %d cells whose names contain %q", r.Table.Name, len(names), part), fmt.Sprintf("give more of the name, such as %q", names[0]))
}

// sameTable says what differs between the stored table and t, times apart.
func (r *Result) sameTable(t *experiments.Table, standIn map[string]string) error {
	own := judged(t, standIn)
	own.Seconds = r.Table.Seconds
	now, err := json.Marshal(own)
	if err != nil {
		return err
	}
	before, err := json.Marshal(r.Table)
	if err != nil || bytes.Equal(now, before) {
		return err
	}
	for i := range own.Rows {
		if i >= len(r.Table.Rows) || !reflect.DeepEqual(own.Rows[i], r.Table.Rows[i]) {
			return fmt.Errorf("the row “%s” differs from the stored one", own.Rows[i].Name)
		}
	}
	return errors.New("rows, claims or notes of the table differ from the stored ones")
}
