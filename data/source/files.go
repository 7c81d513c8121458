package source

import (
	"crypto/sha256"
	"io"

	"pawl/reader"
)

// SameTable reports whether two tables hold the same bytes once they are unpacked.
func SameTable(a, b *reader.Content) bool {
	x, errX := tableSum(a)
	y, errY := tableSum(b)
	return errX == nil && errY == nil && x == y
}

func tableSum(c *reader.Content) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if _, err := io.Copy(h, c.Reader()); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
