package cli

import (
	"io"
	"os"
	"path/filepath"

	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/membership"
	"pawl/internal/request"
)

// Files of an audit.
const (
	auditFile     = "audit.json"
	auditPageFile = "audit.html"
	manifestFile  = "manifest.json"
)

// checkAudit refuses a directory that holds an earlier audit, whose number may have been
// paid for.
func checkAudit(dir string, force bool) error {
	if dir == "" || force {
		return nil
	}
	for _, name := range []string{auditFile, auditPageFile, manifestFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return mistakef("choose another directory with --out, or replace it with --force", "%s holds %s of an earlier audit, which is not replaced", dir, name)
		}
	}
	return nil
}

// writeMIA writes what an audit found, and the keyed hashes of who was in which pool.
func writeMIA(out *membership.Audit, manifest *attack.Manifest, dir string) error {
	if err := writeAudit(dir, out, true); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, auditPageFile), true, func(w io.Writer) error { return out.Page(w) }); err != nil {
		return err
	}
	if manifest == nil {
		return nil
	}
	return writeFile(filepath.Join(dir, manifestFile), true, func(w io.Writer) error { return writeJSON(w, manifest) })
}

// writeAudit writes what was found as JSON.
func writeAudit(dir string, out any, replace bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return request.CannotWrite(dir, err)
	}
	return writeFile(filepath.Join(dir, auditFile), replace, func(w io.Writer) error { return writeJSON(w, out) })
}
