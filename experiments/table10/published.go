package table10

// epsilons are the rows of Table X.
var epsilons = []float64{.01, .1, .5, 1, 1.5, 2, 5, 10, 20, 25, 30, 35, 40}

// methods are its columns, and ours in the same order.
var methods = []string{"All", "PAFS", "CFS-Greedy", "CFS-GA", "Random"}

// table is Table X: percent of the test rows, one line for each epsilon, one column for
// each method.
var table = [][]float64{
	{50.11, 49.99, 50.30, 50.44, 49.84},
	{50.98, 52.09, 51.27, 51.72, 51.71},
	{53.75, 54.92, 54.05, 54.49, 53.34},
	{53.85, 55.12, 55.20, 55.38, 54.23},
	{55.34, 55.78, 55.63, 55.82, 55.35},
	{55.43, 56.84, 56.21, 56.47, 55.67},
	{56.74, 64.21, 60.23, 62.34, 59.30},
	{61.78, 68.75, 67.09, 67.41, 66.87},
	{68.13, 71.00, 70.36, 69.53, 70.12},
	{69.59, 73.48, 70.59, 69.74, 70.61},
	{70.75, 71.52, 70.62, 69.85, 70.67},
	{71.45, 71.72, 70.70, 69.92, 70.66},
	{72.11, 73.60, 70.71, 69.94, 70.57},
}
