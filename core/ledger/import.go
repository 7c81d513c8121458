package ledger

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"pawl/core/dp"
)

// maxLine bounds a line of an export: an event has at most dp.MaxEventBytes, and
// JSON text within JSON at most doubles it.
const maxLine = 4*dp.MaxEventBytes + 1<<16

// Imported is the result of an import for one data set.
type Imported struct {
	Name  string `json:"name"`
	Added int    `json:"added"` // records that were new here
	Total int64  `json:"records"`
	Head  Hash   `json:"head"`
	// Mended reports that a record which this machine has seen, and which was gone, is back.
	Mended bool `json:"mended,omitempty"`
	// Missing is the number of the last record that this machine has seen if the log still lacks it
	// after the import, otherwise 0. While it is missing, nothing on the data set is admitted.
	Missing int64 `json:"missing,omitempty"`
}

// Import reads an export and adds the records that are new, all or none. A log whose chain does not
// hold, or a truncated file, gives an error that wraps ErrBroken. An existing data set must agree
// record for record, or it is refused: two histories of one budget cannot be merged.
//
// Records that this machine has seen and the ledger lacks may return in this way. If they do not,
// the records of the export are added all the same, as the newest available, and the result states
// what is missing; it also names data sets that are gone entirely, with no record added.
//
// Scopes are intervals of a hash that is keyed by the ledger's secret. An empty ledger takes the
// secret of the export if that contains it. A ledger with another secret refuses a log with scopes,
// since the same person would be in another scope there. It takes a log without scopes, but the
// digest of the registered file differs here, so the next use needs --updated.
func (l *Ledger) Import(ctx context.Context, r io.Reader) ([]Imported, error) {
	header, logs, err := readExport(r)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(logs))
	var out []Imported
	l.mu.Lock()
	defer l.mu.Unlock()
	if header.restores(l.heads) {
		l.self.accepting = true
		defer func() { l.self.accepting = false }()
	}
	err = l.transact(ctx, true, func(t *txn) error {
		out = nil
		secret, same := l.self.secret, l.self.id == header.KeyID
		if !same {
			adopted, err := t.adopt(header)
			if err != nil {
				return err
			}
			if same = adopted != nil; same {
				secret = adopted
			}
		}
		if l.self.accepting && !same {
			return contradicted("", "another ledger is at the address of the exported one")
		}
		for _, name := range names {
			if !same && logs[name].scoped() {
				return &RefusedError{Dataset: name, Reason: "its account has scopes, which need the secret of the ledger it comes from",
					Advice: "export with --with-secret and import into a new ledger: pawl ledger export --all --with-secret --output FILE"}
			}
			added, err := t.merge(logs[name], secret)
			if err != nil {
				return err
			}
			out = append(out, Imported{Name: name, Added: added, Total: logs[name].head.Seq, Head: logs[name].head.Hash})
		}
		if out, err = t.againstSeen(out, keyID(secret)); err != nil {
			return err
		}
		t.done = func() { l.self.secret, l.self.id = secret, keyID(secret) }
		return t.SetCode("", code(secret, "", Head{}))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// againstSeen says of what was imported whether it holds what this machine has seen of the
// ledger of a key, and adds what it lacks of other data sets.
func (t *txn) againstSeen(out []Imported, id string) ([]Imported, error) {
	if t.l.heads == nil {
		return out, nil
	}
	seen, _, err := t.l.heads.Read(id)
	if err != nil {
		return out, nil // warned about when the ledger was looked at
	}
	for _, name := range slices.Sorted(maps.Keys(seen.Heads)) {
		s, err := t.extend(newState(name))
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(out, func(one Imported) bool { return one.Name == name })
		head := seen.Heads[name]
		switch {
		case !s.holds(head) && i >= 0:
			out[i].Missing = head.Seq
		case !s.holds(head):
			out = append(out, Imported{Name: name, Total: s.head.Seq, Head: s.head.Hash, Missing: head.Seq})
		case i >= 0 && head.Seq > s.head.Seq-int64(out[i].Added):
			out[i].Mended = true
		}
	}
	return out, nil
}

// importedLog is one verified log of an export.
type importedLog struct {
	*state
	records []Record
}

// scoped reports whether any entry was charged to a part of the units.
func (g *importedLog) scoped() bool {
	return slices.ContainsFunc(g.entries, func(e *entry) bool { return len(dp.Breakpoints(e.event)) > 1 })
}

// adopt takes the secret of the export, if that has one and the ledger is empty, and returns it.
func (t *txn) adopt(header exportHeader) ([]byte, error) {
	names, err := t.Names()
	if err != nil || len(names) > 0 || header.Secret == "" {
		return nil, err
	}
	secret, err := hex.DecodeString(header.Secret)
	if err != nil || len(secret) != 32 || keyID(secret) != header.KeyID {
		return nil, fmt.Errorf("%w: the secret in the export is damaged", ErrBroken)
	}
	return secret, t.Adopt(secret)
}

// merge appends the records that follow those which are here, and codes their head under a secret.
func (t *txn) merge(g *importedLog, secret []byte) (added int, err error) {
	own, err := t.extend(newState(g.name))
	if err != nil {
		return 0, err
	}
	if err := t.checkCode(own); err != nil {
		return 0, err
	}
	n := min(len(own.hashes), len(g.records))
	// Hashes chain: where the last common record agrees, all before it do.
	if n > 0 && own.hashes[n-1] != g.records[n-1].Hash {
		return 0, &RefusedError{Dataset: g.name, Reason: "this ledger has a different history of it",
			Advice: "import it into a new ledger: pawl ledger import FILE --ledger sqlite:PATH"}
	}
	for _, r := range g.records[n:] {
		if err := t.Append(r); err != nil {
			return 0, err
		}
	}
	head := own.head
	if len(g.records) > n {
		head = g.head
	}
	if t.heads[g.name] = head; !t.coded || head.Seq == 0 {
		return len(g.records) - n, nil
	}
	return len(g.records) - n, t.SetCode(g.name, code(secret, g.name, head))
}

// MayRestore reads an export and returns the error that Import would return for its contents. It also returns an error if
// a new ledger is about to be made for the export at an address where another ledger was, unless the export is of that
// ledger and contains its secret; nil heads know of none.
func MayRestore(r io.Reader, heads Heads) error {
	header, _, err := readExport(r)
	if err != nil {
		return err
	}
	if header.restores(heads) {
		return nil
	}
	return Missing(heads)
}

// restores reports whether an import puts back the ledger that was last seen at the
// address, its secret included.
func (h exportHeader) restores(heads Heads) bool {
	if heads == nil || h.Secret == "" {
		return false
	}
	known, err := heads.Known()
	return err == nil && known == h.KeyID
}

// readExport reads and verifies a whole export.
func readExport(r io.Reader) (header exportHeader, logs map[string]*importedLog, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	logs = map[string]*importedLog{}
	n := 0
	for lines.Scan() {
		n++
		if n == 1 {
			if err := versioned(lines.Bytes(), "pawl_ledger_export", exportVersion, "an", "export", &header); err != nil {
				return header, nil, err
			}
			for name := range header.Heads {
				if err := checkName(name); err != nil {
					return header, nil, fmt.Errorf("%w: line 1: %v", ErrBroken, err)
				}
				logs[name] = &importedLog{state: newState(name)}
			}
			continue
		}
		var line exportLine
		if err := strictly(lines.Bytes(), &line); err != nil {
			return header, nil, fmt.Errorf("%w: line %d of the export is truncated or not a record", ErrBroken, n)
		}
		record := line.Record
		record.Body = json.RawMessage(line.Body)
		log := logs[record.Dataset]
		if log == nil {
			return header, nil, fmt.Errorf("%w: line %d of the export belongs to a data set that its first line does not name", ErrBroken, n)
		}
		if err := log.apply(&record); err != nil {
			return header, nil, err
		}
		log.records = append(log.records, record)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return header, nil, fmt.Errorf("%w: line %d of the export is too long for a record", ErrBroken, n+1)
	}
	if err := lines.Err(); err != nil {
		return header, nil, err
	}
	if n == 0 {
		return header, nil, invalid("the file is empty, not an export of a ledger")
	}
	for name, want := range header.Heads {
		if got := logs[name].head; got != want || got.Seq == 0 {
			return header, nil, fmt.Errorf("%w: data set %q: the export is truncated: it has %d of %d records", ErrBroken, name, got.Seq, want.Seq)
		}
	}
	return header, logs, nil
}
