package dataset

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"pawl/internal/usage"
	"pawl/internal/whole"
)

// UserDataDir is the user's own folder for data sets: $XDG_DATA_HOME/pawl/data,
// else ~/.local/share/pawl/data.
func UserDataDir() (string, error) {
	base, err := usage.OwnDir("XDG_DATA_HOME", ".local", "share")
	return filepath.Join(base, "pawl", "data"), err
}

// cacheDir holds copies that can be made again without asking anybody.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	return filepath.Join(base, "pawl", "data"), err
}

// folders lists where files are looked for, first match wins. Contents are checked,
// so where a file was found makes no difference to what is read.
func folders(dataDir string) []string {
	out := []string{}
	for _, dir := range []string{dataDir, os.Getenv(DataDirVariable)} {
		if dir != "" {
			out = append(out, dir)
		}
	}
	for _, own := range []func() (string, error){UserDataDir, cacheDir} {
		if dir, err := own(); err == nil { // a user without a home has no such folder
			out = append(out, dir)
		}
	}
	return out
}

// locate returns the path of a file, or fs.ErrNotExist.
func locate(file, dataDir string) (string, error) {
	for _, dir := range folders(dataDir) {
		where := filepath.Join(dir, filepath.FromSlash(file))
		if _, err := os.Stat(where); err == nil {
			return where, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fs.ErrNotExist
}

// writeWhole makes a file with its folder, whole or not at all.
func writeWhole(where string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(where), 0o755); err != nil {
		return err
	}
	return whole.Write(where, content, 0o644)
}

func readBounded(where string) ([]byte, error) {
	file, err := os.Open(where)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxContent))
}
