// Package heads is the second place that remembers what this machine has seen of
// ledgers: small files of mode 0600 in a folder of mode 0700, apart from the ledgers. It
// also keeps the keys of releases that are held back. It decides nothing; core/ledger does.
//
// It guards against a ledger that is deleted, swapped or put back from an old copy, by
// mistake or by somebody who does not know of the folder. Whoever can write both can
// replace both.
package heads

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pawl/core/ledger"
	"pawl/internal/usage"
	"pawl/internal/whole"
)

// version is the version of the files.
const version = 1

// Place is what a folder remembers of the ledger at one address. It implements
// ledger.Heads and is safe for use by any number of processes.
type Place struct {
	dir     string
	address string
}

// Default returns the user's folder: $XDG_STATE_HOME/pawl, or ~/.local/state/pawl. It is
// apart from the folder of the ledger.
func Default() (string, error) {
	base, err := usage.OwnDir("XDG_STATE_HOME", ".local", "state")
	return filepath.Join(base, "pawl"), err
}

// At returns the place for the ledger at an address: an absolute path, or a URL without
// its password. Nothing is made before something is kept.
func At(dir, address string) *Place { return &Place{dir: dir, address: address} }

// ledgerFile is what was seen of the ledger of a key, wherever it stood.
type ledgerFile struct {
	Version int             `json:"version"`
	KeyID   string          `json:"key_id"`
	Codes   bool            `json:"authentication_codes"`
	Heads   map[string]head `json:"heads"`
}

type head struct {
	Seq  int64       `json:"seq"`
	Hash ledger.Hash `json:"hash"`
}

// addressFile is which ledger was last seen at an address.
type addressFile struct {
	Version int    `json:"version"`
	Address string `json:"address"`
	KeyID   string `json:"key_id"`
}

func (p *Place) folder() string { return filepath.Join(p.dir, "heads") }

func (p *Place) addressPath() string {
	sum := sha256.Sum256([]byte(p.address))
	return filepath.Join(p.folder(), "at-"+hex.EncodeToString(sum[:16])+".json")
}

func (p *Place) ledgerPath(keyID string) string {
	return filepath.Join(p.folder(), "ledger-"+keyID+".json")
}

// Known implements ledger.Heads.
func (p *Place) Known() (string, error) {
	var f addressFile
	if ok, err := read(p.addressPath(), &f); !ok || err != nil {
		return "", err
	}
	if f.Version != version || f.Address != p.address {
		return "", fmt.Errorf("%s: is not of this version or of another address", p.addressPath())
	}
	return f.KeyID, nil
}

// Read implements ledger.Heads.
func (p *Place) Read(keyID string) (ledger.Seen, bool, error) {
	var seen ledger.Seen
	path := p.ledgerPath(keyID)
	var f ledgerFile
	if ok, err := read(path, &f); !ok || err != nil {
		return seen, false, err
	}
	if f.Version != version || f.KeyID != keyID {
		return seen, false, fmt.Errorf("%s: is not of this version or of another ledger", path)
	}
	seen.Codes, seen.Heads = f.Codes, make(map[string]ledger.Head, len(f.Heads))
	for name, h := range f.Heads {
		seen.Heads[name] = ledger.Head{Seq: h.Seq, Hash: h.Hash}
	}
	return seen, true, nil
}

// Keep implements ledger.Heads.
func (p *Place) Keep(keyID string, seen ledger.Seen) error { return p.write(keyID, seen, false) }

// Replace implements ledger.Heads.
func (p *Place) Replace(keyID string, seen ledger.Seen) error { return p.write(keyID, seen, true) }

func (p *Place) write(keyID string, seen ledger.Seen, back bool) error {
	if err := private(p.folder()); err != nil {
		return err
	}
	unlock, err := whole.Lock(filepath.Join(p.folder(), "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	path := p.ledgerPath(keyID)
	f := ledgerFile{Version: version, KeyID: keyID}
	// A file that cannot be read was reported when it was; it is begun anew.
	if ok, err := read(path, &f); err != nil || !ok || f.Version != version || f.KeyID != keyID {
		f = ledgerFile{Version: version, KeyID: keyID}
	}
	if f.Heads == nil {
		f.Heads = map[string]head{}
	}
	f.Codes = f.Codes || seen.Codes
	for name, h := range seen.Heads {
		if back || h.Seq > f.Heads[name].Seq {
			f.Heads[name] = head{h.Seq, h.Hash}
		}
	}
	if err := save(path, f); err != nil {
		return err
	}
	at := addressFile{Version: version, Address: p.address, KeyID: keyID}
	var old addressFile
	if ok, err := read(p.addressPath(), &old); ok && err == nil && old == at {
		return nil
	}
	return save(p.addressPath(), at)
}

// read reads a file of JSON; ok is false where there is none.
func read(path string, into any) (ok bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("%s: is damaged", path)
	}
	return true, nil
}

func save(path string, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return whole.Write(path, append(text, '\n'), 0o600)
}

func private(dir string) error { return os.MkdirAll(dir, 0o700) }

// Keys keeps the keys of releases that are held back, apart from the releases.
type Keys struct{ dir string }

// KeysIn returns the keys in a folder, which At takes too.
func KeysIn(dir string) Keys { return Keys{filepath.Join(dir, "held")} }

func (k Keys) path(entry string) (string, error) {
	if entry == "" || strings.Trim(entry, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%.40q is not the name of an entry", entry)
	}
	return filepath.Join(k.dir, entry+".key"), nil
}

// Put keeps the key of an entry's release; one that is there already is an error.
func (k Keys) Put(entry string, key []byte) error {
	path, err := k.path(entry)
	if err != nil {
		return err
	}
	if err := private(k.dir); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: is there already", path)
	}
	return whole.Write(path, key, 0o600)
}

// Get returns the key of an entry's release. One that is not there wraps fs.ErrNotExist.
func (k Keys) Get(entry string) ([]byte, error) {
	path, err := k.path(entry)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Drop removes the key of an entry's release.
func (k Keys) Drop(entry string) error {
	path, err := k.path(entry)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
