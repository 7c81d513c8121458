package cli

import (
	"pawl/internal/cost"

	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) calibrateEvent() *cobra.Command {
	var (
		target targetFlags
		how    howFlags
	)
	c := &cobra.Command{
		Use:   "event FILE --epsilon E --delta D",
		Short: "Find the number written as \"?\" in an event file",
		Long: fmt.Sprintf(`Find the one number of an event file that is written as "?".
It may be any of: %s.
FILE - reads standard input.`, strings.Join(cost.FreeNames(), ", ")),
		Example: `  pawl calibrate event plan.json --epsilon 2 --delta 1e-5
  echo '{"kind":"repeat","count":"?","event":{"kind":"laplace","noise_multiplier":20}}' | pawl calibrate event - --epsilon 1 --delta 1e-6`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			spend, err := target.parse(c, true)
			if err != nil {
				return err
			}
			m, rel, err := how.parse()
			if err != nil {
				return err
			}
			text, name, err := a.readEventFile(args[0])
			if err != nil {
				return err
			}
			f, stated, err := cost.FileFamily(name, text, rel, m)
			if err != nil {
				return err
			}
			if rel, err = how.under(c, name, stated, rel); err != nil {
				return err
			}
			ans, err := f.Solve(spend, rel, m)
			if err != nil {
				return err
			}
			return a.print(ans)
		},
	}
	target.register(c, "target epsilon, never exceeded (required)", "failure probability delta (default 0: pure DP)")
	how.register(c)
	return c
}
