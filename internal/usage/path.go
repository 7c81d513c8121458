package usage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// OwnDir is a folder of the user's by the XDG specification: the one that a variable names, else rest in the home
// directory. It is the same in every working directory: a relative path in the variable is ignored, as the
// specification says, and a relative home directory is an error.
func OwnDir(variable string, rest ...string) (string, error) {
	if base := os.Getenv(variable); filepath.IsAbs(base) {
		return base, nil
	}
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = errors.New("$HOME is not an absolute path")
	}
	if err != nil {
		return "", New("no home directory: "+err.Error(), "set HOME, or "+variable+", to an absolute path")
	}
	return filepath.Join(append([]string{home}, rest...)...), nil
}

// WithoutPath is an error of the operating system without its path, which may be that of a
// temporary file and means nothing to a person; another error stays as it is.
func WithoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
