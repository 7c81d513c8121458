package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The tests of the Python package, on this program. They need python3; what needs pandas and
// scikit-learn is left out where these are not installed. PAWL_PYTHON names the interpreter.
func TestPython(t *testing.T) {
	python := os.Getenv("PAWL_PYTHON")
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if path, err := exec.LookPath(name); python == "" && err == nil {
			python = path
		}
	}
	if python == "" {
		// pawl needs no Python; the package is tested where there is one.
		t.Skip("there is no python3")
	}
	c := exec.Command(python, "-m", "unittest", "discover", "-s", "tests")
	c.Dir = filepath.Join("..", "..", "python")
	c.Env = append(os.Environ(), "PAWL_BINARY="+program(t), "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.CombinedOutput()
	if errors.As(err, new(*exec.ExitError)) || !strings.Contains(string(out), "\nOK") {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(strings.TrimSpace(string(out)))
}
