// Command library fits a private model with the packages of pawl, in a module of its own:
//
//	go run . patients.csv
//
// It opens patients.csv with its schema patients.yaml, prints the price, charges it to the
// user's ledger, and writes model, report and statement into a new folder in pawl-out. Each run
// draws fresh noise and is charged again, until the grant of epsilon 5 is used up.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"pawl"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "error: name one table; usage: library FILE.csv (with FILE.yaml beside it)")
		os.Exit(2)
	}
	if err := fit(context.Background(), os.Args[1]); err != nil {
		e := pawl.AsError(err)
		fmt.Fprintln(os.Stderr, "error:", e)
		if e.Hint() != "" {
			fmt.Fprintln(os.Stderr, "hint:", e.Hint())
		}
		os.Exit(e.ExitStatus())
	}
}

func fit(ctx context.Context, table string) error {
	data, err := pawl.Open(table, strings.TrimSuffix(table, ".csv")+".yaml")
	if err != nil {
		return err
	}
	led, err := pawl.OpenLedger(ctx, "", pawl.WithGrant("5"))
	if err != nil {
		return err
	}
	defer led.Close()
	plan, err := led.Plan(ctx, data, pawl.Fit{Target: "readmitted", Budget: pawl.Budget{Epsilon: "0.5", Delta: "1e-6"}})
	if err != nil {
		return err
	}
	fmt.Println("price:", plan.Price())
	res, err := plan.Run(ctx)
	if err != nil {
		return err
	}
	if err := res.WriteDir(""); err != nil {
		return err
	}
	fmt.Printf("score: %s %.3f, 95 %% interval %.3f to %.3f (majority class %.3f)\n",
		res.Score.Metric, res.Score.Value, res.Score.Interval[0], res.Score.Interval[1], res.Score.Baseline)
	fmt.Printf("charged: entry %s in %s; epsilon left %.3g\n", res.Entry, led, res.Left)
	fmt.Println("written:", res.Dir)
	return nil
}
