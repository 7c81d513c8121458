package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindAll(t *testing.T) {
	t.Setenv(DataDirVariable, "")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	if err := FindAll("", []string{"adult", "wdbc"}); err != nil {
		t.Errorf("what is part of the program is not found: %v", err)
	}
	dir := t.TempDir()
	other := Info{Name: "mine", Files: []File{{Path: "mine.csv"}}}
	err := FindAll(dir, []string{"adult", "fashion-mnist", "location30"}, other)
	var missing *FileError
	if !errors.As(err, &missing) || missing.Dataset != "fashion-mnist" || !strings.HasSuffix(missing.Msg, "(location30, mine missing as well)") || !strings.Contains(missing.Hint(), "pawl data get fashion-mnist") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.csv"), []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := FindAll(dir, []string{"adult"}, other); err != nil {
		t.Errorf("a file that is there: %v", err)
	}
	if err := FindAll(dir, []string{"nothing"}); err == nil {
		t.Error("a name that nothing has is found")
	}
}
