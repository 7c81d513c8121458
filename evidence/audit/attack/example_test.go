package attack_test

import (
	"fmt"
	"strings"

	"pawl/evidence/audit/attack"
)

// Scores of another program, with too few rows for the rates that are usually shown.
func ExampleEvaluate() {
	scores, err := attack.ReadScores(strings.NewReader("score,member\n0.9,1\n0.8,1\n0.7,0\n0.6,1\n0.5,1\n0.4,0\n0.3,0\n0.2,0\n"))
	if err != nil {
		panic(err)
	}
	r, err := attack.Evaluate(scores, attack.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("AUC %.3f in [%.2f, %.2f]\n", r.AUC.Estimate, r.AUC.Lower, r.AUC.Upper)
	fmt.Println(r.AtRate[1].Refusal)
	// Output:
	// AUC 0.875 in [0.59, 1.00]
	// not supported: a false positive rate of 0.01 needs at least 100 non-members, there are 4
}
