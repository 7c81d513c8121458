package workflow

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	mistake "pawl/internal/usage"
	"pawl/internal/whole"
	"pawl/model"
	"pawl/report"
)

// HeldError: what a run computed is held back, encrypted, in a file.
type HeldError struct {
	Path, Dataset, Entry string
	Epsilon              string // asked
	Flag                 string // names the ledger
	Cause                error
}

func (e *HeldError) Error() string {
	cause := e.Cause
	if u := (*UnconfirmedError)(nil); errors.As(cause, &u) {
		cause = u.Cause
	}
	return fmt.Sprintf("the run is done and charged (entry %s of data set %q, epsilon %s), but the ledger does not show that entry now: %v; the results are held back, encrypted, in %s",
		e.Entry, e.Dataset, e.Epsilon, cause, e.Path)
}

// Hint says how to get it.
func (e *HeldError) Hint() string {
	return strings.TrimSuffix(fmt.Sprintf("pawl ledger reconcile %s --reason WHY %s", mistake.Shell(e.Path), e.Flag), " ")
}

func (e *HeldError) Unwrap() error { return e.Cause }

// Safe is where the keys of what is held back lie, apart from it.
type Safe struct {
	Keys interface {
		Put(entry string, key []byte) error
		Drop(entry string) error
	}
	// Address is where the ledger was, as it may be shown; Flag what to type so that a
	// command finds it there, or "".
	Address, Flag string
}

// HeldHeader is the first line of a held release, in the clear: what it cost, in whose
// account, and nothing of what was computed.
type HeldHeader struct {
	Version int         `json:"pawl_held"`
	Time    time.Time   `json:"time"`
	Command string      `json:"command"`
	Epsilon string      `json:"epsilon_asked"`
	Delta   string      `json:"delta_asked"`
	Cause   string      `json:"cause"`
	Address string      `json:"ledger_address"`
	Held    ledger.Held `json:"entry"`
	// Run: the files are a model and its statement, which are written as a run writes
	// them; else they are handed out as they are.
	Run bool `json:"run"`
}

// heldVersion is the version of the file.
const heldVersion = 1

// HeldName is the name of the file in which the release of an entry is held back.
func HeldName(entry string) string { return "held-" + entry + ".pawl" }

// Files are the model and the statement of a run that is held back. They pass through a folder of mode 0700 in dir.
func (out *Outcome) Files(dir string, s *report.Statement) (map[string][]byte, error) {
	in, err := os.MkdirTemp(dir, whole.Unfinished)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(in)
	files := map[string][]byte{}
	out.Model.NotPrivate = s.NotPrivate
	if err = out.Model.Save(in, json.RawMessage("{}"), nil); err == nil {
		err = readAll(in, files)
	}
	if err == nil {
		files[StatementFile], err = json.Marshal(s)
	}
	return files, err
}

// readAll reads the files of a model.
func readAll(dir string, files map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		text, readErr := os.ReadFile(filepath.Join(dir, e.Name()))
		err = errors.Join(err, readErr)
		files[path.Join(ModelDir, e.Name())] = text
	}
	return err
}

// Release is what a job has made and paid for: an *Outcome, a *Described, or a *Selected with its files.
type Release interface {
	Statement(ctx context.Context, env Env, version string, now time.Time) (*report.Statement, error)
	Confirm(context.Context, *ledger.Ledger) error
	Sign(context.Context, *ledger.Ledger) func(map[string]ledger.Hash) (*ledger.Signature, error)
	// Files are what it would have written into dir.
	Files(dir string, s *report.Statement) (map[string][]byte, error)
	hold(dir string, h HeldHeader, files map[string][]byte, safe Safe, cause error) error
}

// Hold encrypts what a job would have written into dir and returns a *HeldError, or why even that failed. Nothing of it is
// left in the clear.
func Hold(r Release, dir string, s *report.Statement, safe Safe, cause error) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return errors.Join(cause, err)
	}
	files, err := r.Files(dir, s)
	if err != nil {
		return errors.Join(cause, fmt.Errorf("what the run made is lost: %w", err))
	}
	return r.hold(dir, HeldHeader{Version: heldVersion, Time: s.Time, Command: s.Command, Epsilon: s.Privacy.EpsilonAsked, Delta: s.Privacy.DeltaAsked}, files, safe, cause)
}

func (out *Outcome) hold(dir string, h HeldHeader, files map[string][]byte, safe Safe, cause error) error {
	h.Run = true
	return out.Booking.hold(dir, h, files, safe, cause)
}

// Hold encrypts the files of a schema that was bought, as Hold does.
func (out *InferOutcome) Hold(dir string, now time.Time, epsilon, delta string, files map[string][]byte, safe Safe, cause error) error {
	h := HeldHeader{Version: heldVersion, Time: now.UTC(), Command: "init", Epsilon: epsilon, Delta: delta}
	return out.hold(dir, h, files, safe, cause)
}

func (b *Booking) hold(dir string, h HeldHeader, files map[string][]byte, safe Safe, cause error) error {
	h.Held, h.Cause, h.Address = b.held, cause.Error(), safe.Address
	var u *UnconfirmedError
	if errors.As(cause, &u) {
		h.Cause = u.Cause.Error()
	}
	lost := func(err error) error {
		return errors.Join(cause, fmt.Errorf("what the run made is lost, since it could not be held back: %w", err))
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails: it aborts the program instead
	text, err := seal(h, files, key)
	if err != nil {
		return lost(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return lost(err)
	}
	// The key first: a file without a key is nothing.
	if err := safe.Keys.Put(h.Held.Entry, key); err != nil {
		return lost(err)
	}
	to := filepath.Join(dir, HeldName(h.Held.Entry))
	if err := whole.Write(to, text, 0o600); err != nil {
		return lost(errors.Join(err, safe.Keys.Drop(h.Held.Entry)))
	}
	return &HeldError{Path: to, Dataset: h.Held.Dataset, Entry: h.Held.Entry, Epsilon: h.Epsilon, Flag: safe.Flag, Cause: cause}
}

// seal is the header, which is authenticated, and an archive of the files under
// AES-256-GCM. The key serves once.
func seal(h HeldHeader, files map[string][]byte, key []byte) ([]byte, error) {
	clear, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	clear = append(clear, '\n')
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	aead, err := gcm(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	return aead.Seal(slices.Clone(clear), nonce, archive.Bytes(), clear), nil
}

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// HeldRelease is a release that was held back.
type HeldRelease struct {
	HeldHeader
	clear, sealed []byte
	files         map[string][]byte
}

// ReadHeld reads the file of a held release. Its header counts only after Open.
func ReadHeld(path string) (*HeldRelease, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	no := func(format string, args ...any) error {
		return usage("it is named held-ENTRY.pawl", "%s: %s", path, fmt.Sprintf(format, args...))
	}
	end := bytes.IndexByte(text, '\n')
	var probe struct {
		Version int `json:"pawl_held"`
	}
	if end < 0 || json.Unmarshal(text[:end], &probe) != nil || probe.Version == 0 {
		return nil, no("not a release that was held back")
	}
	if probe.Version != heldVersion {
		return nil, no("its format is version %d, this is version %d", probe.Version, heldVersion)
	}
	h := &HeldRelease{clear: text[:end+1], sealed: text[end+1:]}
	d := json.NewDecoder(bytes.NewReader(h.clear))
	d.DisallowUnknownFields()
	if err := d.Decode(&h.HeldHeader); err != nil {
		return nil, no("its first line is damaged")
	}
	return h, nil
}

// Open decrypts the files and so proves that neither they nor the header were changed.
func (h *HeldRelease) Open(key []byte) error {
	aead, err := gcm(key)
	if err != nil {
		return usage("", "the key of entry %s is damaged", h.Held.Entry)
	}
	archive, err := aead.Open(nil, make([]byte, aead.NonceSize()), h.sealed, h.clear)
	if err != nil {
		return usage("put back the file as the run wrote it", "the release of entry %s was changed, or its key is another one", h.Held.Entry)
	}
	h.files = map[string][]byte{}
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		f, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(f.Name) {
			return fmt.Errorf("the release of entry %s holds a file outside of its folder", h.Held.Entry)
		}
		if h.files[f.Name], err = io.ReadAll(r); err != nil {
			return err
		}
	}
}

// HandOut writes the files into a directory, with a statement that names the booking as
// the ledger has it now, and returns what was written. It wants Open first, and the entry
// in the ledger; dir "" is a folder of its own, as a run makes one. Files that are there are
// replaced only where replace says so.
func (h *HeldRelease) HandOut(ctx context.Context, l *ledger.Ledger, dir string, replace bool) ([]string, error) {
	if h.files == nil {
		return nil, errors.New("the release is still sealed")
	}
	if !h.Run {
		return h.plain(dir, replace)
	}
	var s report.Statement
	if err := json.Unmarshal(h.files[StatementFile], &s); err != nil {
		return nil, fmt.Errorf("the statement of entry %s: %w", h.Held.Entry, err)
	}
	if err := fillBudget(ctx, l, h.Held.Dataset, &s, ledger.Receipt{ID: h.Held.Entry}); err != nil {
		return nil, err
	}
	if !replace && dir != "" {
		for _, name := range outputs {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return nil, usage("name another directory with --out", "%s: holds %s already", dir, name)
			}
		}
	}
	o, err := NewOutput(dir, replace)
	if err != nil {
		return nil, err
	}
	o.Sign = func(files map[string]ledger.Hash) (*ledger.Signature, error) {
		return l.Sign(ctx, h.Held.Dataset, h.Held.Entry, files)
	}
	defer o.Discard()
	saved, err := os.MkdirTemp(o.staging, "held-")
	if err != nil {
		return nil, err
	}
	for name, text := range h.files {
		if file, ok := strings.CutPrefix(name, ModelDir+"/"); ok {
			if err := os.WriteFile(filepath.Join(saved, path.Base(file)), text, 0o600); err != nil {
				return nil, err
			}
		}
	}
	m, err := model.Load(saved)
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(saved); err != nil {
		return nil, err
	}
	if _, err := o.Write(m, &s); err != nil {
		return nil, err
	}
	return []string{s.Outputs.Model, s.Outputs.Report, s.Outputs.Statement, s.Outputs.Card}, nil
}

func (h *HeldRelease) plain(dir string, replace bool) (written []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, usage("name another directory with --out", "cannot make the output directory: %v", err)
	}
	for name := range h.files {
		to := filepath.Join(dir, name)
		if _, err := os.Lstat(to); err == nil && !replace {
			return nil, usage("name another directory with --out", "%s: is there already", to)
		}
		written = append(written, to)
	}
	slices.Sort(written)
	for name, text := range h.files {
		if err := whole.Write(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// reconciled says in a statement what became of the log that it stands on.
func reconciled(view *figures.Statement, entry string) (out []report.Reconciliation) {
	for _, r := range view.Reconciled {
		what := ""
		switch {
		case r.Entry != "" && r.Entry == entry:
			what = "the ledger did not contain this run when it ended, and the run was charged again"
		case len(r.Seen) > 0:
			what = "the ledger had lost records of this data set, which are not in the account"
		case r.Codes:
			what = "the ledger's authentication code of this data set did not hold"
		default:
			continue
		}
		out = append(out, report.Reconciliation{What: what, By: r.By, At: r.At, Reason: r.Reason})
	}
	return out
}
