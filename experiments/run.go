package experiments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Run is one replay at one scale. Its cells are kept in a file, so that a replay
// that was interrupted goes on with the next cell.
type Run struct {
	Scale Scale
	// DataDir is a folder with data sets that are not embedded; may be empty.
	DataDir string
	// Progress is told the name of each cell that begins; may be nil.
	Progress func(cell string)

	name    string
	version string
	path    string                                                                  // of the file of cells; empty keeps nothing
	aside   string                                                                  // where a damaged file of cells lies now
	damaged bool                                                                    // it was no whole file of cells
	unread  bool                                                                    // the file was there and its cells could not be used
	instead func(name string, measure func() ([]float64, error)) ([]float64, error) // of measuring; nil
	done    int                                                                     // cells that were measured by this process
	seen    fs.FileInfo                                                             // the file as this process last read or wrote it, nil before

	mu    sync.Mutex // guards cells and their file
	cells map[string][]float64
	took  map[string]float64 // seconds that a cell took to measure
	far   map[string]bool    // cells that other machines measured
}

// kept is the file of cells.
type kept struct {
	Experiment string               `json:"experiment"`
	Scale      Scale                `json:"scale"`
	Version    string               `json:"version"`
	Cells      map[string][]float64 `json:"cells"`
	Seconds    map[string]float64   `json:"seconds,omitempty"`
	Elsewhere  []string             `json:"elsewhere,omitempty"` // cells that other machines measured
}

// NewRun prepares a replay of the named experiment. dir, which is made, keeps cells
// between calls; cells of another version of the program are measured again, and a damaged
// file of them gets another name (Aside).
func NewRun(name string, scale Scale, version, dir string) (*Run, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	r, err := ReadRun(name, scale, version, dir)
	if err != nil || !r.damaged {
		return r, err
	}
	for n := 1; ; n++ {
		r.aside = fmt.Sprintf("%s.damaged-%d", r.path, n)
		if _, err := os.Lstat(r.aside); errors.Is(err, fs.ErrNotExist) {
			return r, os.Rename(r.path, r.aside)
		} else if err != nil {
			return nil, err
		}
	}
}

// ReadRun is NewRun that makes no directory: it shows what is kept.
func ReadRun(name string, scale Scale, version, dir string) (*Run, error) {
	r := &Run{Scale: scale, name: name, version: version, cells: map[string][]float64{}, took: map[string]float64{}, far: map[string]bool{}}
	if dir == "" {
		return r, nil
	}
	r.path = filepath.Join(dir, fmt.Sprintf("%s-%s.cells.json", name, scale))
	b, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	// A file that cannot be read, or is of another version, costs time and nothing
	// else, unless its cells were paid for: its cells are measured again.
	if k, ok := r.usable(b); ok {
		r.adopt(k)
	} else {
		r.unread, r.damaged = true, k.Experiment == "" || k.Cells == nil
	}
	return r, nil
}

// Restored is a run in memory that holds the given cells: it measures the others.
func Restored(name string, scale Scale, cells map[string][]float64) *Run {
	return &Run{Scale: scale, name: name, cells: maps.Clone(cells), took: map[string]float64{}, far: map[string]bool{}}
}

// usable are the cells of a file, if it is of this replay and version.
func (r *Run) usable(file []byte) (kept, bool) {
	var k kept
	if json.Unmarshal(file, &k) != nil {
		return kept{}, false
	}
	ok := k.Experiment == r.name && k.Scale == r.Scale && k.Version == r.version && k.Cells != nil
	return k, ok
}

// adopt takes over cells that are not known.
func (r *Run) adopt(k kept) {
	for name, v := range k.Cells {
		if _, known := r.cells[name]; !known {
			r.cells[name] = v
			if s, ok := k.Seconds[name]; ok {
				r.took[name] = s
			}
			if slices.Contains(k.Elsewhere, name) {
				r.far[name] = true
			}
		}
	}
}

// Elsewhere are the cells that other machines measured.
func (r *Run) Elsewhere() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.far))
}

// Cells returns the values of all cells and the seconds that each took to measure.
func (r *Run) Cells() (values map[string][]float64, seconds map[string]float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.cells), maps.Clone(r.took)
}

// Unread says that a file of cells was there and could not be used: it is damaged, or of
// another version of the program.
func (r *Run) Unread() bool { return r.unread }

// Aside is the new name of a file of cells that is damaged: truncated, or none at all. "" where there is none.
func (r *Run) Aside() string { return r.aside }

// Kept is the number of cells that need not be measured again.
func (r *Run) Kept() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.cells)
}

// Keeps says that the named cell need not be measured again.
func (r *Run) Keeps(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.cells[name]
	return ok
}

// Path is the file that keeps cells, empty for none.
func (r *Run) Path() string { return r.path }

// Cell returns the values of the named cell, measured now or by an earlier run.
// The name must say everything that they depend on. Cells may be measured side by side.
func (r *Run) Cell(ctx context.Context, name string, measure func() ([]float64, error)) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	v, ok := r.cells[name]
	if !ok {
		// Another process may have measured it since.
		r.merge()
		v, ok = r.cells[name]
	}
	if !ok && r.Progress != nil {
		r.Progress(name)
	}
	r.mu.Unlock()
	if ok {
		return v, nil
	}
	if r.instead != nil {
		return r.instead(name, measure)
	}
	start := time.Now()
	v, err := measure()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", r.name, name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cells[name], r.took[name] = v, time.Since(start).Seconds()
	r.done++
	return v, r.save()
}

// Measured is the number of cells that this process has measured.
func (r *Run) Measured() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// merge takes over cells of the file that are not known. A file that cannot be used is of
// another version, which is replaced, or was damaged since it was read.
func (r *Run) merge() (damaged bool) {
	info, err := os.Stat(r.path)
	if r.path == "" || err != nil {
		return false
	}
	if s := r.seen; s != nil && os.SameFile(s, info) && s.Size() == info.Size() && s.ModTime().Equal(info.ModTime()) {
		return false // nobody wrote since
	}
	file, err := os.ReadFile(r.path)
	if err != nil {
		return false
	}
	k, ok := r.usable(file)
	if ok {
		r.adopt(k)
		r.seen = info
	}
	return !ok && !r.unread
}

// Save writes the cells. Before the first one it says whether they can be kept.
func (r *Run) Save() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.save()
}

func (r *Run) save() error {
	if r.path == "" {
		return nil
	}
	if r.merge() {
		return fmt.Errorf("%s: damaged since it was read; it is left as it is", r.path)
	}
	b, err := json.Marshal(kept{r.name, r.Scale, r.version, r.cells, r.took, slices.Sorted(maps.Keys(r.far))})
	if err != nil {
		return fmt.Errorf("%s: a cell is not a number: %w", r.name, err)
	}
	f, err := os.CreateTemp(filepath.Dir(r.path), ".cells-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	// Looked at before it has its name: afterwards it may be another process's already.
	info, err := os.Stat(f.Name())
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), r.path); err != nil {
		return err
	}
	r.unread, r.seen = false, info
	return nil
}

// Replay runs e and completes its table.
func Replay(ctx context.Context, e Experiment, r *Run) (*Table, error) {
	start := time.Now()
	t, err := e.Run(ctx, r)
	if err != nil {
		return nil, err
	}
	t.Name, t.Title, t.Source, t.Scale = e.Name, e.Title, e.Source, r.Scale
	t.Seconds = time.Since(start).Seconds()
	if t.Guarantee == "" {
		t.Guarantee = NoGuarantee
	}
	if t.Rows == nil {
		t.Rows = []Row{}
	}
	if t.Claims == nil {
		t.Claims = []Claim{}
	}
	if t.Notes == nil {
		t.Notes = []string{}
	}
	for i := range t.Rows {
		if t.Rows[i].Verdict == "" {
			t.Rows[i].Judge(0, "")
		}
	}
	return t, nil
}
