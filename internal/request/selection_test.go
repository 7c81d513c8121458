package request

import (
	"io"
	"os"
	"testing"
)

// A name that was free before a run and is taken after it: what was paid for goes beside.
func TestPaidTablesAreNotLost(t *testing.T) {
	t.Chdir(t.TempDir())
	put := func(w io.Writer) error { _, err := io.WriteString(w, "paid"); return err }
	f, err := createFile("t.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("t.csv", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.write(put); err != nil || f.path != "t-2.csv" {
		t.Errorf("%q, %v", f.path, err)
	}
	f.discard()
	for path, want := range map[string]string{"t.csv": "mine", "t-2.csv": "paid"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
}
