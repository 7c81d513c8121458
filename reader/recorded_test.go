//go:build !oracle

package reader

import (
	"testing"

	"pawl/internal/recorded"
)

// Without the tag oracle, the files that arrow-go writes come from the archive.

func asParquet(t testing.TB, size int, columns ...typed) []byte {
	t.Helper()
	return written.Get(t, recorded.Key("parquet", size, columns))
}

func asArrow(t testing.TB, columns ...typed) []byte {
	t.Helper()
	return written.Get(t, recorded.Key("arrow", columns))
}

// asParquetLists is a file of texts beside lists of float32, the lengths of which are given.
func asParquetLists(t testing.TB, keys []string, values []float32, lengths ...int) []byte {
	t.Helper()
	return written.Get(t, recorded.Key("lists", keys, values, lengths))
}

// oddTypes is a file of one row: a structure, a date and the integer n.
func oddTypes(t testing.TB) []byte { return written.Get(t, "odd types") }
