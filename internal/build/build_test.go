package build

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// A program without a recorded version is named by its own bytes.
func TestSoftwareIsTheProgram(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	want := fmt.Sprintf("%x", sum[:12])
	digest, err := Digest()
	if err != nil || digest != want {
		t.Fatalf("digest %s (%v), want %s", digest, err, want)
	}
	name, err := Software()
	if v := Version(); v == unknown || strings.Contains(v, "dirty") {
		if err != nil || name != v+" "+digest {
			t.Errorf("%q (%v): the digest %s is not in it", name, err, digest)
		}
	} else if name != v {
		t.Errorf("%q, want the version %q", name, v)
	}
}
