package schema_test

import (
	"errors"
	"fmt"

	"pawl/data/schema"
)

func ExampleDecode() {
	_, err := schema.Decode("patients.yaml", []byte(`version: 1
unit: {name: patient, column: patient_id, rows: 3}
rows: about 2000
columns:
  - {name: patient_id, type: ignore}
  - {name: age, type: integer, lower: 0, upper: 120, why: "a human life"}
  - {name: stage, type: categorical, categories: [I, II, III, IV], ordered: true, missing: unknown}
  - {name: weight, type: numeric, lower: 0}
`))
	fmt.Println("error:", err)
	var hint interface{ Hint() string }
	if errors.As(err, &hint) {
		fmt.Println("hint:", hint.Hint())
	}
	// Output:
	// error: patients.yaml:8:5: column "weight": upper bound is missing
	// hint: state a round number from the meaning of the quantity, never the smallest or largest value of the rows
}
