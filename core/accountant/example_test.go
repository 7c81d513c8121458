package accountant_test

import (
	"fmt"

	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/accountant/meaning"
	"pawl/core/dp"
)

// Ten epochs of DP-SGD on 60,000 records in lots of 256.
func ExampleEpsilon() {
	event := dp.Repeat{Count: 2344, Event: dp.PoissonSampled{Rate: 256.0 / 60000, Event: dp.Gaussian{NoiseMultiplier: 1.1}}}
	r, err := accountant.Epsilon(event, dp.AddOrRemoveOne, 1e-5, accountant.MethodMin)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("epsilon", meaning.RoundUp(r.Epsilon, 2), "by", r.Method)
	fmt.Println("rdp", meaning.RoundUp(r.Bounds["rdp"], 2))
	// Output:
	// epsilon 0.92 by pld
	// rdp 1.10
}

// The least noise for a target.
func Example_calibrate() {
	x, r, err := calibrate.To(calibrate.Target{Epsilon: 1, Delta: 1e-5}, dp.AddOrRemoveOne, accountant.MethodMin, calibrate.Search{
		Decreasing: true,
		Event:      func(x float64) dp.Event { return dp.Repeat{Count: 100, Event: dp.Gaussian{NoiseMultiplier: x}} },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("noise multiplier %.1f, epsilon %s by %s\n", x, meaning.RoundUp(r.Epsilon, 2), r.Method)
	// Output: noise multiplier 37.3, epsilon 1.00 by analytic_gaussian
}

// A budget that is spent by plans made one after the other.
func ExampleFilter() {
	f, err := accountant.NewFilter(1, 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	account, err := f.Start(dp.AddOrRemoveOne)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, second := dp.Gaussian{NoiseMultiplier: 6}, dp.Gaussian{NoiseMultiplier: 5}
	if err := account.Add("", first); err != nil {
		fmt.Println(err)
		return
	}
	for _, next := range []dp.Event{first, second} {
		ok, need, left, err := account.Admits("", next)
		fmt.Printf("%v: needs %.2f, has %.2f left, %v\n", ok, need, left, err)
	}
	// Output:
	// true: needs 0.25, has 0.30 left, <nil>
	// false: needs 0.36, has 0.30 left, <nil>
}
