// Package verify checks released files without the ledger that paid for them: by the ledger's signature,
// and by computing the cost of their events again.
package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"syscall"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/internal/cost"
	"pawl/internal/usage"
	"pawl/report"
	"pawl/workflow"
)

// Result is what holds of a folder of released files.
type Result struct {
	Verified  bool             `json:"verified"`
	Folder    string           `json:"folder"`
	Dataset   string           `json:"dataset"`
	Entry     string           `json:"entry"`
	Record    int64            `json:"record"`
	Head      ledger.Hash      `json:"head"` // of the log after the charge
	At        string           `json:"at"`   // when the ledger charged it
	By        string           `json:"by"`
	Ledger    string           `json:"ledger"`
	Key       ledger.PublicKey `json:"public_key"`
	KeyGiven  bool             `json:"key_given"`
	Files     []string         `json:"files"`
	Claimed   report.Number    `json:"epsilon_claimed"`
	Computed  report.Number    `json:"epsilon_computed"` // of the charged events, at delta
	Delta     report.Number    `json:"delta"`
	Unit      string           `json:"unit"`
	Relation  string           `json:"relation"`
	Private   bool             `json:"private"` // false: the statement itself says NOT PRIVATE
	Proves    []string         `json:"proves"`
	ProvesNot []string         `json:"does_not_prove"`
}

// RefutedError: something in the folder is not as it was signed, or claims less than was charged.
type RefutedError struct{ what string }

func (e *RefutedError) Error() string { return e.what }

// Hint says how to go on.
func (e *RefutedError) Hint() string {
	return "do not rely on these files; ask the holder of the ledger for the files that the run wrote"
}

// ExitStatus is 1.
func (e *RefutedError) ExitStatus() int { return 1 }

func refuted(format string, args ...any) error {
	return &RefutedError{fmt.Sprintf(format, args...)}
}

// Folder checks the files that a run wrote into dir. key is the ledger's, nil where whoever asks does not know it.
//
// A *RefutedError says what does not hold. A folder without statement or signature is a usage error.
func Folder(dir string, key ledger.PublicKey) (*Result, error) {
	f, err := read(dir)
	if err != nil {
		return nil, err
	}
	return f.check(key)
}

// Releases are the folders of dir that hold a release, in order: dir itself, or those in it. Where there is none it is
// dir, so that Folder says what is missing.
func Releases(dir string) []string {
	if _, err := os.Lstat(filepath.Join(dir, workflow.StatementFile)); err == nil {
		return []string{dir}
	}
	entries, _ := os.ReadDir(dir)
	var all []string
	for _, e := range entries {
		if _, err := os.Lstat(filepath.Join(dir, e.Name(), workflow.StatementFile)); err == nil {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	if all == nil {
		all = []string{dir}
	}
	return all
}

// modelSpec says what the model claims.
const modelSpec = workflow.ModelDir + "/model.json"

// folder is what lies in dir: digests of the released files, and the texts of those that are compared.
type folder struct {
	dir     string
	digests map[string]ledger.Hash
	texts   map[string][]byte
}

// read opens every file once. Nothing opens one again: a file that changed meanwhile would be compared by one text and
// verified by another.
func read(dir string) (*folder, error) {
	f := &folder{dir: dir, texts: map[string][]byte{}}
	there := []string{}
	for _, name := range []string{workflow.StatementFile, workflow.ModelDir, workflow.ReportFile, workflow.CardFile, workflow.DescribeFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			there = append(there, name)
		}
	}
	var err error
	f.digests, err = workflow.DigestsOf(dir, there, func(name string, text []byte) {
		if name == workflow.StatementFile || name == workflow.CardFile || name == modelSpec {
			f.texts[name] = text
		}
	})
	if err != nil {
		return nil, err
	}
	signed, err := os.ReadFile(f.at(workflow.SignatureFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) { // a file holds no statement either
		return nil, err
	} else if err == nil {
		f.texts[workflow.SignatureFile] = signed
	}
	return f, nil
}

func (f *folder) at(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f *folder) check(key ledger.PublicKey) (*Result, error) {
	text, ok := f.texts[workflow.StatementFile]
	if !ok {
		return nil, usage.Newf("DIR is a folder that pawl fit, train, search or describe wrote", "%s: there is no %s", f.dir, workflow.StatementFile)
	}
	var s report.Statement
	if err := json.Unmarshal(text, &s); err != nil || s.Software.Name != "pawl" {
		return nil, usage.Newf("DIR is a folder that pawl fit, train, search or describe wrote", "%s is not a statement of pawl", f.at(workflow.StatementFile))
	}
	signed, ok := f.texts[workflow.SignatureFile]
	if !ok && s.Budget.Entry == "" {
		return nil, usage.Newf("exact figures of public data cost nothing and have no entry", "%s is not signed: nothing was charged for it", f.dir)
	} else if !ok {
		return nil, usage.Newf(fmt.Sprintf("an earlier pawl wrote it, or its signature was removed; pawl account event %s computes its epsilon again, and the holder of the ledger can look for its head: pawl ledger verify %s --head %s",
			usage.Shell(f.at(workflow.StatementFile)), usage.Shell(s.Budget.Dataset), s.Budget.Head), "%s is not signed: there is no %s", f.dir, workflow.SignatureFile)
	}
	sig, err := ledger.ReadSignature(signed)
	if err != nil {
		return nil, usage.Newf("put back the file as the run wrote it", "%s: %v", f.at(workflow.SignatureFile), err)
	}
	if err := sig.Check(); err != nil {
		return nil, refuted("%s: %v", f.at(workflow.SignatureFile), err)
	}
	if key != nil && !bytes.Equal(key, sig.Key) {
		return nil, refuted("%s was signed with the key %v of another ledger, not with %v", f.dir, sig.Key, key)
	}
	r := &Result{Verified: true, Folder: f.dir, Dataset: sig.Record.Dataset, Record: sig.Record.Seq, Head: sig.Record.Hash, At: sig.Record.Time, By: sig.Record.User,
		Ledger: sig.Ledger, Key: sig.Key, KeyGiven: key != nil, Claimed: s.Privacy.Epsilon, Delta: s.Privacy.Delta, Unit: sig.Unit, Relation: sig.Relation.String(), Private: !s.NotPrivate}
	if err := r.files(f, sig); err != nil {
		return nil, err
	}
	if err := r.charge(&s, text, sig); err != nil {
		return nil, err
	}
	if err := agree(&s, f.texts); err != nil {
		return nil, err
	}
	r.words()
	return r, nil
}

// files compares digests. Beside the signed files, only others in the folder itself may lie there: a reader takes
// nothing for part of the model that was not signed.
func (r *Result) files(f *folder, sig *ledger.Signature) error {
	for name := range sig.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return refuted("%s: %q is not a file of the folder", workflow.SignatureFile, name)
		}
		r.Files = append(r.Files, name)
	}
	sort.Strings(r.Files)
	if !slices.Contains(r.Files, workflow.StatementFile) {
		return refuted("%s does not sign %s", workflow.SignatureFile, workflow.StatementFile)
	}
	for _, name := range r.Files {
		digest, ok := f.digests[name]
		switch {
		case !ok:
			return refuted("%s was signed, and is missing", f.at(name))
		case digest != sig.Files[name]:
			return refuted("%s is not the file that was signed", f.at(name))
		}
	}
	for name := range f.digests {
		if _, ok := sig.Files[name]; !ok {
			return refuted("%s was not signed", f.at(name))
		}
	}
	return nil
}

// charge compares the statement with what the ledger charged, and computes the cost of that again.
func (r *Result) charge(s *report.Statement, text []byte, sig *ledger.Signature) error {
	charged, event, rows, err := sig.Charge()
	if err != nil {
		return refuted("the signed record: %v", err)
	}
	r.Entry = charged.ID
	switch {
	case s.Budget.Dataset != r.Dataset || s.Budget.Entry != charged.ID:
		return refuted("the statement is of entry %s of data set %q, and the ledger signed entry %s of %q", s.Budget.Entry, s.Budget.Dataset, charged.ID, r.Dataset)
	case s.Privacy.Unit != sig.Unit || s.Privacy.RowsPerUnit != rows || rows > sig.RowsPerUnit || s.Privacy.Relation != sig.Relation.String():
		return refuted("the statement protects %s with %d rows under %s, and the ledger charged %s with %d rows under %v", s.Privacy.Unit, s.Privacy.RowsPerUnit, s.Privacy.Relation, sig.Unit, rows, sig.Relation)
	case charged.NotPrivate && !s.NotPrivate:
		return refuted("the noise of entry %s was seeded, and the statement does not say NOT PRIVATE", charged.ID)
	case s.Data.Public && !sig.Public:
		// The reverse may be: a release that was held back is signed after a steward has declared the data set public.
		return refuted("the statement calls data set %q public, but in the ledger it is sensitive", r.Dataset)
	}
	stated, _, err := cost.Decode(workflow.StatementFile, text)
	if err != nil {
		return err
	}
	same, err := equal(stated.Event, event)
	if err != nil {
		return err
	}
	if !same && !s.NotPrivate {
		return refuted("the events of the statement are not those that the ledger charged")
	}
	// What is charged is at least what is claimed: an accountant sharper than that of the statement finds less.
	computed, err := accountant.Epsilon(event, sig.Relation, float64(s.Privacy.Delta), accountant.MethodMin)
	if err != nil {
		return err
	}
	if r.Computed = report.Number(computed.Epsilon); !(computed.Epsilon <= float64(s.Privacy.Epsilon)*(1+1e-9)) {
		return refuted("the charged events cost epsilon %.6g at delta %g, and the statement claims %.6g", computed.Epsilon, float64(s.Privacy.Delta), float64(s.Privacy.Epsilon))
	}
	return stages(&s.Privacy, charged.Stages, event, sig.Relation, s.NotPrivate)
}

// equal compares compositions by their parts.
func equal(a, b dp.Event) (bool, error) {
	for _, e := range []*dp.Event{&a, &b} {
		if c, ok := (*e).(dp.Compose); ok && len(c.Events) == 1 {
			*e = c.Events[0]
		}
	}
	x, err := dp.EncodeEvent(a)
	if err != nil {
		return false, err
	}
	y, err := dp.EncodeEvent(b)
	return bytes.Equal(x, y), err
}

func (r *Result) words() {
	whose := fmt.Sprintf("whoever holds the private part of %v", r.Key)
	r.Proves = []string{
		fmt.Sprintf("%s signed these files, byte by byte", whose),
		fmt.Sprintf("according to the same holder, entry %s is record %d in the log of data set %q, and was its head", r.Entry, r.Record, r.Dataset),
	}
	if r.Private {
		r.Proves = append(r.Proves, fmt.Sprintf("the events of that entry cost no more than epsilon %g at delta %g, by this program's accountant", float64(r.Claimed), float64(r.Delta)))
	}
	r.ProvesNot = []string{
		"that the program ran as the events say: noise leaves no trace that an outsider could check",
		"that the log contains every use of the data, or that no later record was removed: compare heads of several reports, or ask for pawl ledger export",
		"the budget, the score and the names of people in the statement: they are as the ledger recorded them, and were not recomputed",
	}
	if !r.KeyGiven {
		r.ProvesNot = append(r.ProvesNot, "whose key it is: compare it with what pawl ledger key prints where the ledger is, and pass it with --public-key")
	}
}
