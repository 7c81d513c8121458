package space

// Definition is a search space as a person writes it.
type Definition struct {
	Name, Title, Source, Note string
	// Net says what builds a network from a point: a family of nets ("fcn", "cnn") or
	// the name of a net of the zoo. This package only carries it.
	Net         string
	Dimensions  []Dimension
	Constraints []Constraint
}

// Dimension is one choice. Exactly one of Values, Range and Subset is given.
type Dimension struct {
	Name   string
	Values []Value
	Range  *Range
	Subset *Subset
	// When lists conditions that must all hold; without one the dimension is always
	// active.
	When []Condition
}

// Range is an interval of numbers, both ends included.
type Range struct {
	Low, High float64
	// Integer makes it the whole numbers Low, Low+Step, …; Step 0 stands for 1.
	Integer bool
	Step    float64
	// Log spaces the numbers evenly in their logarithm; Low must be above 0.
	Log bool
	// Steps, where above 0, is the number of evenly spaced values; they are rounded
	// to 12 digits, or to whole numbers.
	Steps int
}

// Subset is any choice of Min to Max of the names.
type Subset struct {
	Of       []string
	Min, Max int
}

// Condition is a test of another dimension. It fails where that one is not active.
type Condition struct {
	Dimension string
	// Operator is "in" some values, "!=" one, or "<", "<=", ">", ">=" one number.
	Operator string
	Values   []Value
}

// Constraint is a comparison that every point satisfies, such as
//
//	units_1 >= units_2 >= units_3
//	parameters <= 100000
//	sum(trainable_1, trainable_2) >= 1
//
// A comparison holds where one of its sides names a dimension that is not active.
// sum, min and max take the active ones of their arguments; size is the number of
// names in a subset; parameters and trainable_parameters are those of the net and
// have to be bound (Space.Bind). When restricts the constraint to points where the
// conditions hold.
type Constraint struct {
	Check string
	When  []Condition
}
