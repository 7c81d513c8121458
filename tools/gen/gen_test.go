package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed assembly is what the generator writes, but for the header, which
// names the output files.
func TestCommittedAssemblyIsGenerated(t *testing.T) {
	for _, part := range []string{"gemm", "copy", "vector", "layer", "cipher", "normals", "peak"} {
		t.Run(part, func(t *testing.T) {
			dir := t.TempDir()
			assembly, stubs := filepath.Join(dir, "x.s"), filepath.Join(dir, "x.go")
			out, err := exec.Command("go", "run", ".", "-part", part, "-out", assembly, "-stubs", stubs, "-pkg", "kernel").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for made, committed := range map[string]string{assembly: part + "_amd64.s", stubs: part + "_amd64.go"} {
				folder, name := "compute/kernel", "kernel"
				if part == "peak" {
					folder, name = "bench/epoch", "main"
				}
				got, want := body(t, made), body(t, filepath.Join("..", "..", folder, committed))
				if got = bytes.Replace(got, []byte("package kernel"), []byte("package "+name), 1); !bytes.Equal(got, want) {
					t.Errorf("%s/%s differs from what gen writes: run go generate ./%[1]s", folder, committed)
				}
			}
		})
	}
}

// body is a file without its first line.
func body(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	return rest
}
