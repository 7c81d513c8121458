package main

import (
	"io"
	"os"
	"path/filepath"

	"pawl/audit/attack"
)

// Files of an audit.
const (
	auditFile     = "audit.json"
	auditPageFile = "audit.html"
	manifestFile  = "manifest.json"
)

// writeMIA writes what an audit found, and the keyed hashes of who was in which pool.
func writeMIA(out *miaAudit, manifest *attack.Manifest, dir string) error {
	if err := writeAudit(dir, out); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, auditPageFile), true, func(w io.Writer) error { return pageMIA(w, out) }); err != nil {
		return err
	}
	if manifest == nil {
		return nil
	}
	return writeFile(filepath.Join(dir, manifestFile), true, func(w io.Writer) error { return writeJSON(w, manifest) })
}

// writeAudit writes what was found as JSON.
func writeAudit(dir string, out any) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cannotWrite(dir, err)
	}
	return writeFile(filepath.Join(dir, auditFile), true, func(w io.Writer) error { return writeJSON(w, out) })
}
