// Command quick is pawl audit mechanism --name SPECIFICATION --json and nothing else: it
// builds in a few seconds, which counts where it is built once for every sabotage.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"pawl/core/entropy"
	"pawl/evidence/audit"
	"pawl/evidence/audit/bound"
)

func main() {
	for _, s := range audit.Specifications() {
		if len(os.Args) != 2 || s.Slug() != os.Args[1] {
			continue
		}
		r, err := audit.Conform(context.Background(), s, 1-bound.Conviction, entropy.Seeded(1))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"specifications": []audit.Conformity{r}}); err != nil {
			os.Exit(1)
		}
		if r.Convicted {
			os.Exit(4)
		}
		return
	}
	fmt.Fprintln(os.Stderr, "quick: name one specification")
	os.Exit(2)
}
