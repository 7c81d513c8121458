//go:build ignore

// Generate writes patients.csv, an invented table of hospital stays: no row is about a
// person. Run it as: go run generate.go > patients.csv
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

func main() {
	r := rand.New(rand.NewPCG(1, 2))
	fmt.Println("patient_id,age,ward,days,charge,readmitted")
	stays := 0
	for id := 1; stays < 10000; id++ {
		age := int(min(99, max(18, 58+18*r.NormFloat64())))
		frail := r.NormFloat64()
		for n := 1 + int(min(2, 1.2*r.ExpFloat64())); n > 0 && stays < 10000; n-- {
			stays++
			w := r.IntN(3)
			days := 1 + int(min(59, (2+2*float64(w))*math.Exp(.6*r.NormFloat64()+.2*frail)))
			charge := float64(days) * (900 + 400*float64(w)) * math.Exp(.3*r.NormFloat64())
			risk := -2.4 + .07*float64(age-58) + .6*frail + 1.4*float64(w) + .15*float64(days)
			fmt.Printf("P%05d,%d,%s,%d,%.0f,%t\n", id, age, []string{"A", "B", "C"}[w], days, charge, r.Float64() < 1/(1+math.Exp(-risk)))
		}
	}
}
