package workflow

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"pawl/core/ledger"
	"pawl/internal/whole"
	"pawl/model"
	"pawl/report"
)

// Output is a directory that a run will write into. Files are made in it and moved into
// place at the end, so that a failure leaves nothing half-written, and files of an earlier
// run are replaced only where that was asked for: what was paid for cannot be had again.
type Output struct {
	dir     string // "" for a new folder in DefaultDir, which Write names
	staging string
	replace bool
	made    string // a directory that did not exist before, or ""
	// Confirm is asked when all is staged, before it is moved into place; with an error
	// nothing is. nil: nobody is asked.
	Confirm func() error
	// Sign is then given the digests of what is staged, and returns the ledger's word on them. nil: the
	// files are not signed.
	Sign func(files map[string]ledger.Hash) (*ledger.Signature, error)

	aside error    // why Write chose another place
	left  []string // folders in which a run was killed while it wrote its files
	held  *os.File // the room, locked until the files are in place or the process ends
}

// DefaultDir holds a folder of its own for each run that was given no place.
const DefaultDir = "pawl-out"

// Files that a run owns inside its output directory.
const (
	ModelDir      = "model"
	ReportFile    = "report.html"
	StatementFile = "statement.json"
	CardFile      = "README.md"
	DescribeFile  = "describe.html"
	SignatureFile = "signature.json"
)

// outputs are in the order in which they are put into place: whose statement it is has the
// directory.
var outputs = []string{StatementFile, ModelDir, ReportFile, CardFile}

// Earlier is the statement of a run that has written into dir, or nil.
func Earlier(dir string) *report.Statement {
	var s report.Statement
	text, err := os.ReadFile(filepath.Join(dir, StatementFile))
	if err != nil || json.Unmarshal(text, &s) != nil || s.Software.Name != "pawl" {
		return nil
	}
	return &s
}

// NewOutput makes sure that dir can be written before anything is charged; "" stands for a
// new folder in DefaultDir. replace lets Write replace the files of an earlier run.
func NewOutput(dir string, replace bool) (*Output, error) {
	in := cmp.Or(dir, DefaultDir)
	if info, err := os.Stat(in); err == nil && !info.IsDir() {
		return nil, usage("name another directory with --out", "%s: is a file, not a directory", in)
	}
	o := &Output{dir: dir, replace: replace}
	if _, err := os.Stat(in); err != nil {
		o.made = in
	}
	if err := os.MkdirAll(in, 0o755); err != nil {
		return nil, usage("name another directory with --out", "cannot make the output directory: %v", err)
	}
	o.left = sweep(in)
	var err error
	if o.staging, err = os.MkdirTemp(in, whole.Unfinished); err != nil {
		return nil, usage("name another directory with --out", "cannot write into %s: %v", in, reason(err))
	}
	if err := o.probe(); err != nil {
		o.Discard()
		return nil, usage("free some space, or name another directory with --out", "cannot write into %s: %v", in, reason(err))
	}
	return o, nil
}

// probe writes more than a run will need, so that a full disk shows before the
// budget is charged. The room stays taken until the files are written.
func (o *Output) probe() error {
	f, err := os.Create(o.room())
	if err != nil {
		return err
	}
	o.held = f
	_ = whole.TryLock(f) // where files cannot be locked, nobody sweeps
	block := make([]byte, 1<<20)
	rand.Read(block) // zeros would take no room where a disk is compressed
	for range 8 {
		if _, err = f.Write(block); err != nil {
			break
		}
	}
	return cmp.Or(err, f.Sync())
}

// free gives the room back but for a byte, which stays locked: it says that the files are still being written.
func (o *Output) free() error {
	if o.held == nil {
		return nil
	}
	return o.held.Truncate(1)
}

// release lets go of the room.
func (o *Output) release() {
	if o.held != nil {
		o.held.Close()
		o.held = nil
	}
	os.Remove(o.room())
}

// sweep removes from a folder the room of runs that were killed before they wrote their files, and returns where they were
// killed while they did: what is there was paid for. The room of such a run is locked no longer. An empty one
// belongs to a run that is about to lock it.
func sweep(in string) (left []string) {
	entries, _ := os.ReadDir(in)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), whole.Unfinished) {
			continue
		}
		o := Output{staging: filepath.Join(in, e.Name())}
		var err error
		if o.held, err = os.OpenFile(o.room(), os.O_RDWR, 0); err != nil {
			continue
		}
		info, err := o.held.Stat()
		if err != nil || info.Size() == 0 || whole.TryLock(o.held) != nil {
			o.held.Close()
			continue
		}
		if files, err := os.ReadDir(o.staging); err != nil || len(files) > 1 {
			left = append(left, o.staging)
			o.held.Close()
			continue
		}
		o.release()
		os.Remove(o.staging)
	}
	return left
}

// room is the file of probe.
func (o *Output) room() string { return filepath.Join(o.staging, "room") }

// Notes say where the files of a run lie and why, where they do not lie as asked, and what killed runs have left: dir is
// what Write returned.
func (o *Output) Notes(dir string) (notes []string) {
	for _, left := range o.left {
		notes = append(notes, fmt.Sprintf("note: %s holds files of a run that was killed while it wrote them: keep what you need, and remove the folder", left))
	}
	switch {
	case o.aside == nil || dir == "":
		return notes
	case errors.Is(o.aside, fs.ErrExist) || errors.Is(o.aside, syscall.ENOTEMPTY):
		return append(notes, fmt.Sprintf("note: %s changed during the run and was not replaced; the results of this run are in %s", o.in(), dir))
	}
	return append(notes, fmt.Sprintf("note: %s cannot be written (%v); the results of this run are in %s", o.in(), reason(o.aside), dir))
}

func (o *Output) in() string { return cmp.Or(o.dir, DefaultDir) }

// reason is an error of the file system without the names of files that only this run knows.
func reason(err error) error {
	var named *fs.PathError
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}

// Discard removes what was staged, and the directory if it was made for nothing.
func (o *Output) Discard() {
	o.release()
	os.RemoveAll(o.staging)
	if o.made != "" {
		os.Remove(o.made) // fails, as it should, unless empty
	}
}

// product is what a job writes.
type product struct {
	names []string // in the order in which they are put into place
	paths func(dir string) report.Paths
	stage func() error // writes every file beside the others
}

func (o *Output) model(m *model.Model, s *report.Statement) product {
	return product{outputs, func(dir string) report.Paths {
		return report.Paths{
			Model: filepath.Join(dir, ModelDir), Report: filepath.Join(dir, ReportFile),
			Statement: filepath.Join(dir, StatementFile), Card: filepath.Join(dir, CardFile), Signature: o.signature(dir),
		}
	}, func() error { return o.stage(m, s) }}
}

func (o *Output) description(s *report.Statement) product {
	return product{[]string{StatementFile, DescribeFile}, func(dir string) report.Paths {
		return report.Paths{Report: filepath.Join(dir, DescribeFile), Statement: filepath.Join(dir, StatementFile), Signature: o.signature(dir)}
	}, func() error {
		return errors.Join(o.file(DescribeFile, s, report.DescriptionHTML), o.file(StatementFile, s, report.WriteJSON))
	}}
}

// signature is where the signature of files in dir will lie, "" for none.
func (o *Output) signature(dir string) string {
	if o.Sign == nil {
		return ""
	}
	return filepath.Join(dir, SignatureFile)
}

// sign stages the ledger's word on all that is staged.
func (o *Output) sign(names []string) error {
	files, err := Digests(o.staging, names)
	if err != nil {
		return err
	}
	word, err := o.Sign(files)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(word, "", "  ")
	if err != nil {
		return err
	}
	return whole.Write(filepath.Join(o.staging, SignatureFile), append(text, '\n'), 0o644)
}

// Digests are the SHA-256 of files and of those in folders of these names in dir, by their path with /.
func Digests(dir string, names []string) (map[string]ledger.Hash, error) {
	return DigestsOf(dir, names, func(string, []byte) {})
}

// DigestsOf is Digests that hands over each text of which it took the digest: whoever opens the file again may
// find another.
func DigestsOf(dir string, names []string, read func(name string, text []byte)) (map[string]ledger.Hash, error) {
	out := map[string]ledger.Hash{}
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			inner, err := filepath.Rel(dir, path)
			inner = filepath.ToSlash(inner)
			out[inner] = sha256.Sum256(text)
			read(inner, text)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// FolderName names data set, target, epsilon and ledger entry, in letters that every file
// system takes.
func FolderName(s *report.Statement) string {
	epsilon := cmp.Or(s.Privacy.EpsilonAsked, strconv.FormatFloat(float64(s.Privacy.Epsilon), 'g', -1, 64))
	var parts []string
	for _, p := range []string{s.Data.Name, s.Data.Target, "eps" + epsilon, s.Budget.Entry} {
		if p = plainName(p); p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "-")
}

// plainName keeps up to 40 plain letters of a name.
func plainName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, s)
	return strings.Trim(s[:min(len(s), 40)], "-.")
}

// Write puts the files into place and says where. A directory into which somebody has
// written since NewOutput keeps its files, and those of this run, which is paid for, lie
// beside it. When that fails too, as on a full disk, they lie in a new folder of os.TempDir; see Note. When even
// that fails, what was staged stays, and the error says where.
func (o *Output) Write(m *model.Model, s *report.Statement) (dir string, err error) {
	return o.write(o.model(m, s), s)
}

// WriteDescription is Write for a description: its page and its statement.
func (o *Output) WriteDescription(s *report.Statement) (dir string, err error) {
	return o.write(o.description(s), s)
}

func (o *Output) write(p product, s *report.Statement) (dir string, err error) {
	err = o.free()
	dir = o.dir
	if err == nil && dir == "" {
		dir, err = newFolder(filepath.Join(DefaultDir, FolderName(s)))
	}
	if err == nil {
		// A run that went on after its files were in place writes the same again.
		same := Earlier(dir)
		err = o.writeInto(dir, o.replace || same != nil && same.Budget.Entry != "" && same.Budget.Entry == s.Budget.Entry, p, s)
	}
	if err == nil {
		o.Discard()
		return dir, nil
	}
	if errors.As(err, new(*UnconfirmedError)) {
		// Nothing may lie in the clear.
		if o.dir == "" && dir != "" {
			os.Remove(dir)
		}
		o.Discard()
		return "", err
	}
	if o.aside = err; o.dir == "" && dir != "" {
		os.Remove(dir) // fails unless it is still empty
	}
	name := "-" + cmp.Or(plainName(s.Budget.Entry), "new")
	if dir, err = o.writeNew(o.in()+name, p, s); err == nil {
		o.Discard()
		return dir, nil
	}
	// A folder of files that move into place together has to lie beside them.
	here := o.staging
	if o.staging, err = os.MkdirTemp("", ".pawl-"); err == nil {
		if dir, err = o.writeNew(filepath.Join(os.TempDir(), "pawl"+name), p, s); err == nil {
			o.Discard()
			o.staging = here
			o.Discard()
			return dir, nil
		}
		os.RemoveAll(o.staging)
	}
	o.staging = here
	o.release() // what is left is told now
	return "", fmt.Errorf("%s: %w; %s: %w; what could be written is in %s", o.in(), reason(o.aside), os.TempDir(), reason(err), o.staging)
}

// writeNew is writeInto for a folder that it makes.
func (o *Output) writeNew(path string, p product, s *report.Statement) (dir string, err error) {
	if dir, err = newFolder(path); err != nil {
		return "", err
	}
	if err = o.writeInto(dir, false, p, s); err != nil {
		os.Remove(dir)
		return "", err
	}
	return dir, nil
}

// newFolder makes a folder that nobody else has, of this name or one with a number.
func newFolder(dir string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	for n, name := 2, dir; ; n++ {
		err := os.Mkdir(name, 0o755)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return name, err
		}
		name = fmt.Sprintf("%s-%d", dir, n)
	}
}

// writeInto stages every file and moves all of them into dir, or none.
func (o *Output) writeInto(dir string, replace bool, p product, s *report.Statement) error {
	s.Outputs = p.paths(dir)
	if err := p.stage(); err != nil {
		return err
	}
	if o.Confirm != nil {
		if err := o.Confirm(); err != nil {
			return err
		}
	}
	switch {
	case o.Sign != nil:
		if err := o.sign(p.names); err != nil {
			return err
		}
		p.names = append(slices.Clone(p.names), SignatureFile)
	case replace: // that of an earlier run does not fit these files
		if err := os.RemoveAll(filepath.Join(dir, SignatureFile)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, name := range p.names {
		staged, final := filepath.Join(o.staging, name), filepath.Join(dir, name)
		if err := move(staged, final, replace); err != nil {
			for _, name := range p.names[:i] {
				if !replace {
					err = errors.Join(err, os.Rename(filepath.Join(dir, name), filepath.Join(o.staging, name)))
				}
			}
			return err
		}
	}
	return nil
}

// move gives a staged file or folder its name, which must be free unless replace.
func move(from, to string, replace bool) error {
	if replace {
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		return os.Rename(from, to)
	}
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "write", Path: to, Err: fs.ErrExist}
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		// A link fails where a file has appeared this moment, and a rename would replace it.
		switch err := os.Link(from, to); {
		case err == nil:
			return os.Remove(from)
		case errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return os.Rename(from, to) // fails on a folder that is not empty
}

// stage writes every file beside the others.
func (o *Output) stage(m *model.Model, s *report.Statement) error {
	privacy, err := privacyJSON(s)
	if err != nil {
		return err
	}
	dir := filepath.Join(o.staging, ModelDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	metadata := map[string]string{
		"software": s.Software.Name + " " + s.Software.Version, "epsilon": s.Privacy.EpsilonAsked, "delta": s.Privacy.DeltaAsked,
		"unit": s.Privacy.Unit, "relation": s.Privacy.Relation,
	}
	if s.NotPrivate {
		// Without the chain's head, so that equal seeds give equal bytes.
		metadata["claim"] = "NOT PRIVATE"
	} else {
		metadata["ledger_head"] = s.Budget.Head
	}
	m.NotPrivate = s.NotPrivate
	if err := m.Save(dir, privacy, metadata); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer, *report.Statement) error{
		ReportFile: report.HTML, StatementFile: report.WriteJSON, CardFile: report.Card,
	} {
		if err := o.file(name, s, write); err != nil {
			return err
		}
	}
	return nil
}

func (o *Output) file(name string, s *report.Statement, write func(io.Writer, *report.Statement) error) error {
	f, err := os.Create(filepath.Join(o.staging, name))
	if err != nil {
		return err
	}
	if err := errors.Join(write(f, s), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
