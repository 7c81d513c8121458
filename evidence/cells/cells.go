// Package cells keeps what was measured in a file, one cell for each measurement, so that a comparison or a replay
// that was interrupted goes on where it stopped.
package cells

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

// File holds the cells of one study. Several processes may measure for one file.
type File struct {
	// Progress is told the name of each cell that begins; may be nil.
	Progress func(cell string)

	study, scale, version string
	path                  string      // empty keeps nothing
	aside                 string      // where a damaged file lies now
	damaged               bool        // it was no whole file of cells
	unread                bool        // the file was there and its cells could not be used
	done                  int         // cells that were measured by this process
	seen                  fs.FileInfo // the file as this process last read or wrote it, nil before

	mu    sync.Mutex // guards cells and their file
	cells map[string][]float64
	took  map[string]float64 // seconds that a cell took to measure
	far   map[string]bool    // cells that other machines measured
}

// kept is what the file says.
type kept struct {
	Study     string               `json:"experiment"`
	Scale     string               `json:"scale"`
	Version   string               `json:"version"`
	Cells     map[string][]float64 `json:"cells"`
	Seconds   map[string]float64   `json:"seconds,omitempty"`
	Elsewhere []string             `json:"elsewhere,omitempty"` // cells that other machines measured
}

// Open opens the cells of the named study at a scale. dir, which is made, keeps them between calls, and "" does not.
// Those of another version of the program are measured again, and a damaged file of them gets another name (Aside).
func Open(study, scale, version, dir string) (*File, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	f, err := Read(study, scale, version, dir)
	if err != nil || !f.damaged {
		return f, err
	}
	for n := 1; ; n++ {
		f.aside = fmt.Sprintf("%s.damaged-%d", f.path, n)
		if _, err := os.Lstat(f.aside); errors.Is(err, fs.ErrNotExist) {
			return f, os.Rename(f.path, f.aside)
		} else if err != nil {
			return nil, err
		}
	}
}

// Read is Open that makes no directory and moves no file: it shows what is kept.
func Read(study, scale, version, dir string) (*File, error) {
	f := Of(study, scale, version, nil)
	if dir == "" {
		return f, nil
	}
	f.path = filepath.Join(dir, fmt.Sprintf("%s-%s.cells.json", study, scale))
	b, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	// A file that cannot be read, or is of another version, costs time and nothing
	// else, unless its cells were paid for: its cells are measured again.
	if k, ok := f.usable(b); ok {
		f.adopt(k)
	} else {
		f.unread, f.damaged = true, k.Study == "" || k.Cells == nil
	}
	return f, nil
}

// Of holds the given cells in memory alone.
func Of(study, scale, version string, known map[string][]float64) *File {
	f := &File{study: study, scale: scale, version: version, cells: map[string][]float64{}, took: map[string]float64{}, far: map[string]bool{}}
	maps.Copy(f.cells, known)
	return f
}

// Copy holds the same cells in memory alone.
func (f *File) Copy() *File {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Of(f.study, f.scale, f.version, f.cells)
}

// usable are the cells of a file, if it is of this study and version.
func (f *File) usable(content []byte) (kept, bool) {
	var k kept
	if json.Unmarshal(content, &k) != nil {
		return kept{}, false
	}
	ok := k.Study == f.study && k.Scale == f.scale && k.Version == f.version && k.Cells != nil
	return k, ok
}

// adopt takes over cells that are not known.
func (f *File) adopt(k kept) {
	for name, v := range k.Cells {
		if _, known := f.cells[name]; !known {
			f.cells[name] = v
			if s, ok := k.Seconds[name]; ok {
				f.took[name] = s
			}
			if slices.Contains(k.Elsewhere, name) {
				f.far[name] = true
			}
		}
	}
}

// Elsewhere are the cells that other machines measured.
func (f *File) Elsewhere() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.far))
}

// Cells returns the values of all cells and the seconds that each took to measure.
func (f *File) Cells() (values map[string][]float64, seconds map[string]float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.cells), maps.Clone(f.took)
}

// Unread says that a file of cells was there and could not be used: it is damaged, or of
// another version of the program.
func (f *File) Unread() bool { return f.unread }

// Aside is the new name of a file of cells that is damaged: truncated, or none at all. "" where there is none.
func (f *File) Aside() string { return f.aside }

// Kept is the number of cells that need not be measured again.
func (f *File) Kept() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.cells)
}

// Keeps says that the named cell need not be measured again.
func (f *File) Keeps(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.cells[name]
	return ok
}

// Path is the file that keeps cells, empty for none.
func (f *File) Path() string { return f.path }

// Cell returns the values of the named cell, measured now or by an earlier run.
// The name must say everything that they depend on. Cells may be measured side by side.
func (f *File) Cell(ctx context.Context, name string, measure func() ([]float64, error)) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	v, ok := f.cells[name]
	if !ok {
		// Another process may have measured it since.
		f.merge()
		v, ok = f.cells[name]
	}
	if !ok && f.Progress != nil {
		f.Progress(name)
	}
	f.mu.Unlock()
	if ok {
		return v, nil
	}
	start := time.Now()
	v, err := measure()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.study, name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cells[name], f.took[name] = v, time.Since(start).Seconds()
	f.done++
	return v, f.save()
}

// Measured is the number of cells that this process has measured.
func (f *File) Measured() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done
}

// merge takes over cells of the file that are not known. A file that cannot be used is of
// another version, which is replaced, or was damaged since it was read.
func (f *File) merge() (damaged bool) {
	info, err := os.Stat(f.path)
	if f.path == "" || err != nil {
		return false
	}
	if s := f.seen; s != nil && os.SameFile(s, info) && s.Size() == info.Size() && s.ModTime().Equal(info.ModTime()) {
		return false // nobody wrote since
	}
	content, err := os.ReadFile(f.path)
	if err != nil {
		return false
	}
	k, ok := f.usable(content)
	if ok {
		f.adopt(k)
		f.seen = info
	}
	return !ok && !f.unread
}

// Save writes the cells. Before the first one it says whether they can be kept.
func (f *File) Save() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.save()
}

func (f *File) save() error {
	if f.path == "" {
		return nil
	}
	if f.merge() {
		return fmt.Errorf("%s: damaged since it was read; it is left as it is", f.path)
	}
	b, err := json.Marshal(kept{f.study, f.scale, f.version, f.cells, f.took, slices.Sorted(maps.Keys(f.far))})
	if err != nil {
		return fmt.Errorf("%s: a cell is not a number: %w", f.study, err)
	}
	t, err := os.CreateTemp(filepath.Dir(f.path), ".cells-*")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	_, err = t.Write(b)
	if err := errors.Join(err, t.Close()); err != nil {
		return err
	}
	// Looked at before it has its name: afterwards it may be another process's already.
	info, err := os.Stat(t.Name())
	if err != nil {
		return err
	}
	if err := os.Rename(t.Name(), f.path); err != nil {
		return err
	}
	f.unread, f.seen = false, info
	return nil
}

// Keep keeps a cell that was measured elsewhere, in so many seconds.
func (f *File) Keep(name string, values []float64, seconds float64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cells[name], f.took[name], f.far[name] = values, seconds, true
	f.done++
	return f.save()
}
