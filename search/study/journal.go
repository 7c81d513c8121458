package study

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/core/entropy"
	"pawl/internal/whole"
)

// Files of a study's folder. The key and the journal are secrets of a study on
// sensitive data and are erased when it ends.
const (
	keyFile     = "key"
	journalFile = "trials.jsonl"
)

// ErrEarlier is returned for going on with a study that an earlier version of pawl began:
// its trials had other noise.
var ErrEarlier = errors.New("the study was started by an earlier version of pawl, and this version cannot continue it")

// ErrRuns is returned for opening a study that another process runs now.
var ErrRuns = errors.New("the study is running in another process")

// ErrEdited is wrapped when a folder's files do not belong together.
var ErrEdited = errors.New("the study's files were edited or belong to another study")

// Folder keeps a study that may be interrupted: its key and the scores of its trials,
// readable by the owner alone. A line that a crash left unfinished is dropped; its trial
// is run again.
type Folder struct {
	path   string
	secret entropy.Secret // zero where an earlier version began the study
	mac    [32]byte       // key of the journal's lines

	mu     sync.Mutex
	scores map[int]float64
	lines  []Line
	file   *os.File
}

// Line is a trial in the journal.
type Line struct {
	Number    int     `json:"number"`
	Candidate string  `json:"candidate"`
	Score     float64 `json:"score"`
	Failed    bool    `json:"failed,omitempty"`
	Seconds   float64 `json:"seconds"`
	// Parameters is the number of trained parameters of a candidate network. The record
	// of a finished study has it, the journal does not.
	Parameters int    `json:"parameters,omitempty"`
	MAC        string `json:"mac"`
}

// Words write the candidate as a person reads it.
func (l Line) Words() string {
	var values map[string]any
	if err := json.Unmarshal([]byte(l.Candidate), &values); err != nil {
		return l.Candidate
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, values[name]))
	}
	return strings.Join(parts, " ")
}

func (l Line) mac(key [32]byte) string {
	l.MAC = ""
	b, err := json.Marshal(l)
	if err != nil {
		panic(err) // scores are finite, failed ones are 0
	}
	m := hmac.New(sha256.New, key[:])
	m.Write(b)
	return hex.EncodeToString(m.Sum(nil)[:16])
}

// Open opens the folder of a study, or makes one with a fresh key; fresh says which.
func Open(path string) (f *Folder, fresh bool, err error) {
	f = &Folder{path: path, scores: map[int]float64{}}
	name := filepath.Join(path, keyFile)
	b, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if fresh, err = true, f.begin(name); err != nil {
			return nil, false, err
		}
	case err != nil:
		return nil, false, err
	default:
		if err := f.restore(b); err != nil {
			return nil, false, fmt.Errorf("%s: %w", name, ErrEdited)
		}
	}
	if f.file, err = os.OpenFile(filepath.Join(path, journalFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return nil, false, err
	}
	// Two processes would record the same trials twice, and one would erase the journal of the other.
	if err = whole.TryLock(f.file); errors.Is(err, whole.ErrLocked) {
		err = ErrRuns
	}
	if err == nil {
		err = f.read()
	}
	if err != nil {
		return nil, false, errors.Join(err, f.file.Close())
	}
	return f, fresh, nil
}

// earlierKey is the length of the key that earlier versions wrote.
const earlierKey = 32

// restore reads a key file. That of an earlier version opens its journal, no more.
func (f *Folder) restore(b []byte) error {
	saved, err := hex.DecodeString(string(b))
	if err != nil {
		return err
	}
	if len(saved) == earlierKey {
		f.mac = [32]byte(saved)
		return nil
	}
	if f.secret, err = entropy.RestoreSecret(saved); err == nil {
		f.mac = f.secret.Key("journal")
	}
	return err
}

// Earlier reports whether the folder at path holds an unfinished study that an earlier
// version of pawl began.
func Earlier(path string) bool {
	b, err := os.ReadFile(filepath.Join(path, keyFile))
	return err == nil && hex.DecodedLen(len(b)) == earlierKey
}

// begin draws the key and writes it whole or not at all.
func (f *Folder) begin(name string) (err error) {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return err
	}
	if f.secret, err = entropy.NewSecret(); err != nil {
		return err
	}
	f.mac = f.secret.Key("journal")
	part := fmt.Sprintf("%s.%d", name, os.Getpid())
	if err := os.WriteFile(part, []byte(hex.EncodeToString(f.secret.Save())), 0o600); err != nil {
		return err
	}
	defer os.Remove(part)
	// A link does not replace: of two that begin the same study one keeps its key.
	if err := os.Link(part, name); err != nil {
		return fmt.Errorf("the study was started by another process at the same moment: %w", err)
	}
	return nil
}

// read takes the lines that are whole, and cuts what a crash left behind them.
func (f *Folder) read() error {
	name := filepath.Join(f.path, journalFile)
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(b, '\n') + 1
	in := bufio.NewScanner(bytes.NewReader(b[:whole]))
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		var l Line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil || l.MAC != l.mac(f.mac) {
			return fmt.Errorf("%s:%d: %w", name, n, ErrEdited)
		}
		f.lines = append(f.lines, l)
		f.scores[l.Number] = l.score()
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, ErrEdited)
	}
	if whole < len(b) {
		return os.Truncate(name, int64(whole))
	}
	return nil
}

func (l Line) score() float64 {
	if l.Failed {
		return math.Inf(-1)
	}
	return l.Score
}

// Progress reads the trials that are in the journal of a study on public data which is not finished,
// in the order in which they ended. It reads no key, so a line that was edited is not noticed, and
// says nothing of a study on sensitive data: how many trials it has is a secret.
func Progress(path string) (done []Line) {
	r, err := LoadRecord(path)
	if err != nil || !r.Public {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(path, journalFile))
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(b) {
		var l Line
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &l) == nil {
			l.MAC = ""
			done = append(done, l)
		}
	}
	return done
}

// Secret is that of the study, or ErrEarlier.
func (f *Folder) Secret() (entropy.Secret, error) {
	if f.secret.IsZero() {
		return f.secret, ErrEarlier
	}
	return f.secret, nil
}

// Scores implements Journal.
func (f *Folder) Scores() map[int]float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.scores
}

// Put implements Journal: one line, on the disk before it returns.
func (f *Folder) Put(number int, key string, score float64, took time.Duration) error {
	l := Line{Number: number, Candidate: key, Score: score, Seconds: took.Seconds()}
	if math.IsInf(score, -1) {
		l.Score, l.Failed = 0, true
	}
	l.MAC = l.mac(f.mac)
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.file.Write(append(b, '\n')); err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	f.lines = append(f.lines, l)
	return nil
}

// Lines are the trials of earlier runs and of this one.
func (f *Folder) Lines() []Line {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Line(nil), f.lines...)
}

// Close ends the use of the folder and leaves it for later.
func (f *Folder) Close() error { return f.file.Close() }

// Erase removes the key and the journal: what a selection does not release is gone.
func (f *Folder) Erase() error { return errors.Join(f.file.Close(), Clean(f.path)) }

// Clean removes what Erase removes from the folder of a study that is finished.
func Clean(path string) error {
	var all error
	for _, name := range []string{journalFile, keyFile} {
		if err := os.Remove(filepath.Join(path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}
