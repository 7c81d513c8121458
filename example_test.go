package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"pawl"
)

// temporary opens a ledger that lasts as long as an example.
func temporary(ctx context.Context) (*pawl.Ledger, func()) {
	dir, err := os.MkdirTemp("", "pawl-example-")
	if err != nil {
		log.Fatal(err)
	}
	// What a machine remembers of its ledgers stays in the folder too.
	os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	led, err := pawl.OpenLedger(ctx, "sqlite:"+filepath.Join(dir, "ledger.db"))
	if err != nil {
		log.Fatal(err)
	}
	return led, func() { led.Close(); os.RemoveAll(dir) }
}

// A fit on a built-in data set. The seed makes its output the same every time, and for that
// reason NOT PRIVATE: leave it out on data of yours.
func Example() {
	ctx := context.Background()
	led, done := temporary(ctx)
	defer done()
	data, err := pawl.Open("wdbc", "")
	if err != nil {
		log.Fatal(err)
	}
	seed := uint64(1)
	plan, err := led.Plan(ctx, data, pawl.Fit{Budget: pawl.Budget{Epsilon: "1"}, Seed: &seed})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Price())
	res, err := plan.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %.2f, of the majority class %.2f, not private: %v\n", res.Score.Metric, res.Score.Value, res.Score.Baseline, res.NotPrivate)
	// Output:
	// epsilon 1 at delta 0.0001, add_or_remove_one, unit row
	// accuracy 0.96, of the majority class 0.65, not private: true
}

// A price is known before anything is charged.
func ExampleLedger_Plan() {
	ctx := context.Background()
	led, done := temporary(ctx)
	defer done()
	data, err := pawl.Open("adult", "")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := led.Plan(ctx, data, pawl.Fit{Budget: pawl.Budget{Epsilon: "0.5", Delta: "1e-6"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Price())
	// Output:
	// epsilon 0.5 at delta 1e-06, add_or_remove_one, unit row
}

// A public data set is described exactly, at no cost; with an epsilon in the Budget the same figures
// have noise, on any table.
func ExampleDescribe() {
	ctx := context.Background()
	led, done := temporary(ctx)
	defer done()
	data, err := pawl.Open("adult", "")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := led.Plan(ctx, data, pawl.Describe{Columns: []string{"age", "sex"}})
	if err != nil {
		log.Fatal(err)
	}
	res, err := plan.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range res.Description.Columns {
		for _, by := range c.ByLevel {
			if c.Name == "sex" {
				fmt.Printf("%s: %.1f %% earn more than 50K\n", by.Name, 100*by.Rates[">50K"].Value)
			}
		}
		if c.Name == "age" {
			fmt.Println("median age:", c.Quantiles[0.5].Value)
		}
	}
	// Output:
	// median age: 37
	// Female: 10.9 % earn more than 50K
	// Male: 30.6 % earn more than 50K
}

// A budget that does not allow the job refuses it before a row is used.
func ExamplePlan_Check() {
	ctx := context.Background()
	led, done := temporary(ctx)
	defer done()
	data, err := pawl.Open("examples/library/patients.csv", "examples/library/patients.yaml")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := led.Plan(ctx, data, pawl.Fit{Target: "readmitted", Budget: pawl.Budget{Epsilon: "0.5", Delta: "1e-6"}})
	if err != nil {
		log.Fatal(err)
	}
	// The first job on new data grants itself what it asks.
	if _, err := plan.Run(ctx); err != nil {
		log.Fatal(err)
	}
	err = plan.Check(ctx)
	fmt.Println(errors.Is(err, pawl.ErrRefused), pawl.AsError(err).ExitStatus(), pawl.AsError(err).Hint() != "")
	// Output:
	// true 3 true
}

// What a training elsewhere cost: 60,000 rows in lots of 250 for 15 epochs.
func ExampleAccount() {
	a, err := pawl.Account{DPSGD: &pawl.DPSGD{Rows: 60_000, Batch: 250, Epochs: 15, NoiseMultiplier: 1.1}, Delta: "1e-5"}.Answer()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("epsilon %.3f by %s; an even bet becomes at most %.0f %%\n", a.Epsilon, a.Method, 100*a.Posterior)
	// Output:
	// epsilon 1.119 by pld; an even bet becomes at most 75 %
}

// The noise that meets a target.
func ExampleCalibrate() {
	a, err := pawl.Calibrate{DPSGD: &pawl.DPSGD{SamplingRate: 0.02, Steps: 1500}, Epsilon: "8", Delta: "1e-5"}.Answer()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Free, a.Value, a.Epsilon <= 8)
	// Output:
	// noise_multiplier 0.794467 true
}

// Features by correlation, at the price of one release of counts. The seed is for the output.
func ExampleSelect() {
	ctx := context.Background()
	led, done := temporary(ctx)
	defer done()
	data, err := pawl.Open("examples/library/patients.csv", "examples/library/patients.yaml")
	if err != nil {
		log.Fatal(err)
	}
	seed := uint64(1)
	plan, err := led.Plan(ctx, data, pawl.Select{Target: "readmitted", Method: "cfs-greedy", Budget: pawl.Budget{Epsilon: "1", Delta: "1e-6"}, Seed: &seed})
	if err != nil {
		log.Fatal(err)
	}
	res, err := plan.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range res.Features {
		fmt.Println(f.Name)
	}
	// Output:
	// visits
}

// A model is written, read again, and predicts any number of times at no further cost.
func ExampleModel_Predict() {
	ctx := context.Background()
	led, done := temporary(ctx)
	defer done()
	table := pawl.Source{Data: "examples/library/patients.csv", Schema: "examples/library/patients.yaml"}
	data, err := table.Open()
	if err != nil {
		log.Fatal(err)
	}
	plan, err := led.Plan(ctx, data, pawl.Fit{Target: "readmitted", Budget: pawl.Budget{Epsilon: "2", Delta: "1e-6"}})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pawl-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if _, err := plan.Run(ctx, pawl.Into(filepath.Join(dir, "out"), false)); err != nil {
		log.Fatal(err)
	}
	m, err := pawl.LoadModel(filepath.Join(dir, "out"))
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Predict(pawl.Source{Data: table.Data})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Len(), m.Target(), m.Classes(), len(p.Probabilities(0)))
	// Output:
	// 4000 readmitted [no yes] 2
}
