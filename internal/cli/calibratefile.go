package cli

import (
	"fmt"
	"strings"

	"pawl"

	"github.com/spf13/cobra"
)

func calibrateEvent(a *app) *cobra.Command {
	var target costFlags
	c := &cobra.Command{
		Use:   "event FILE --epsilon E --delta D",
		Short: "Find the number written as \"?\" in an event file",
		Long: fmt.Sprintf(`Find the one number of an event file that is written as "?".
It may be any of: %s.
FILE may be - for standard input.`, strings.Join(openNumbers(), ", ")),
		Example: `  pawl calibrate event plan.json --epsilon 2 --delta 1e-5
  echo '{"kind":"repeat","count":"?","event":{"kind":"laplace","noise_multiplier":20}}' | pawl calibrate event - --epsilon 1 --delta 1e-6`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := target.required(c, true); err != nil {
				return err
			}
			text, name, err := readEventFile(a, args[0])
			if err != nil {
				return err
			}
			return a.answer(pawl.Calibrate{Event: text, Name: name, Epsilon: target.epsilon, Delta: target.delta, Relation: target.asked(c), Accountant: target.method}.Answer())
		},
	}
	target.register(c, "target epsilon, never exceeded (required)", "failure probability delta (default 0: pure DP)")
	return c
}
