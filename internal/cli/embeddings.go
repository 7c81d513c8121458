package cli

import (
	"github.com/spf13/cobra"

	"pawl"
)

// registerVectors adds the flags that name a file of vectors and how its rows are found.
func registerVectors(f *pawl.Source, c *cobra.Command, key string) {
	s := c.Flags()
	s.StringVar(&f.Embeddings, "embeddings", "", "vectors from a public extractor, one per key: npy with a .keys file beside it, Parquet or Arrow")
	s.StringVar(&f.Key, "key", "", "column that holds the key of each row's vector"+key)
}
