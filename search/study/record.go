package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/internal/whole"
)

// recordFile says what a study is, and what it found once it is finished.
const recordFile = "study.json"

// Record is what may be known about a study: of one on sensitive data nothing but its
// plan and its winner.
type Record struct {
	Name     string `json:"name"`
	Dataset  string `json:"dataset"`
	Public   bool   `json:"public"`
	Space    string `json:"space"`
	Strategy string `json:"strategy"`
	// Spec is the digest of the plan; another plan is another study.
	Spec string `json:"spec"`
	// Granted is the epsilon of the data set's budget when the study began, for which it is planned
	// whenever it goes on; nil of an earlier version.
	Granted  *string   `json:"granted,omitempty"`
	Command  []string  `json:"command,omitempty"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"` // see Finish
	// Expected is the time in seconds that the search was expected to take when it began: from
	// the mean number of trainings, and never changed by what happens.
	Expected float64 `json:"expected_seconds,omitempty"`
	// Outcome is the statement of the run.
	Outcome json.RawMessage `json:"outcome,omitempty"`
	// Trials are all of them, on public data only.
	Trials []Line `json:"trials,omitempty"`
}

// Running says that the study was begun and not finished.
func (r *Record) Running() bool { return r.Finished.IsZero() }

// Finish says that the study is finished. Of one on sensitive data the day alone is kept:
// how long a search took says how many trainings it had, and that may be a secret.
func (r *Record) Finish(now time.Time) {
	r.Finished = now.UTC()
	if !r.Public {
		r.Finished = r.Finished.Truncate(24 * time.Hour)
	}
}

// Save writes the record whole or not at all.
func (r *Record) Save(folder string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return whole.Write(filepath.Join(folder, recordFile), append(b, '\n'), 0o600)
}

// Done reads the trials that a running study on public data has in its journal so far. It may be
// called while another process writes: what is not whole is left out. Of sensitive data there is
// nothing to read, because the number of trials is a secret.
func (r *Record) Done(folder string) ([]Line, error) {
	if !r.Public {
		return nil, nil
	}
	b, err := os.ReadFile(filepath.Join(folder, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Line
	for text := range strings.Lines(string(b)) {
		var l Line
		if !strings.HasSuffix(text, "\n") || json.Unmarshal([]byte(text), &l) != nil {
			break
		}
		all = append(all, l)
	}
	return all, nil
}

// LoadRecord reads the record of a folder; fs.ErrNotExist is wrapped where there is none.
func LoadRecord(folder string) (*Record, error) {
	name := filepath.Join(folder, recordFile)
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, ErrEdited)
	}
	return &r, nil
}

// Records reads those under root, the newest first.
func Records(root string) ([]*Record, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*Record
	for _, e := range entries {
		r, err := LoadRecord(filepath.Join(root, e.Name()))
		if errors.Is(err, fs.ErrNotExist) || !e.IsDir() {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Record) int { return b.Started.Compare(a.Started) })
	return all, nil
}

// CheckName refuses names that are no plain file name.
func CheckName(name string) error {
	if name == "" || len(name) > 100 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" || strings.HasPrefix(name, ".") {
		return fmt.Errorf("study %q: a name has letters, digits, points, hyphens and underscores, and does not begin with a point", name)
	}
	return nil
}
