package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// Prints are stored in ledgers: those of one table under one key are the same bytes in every version. The digest was
// made by the version that told a sketch of every cell as it came.
func TestPrintsStayAsTheyAre(t *testing.T) {
	names, rows := wide(30_000)
	for i, row := range rows {
		switch { // missing cells, long ones, and numbers that are written in several ways
		case i%7 == 0:
			row[i%17] = "NA"
		case i%11 == 0:
			row[i%17] = "  a text that is longer than sixteen bytes " + row[0]
		case i%13 == 0:
			row[i%17] = "+0" + row[6] + ".0"
		case i%1009 == 0:
			row[i%17] = "1e-22"
		}
	}
	for _, c := range []struct {
		name string
		b    *Builder
		want string
	}{
		{"all", New(testKey, names), "35a6db601a39a33c6702803afec503404dfc86b5418784f6eb7a15b56da1812b"},
		{"records", NewRecords(testKey, names, nil), "4afc295e8cdfe0d55eb058d1c6a8f5dc9a5bc49ceaabb7a016074b295134ac40"},
	} {
		for _, row := range rows {
			c.b.Add(without("NA", row))
		}
		sum := sha256.Sum256(c.b.Print().Marshal())
		if got := hex.EncodeToString(sum[:]); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
