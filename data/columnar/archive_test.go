//go:build !oracle

package columnar

import "testing"

// fileOf is a file that arrow-go wrote.
func fileOf(t testing.TB, name string) []byte { t.Helper(); return files.Get(t, name) }
