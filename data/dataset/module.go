package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"
)

// module is a Go module that carries a data set's files. Its version and the files'
// checksums are pinned; a version cannot be changed once it was published.
type module struct {
	name, version string
	folder        string // in the module, holding the files under their own names
}

// moduleTime bounds the wait for the go command, which may download.
const moduleTime = 5 * time.Minute

// fromModule copies the module's files, checked, into a folder.
func (s *ImageSet) fromModule(ctx context.Context, dir string) error {
	from, err := s.module.download(ctx)
	if err != nil {
		return err
	}
	for _, f := range s.Files {
		where := filepath.Join(from, filepath.FromSlash(s.module.folder), path.Base(f.Path))
		raw, err := readBounded(where)
		if err != nil {
			return err
		}
		if _, err := s.checked(f, raw, where); err != nil {
			return err
		}
		if err := writeWhole(filepath.Join(dir, filepath.FromSlash(f.Path)), raw); err != nil {
			return err
		}
	}
	return nil
}

// download returns the folder into which the go command unpacked the module.
func (m module) download(ctx context.Context) (string, error) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return "", errors.New("the go command, which could fetch it as a Go module, is not installed")
	}
	// An empty folder, and no settings of a project: neither may decide what is fetched.
	empty, err := os.MkdirTemp("", "pawl-module-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(empty)
	ctx, cancel := context.WithTimeout(ctx, moduleTime)
	defer cancel()
	c := exec.CommandContext(ctx, goCommand, "mod", "download", "-json", m.name+"@"+m.version)
	c.Dir = empty
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GO111MODULE=on", "GOTOOLCHAIN=local", "GOMOD=")
	c.WaitDelay = time.Second
	// With a failure the go command prints JSON too, with the reason.
	out, runErr := c.Output()
	var answer struct{ Dir, Error string }
	if err := json.Unmarshal(out, &answer); err == nil && answer.Dir != "" && runErr == nil {
		return answer.Dir, nil
	}
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("the go command did not fetch the module %s in time", m.name)
	}
	if answer.Error == "" {
		answer.Error = "it gives no reason"
	}
	return "", fmt.Errorf("the go command cannot fetch the module %s@%s: %s", m.name, m.version, answer.Error)
}
