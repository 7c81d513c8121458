package reader

import (
	"errors"

	"pawl/data/schema"
	"pawl/data/text"
)

// longestToken is far beyond any word; what is longer is no text.
const longestToken = 1000

var (
	errNoToken   = errors.New("a text without a word or symbol, but the schema declares no missing rule for this column")
	errLongToken = errors.New("a word of more than 1,000 bytes: not a text")
)

// parseText appends the tokens of a text to the row and returns where they begin. A
// text is missing when it has no token; the schema's list of missing cells does not
// concern it, since "?" and "NA" are messages too. No token is unknown: each has its
// bucket by a fixed rule.
func parseText(column *schema.Column, c *cell, values *[]float64) (float64, error) {
	longest := 0
	text.Tokens(c.text, func(t []byte) { longest = max(longest, len(t)) })
	switch {
	case longest > longestToken:
		return 0, errLongToken
	case longest > 0:
	case column.Missing == schema.MissingUnknown:
		return column.Default(), nil
	default:
		return 0, errNoToken
	}
	// Without buckets the rows are only counted: which number there will be depends on
	// how many rows there are.
	at := float64(len(*values))
	if column.Buckets == 0 {
		*values = append(*values, 0)
		return at, nil
	}
	entries := text.Hasher{Buckets: column.Buckets}.Entries(c.text)
	*values = append(*values, float64(len(entries)))
	for _, e := range entries {
		*values = append(*values, float64(e.Bucket), e.Sum)
	}
	return at, nil
}
