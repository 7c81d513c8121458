package dp

// Facts are the public facts on which a plan may rest. Nothing in it may be read
// from sensitive rows.
type Facts struct {
	// Rows is the nominal number of rows: declared, public, or released by a paid
	// count. Zero means that it is not known.
	Rows float64
	// RowsPerUnit is the largest number of rows that one unit may own (>= 1).
	RowsPerUnit int
	// Relation is the one relation of the plan.
	Relation Relation
}

// Guarantee is a statement of differential privacy together with how it was
// computed.
type Guarantee struct {
	Epsilon  float64  `json:"epsilon"`
	Delta    float64  `json:"delta"`
	Relation Relation `json:"relation"`
	// Unit is what one neighbouring change adds or removes, in words.
	Unit string `json:"unit"`
	// Method names the accountant whose bound is the smallest.
	Method string `json:"accountant"`
}
