package usage

import (
	"errors"
	"io/fs"
	"os"
)

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
