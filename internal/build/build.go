// Package build names the program that runs: its version, and exactly what it was built of.
package build

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

// unknown stands for a version that the build does not record.
const unknown = "development"

// Version is the version of the module pawl in this program, or "development" where the
// build records none.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == "pawl" && m.Replace == nil && m.Version != "" && m.Version != "(devel)" && m.Version != "v0.0.0" {
			return m.Version
		}
	}
	return unknown
}

// Software names the program exactly: what is resumed is resumed by the same one. A build of
// changed or unknown sources is named by its own bytes.
func Software() (string, error) {
	v := Version()
	if v != unknown && !strings.Contains(v, "dirty") {
		return v, nil
	}
	digest, err := Digest()
	return v + " " + digest, err
}

// Digest names this build of the program by its bytes: other code may compute otherwise.
func Digest() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}
