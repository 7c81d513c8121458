//go:build ignore

// This program prints patients.csv: 4,000 invented patients. Nobody is behind them.
//
// Age is uniform over 18 to 95, stay over 1 to 14 days, ward over three names, visits in the
// year before over 0 to 5. Whoever scores 6 or more is readmitted, where the score is
//
//	age/20 + visits − (stay < 3) + (ward is surgery)
//
// and one patient in ten, whatever the score, has the opposite answer. The generator of random
// numbers is PCG seeded with (1, 2), so that the file is the same everywhere.
package main

import (
	"fmt"
	"math/rand/v2"
)

func main() {
	r := rand.New(rand.NewPCG(1, 2))
	wards := []string{"general", "surgery", "heart"}
	fmt.Println("age,stay,ward,visits,readmitted")
	for range 4000 {
		age, stay, ward, visits := 18+r.IntN(78), 1+r.IntN(14), wards[r.IntN(3)], r.IntN(6)
		score := float64(age)/20 + float64(visits)
		if stay < 3 {
			score--
		}
		if ward == "surgery" {
			score++
		}
		readmitted := score >= 6
		if r.IntN(10) == 0 {
			readmitted = !readmitted
		}
		answer := map[bool]string{false: "no", true: "yes"}[readmitted]
		fmt.Printf("%d,%d,%s,%d,%s\n", age, stay, ward, visits, answer)
	}
}
