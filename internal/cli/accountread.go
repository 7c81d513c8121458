package cli

import (
	"pawl/internal/cost"

	"io"
	"os"
)

// readEventFile reads a file or stdin, no more than a document may have.
func readEventFile(a *app, path string) (text []byte, name string, err error) {
	in, name := io.Reader(a.in), "stdin"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, path, err
		}
		defer f.Close()
		in, name = f, path
	}
	text, err = io.ReadAll(io.LimitReader(in, cost.MaxDocument+1))
	return text, name, err
}
