// Command table writes a made-up table as CSV, as large as wanted, to measure how fast tables are read: customers of a
// bank, 85 bytes a row, of whom some say yes to an offer. No row is about anybody, and a seed gives the same table anywhere.
//
//	go run ./bench/table -rows 1000000 -schema big.yaml > big.csv
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
)

// column writes a cell and returns what it adds to the chance of a yes.
type column struct {
	name, declared string
	cell           func(b []byte, r *rand.Rand) ([]byte, float64)
}

func whole(name string, lower, upper int, weight float64, draw func(r *rand.Rand) float64) column {
	return column{name, fmt.Sprintf("type: integer, lower: %d, upper: %d", lower, upper), func(b []byte, r *rand.Rand) ([]byte, float64) {
		v := min(max(int(draw(r)), lower), upper)
		return strconv.AppendInt(b, int64(v), 10), weight * (2*float64(v-lower)/float64(upper-lower) - 1)
	}}
}

func among(name string, weight float64, values ...string) column {
	return column{name, "type: categorical, categories: [" + strings.Join(values, ", ") + "]", func(b []byte, r *rand.Rand) ([]byte, float64) {
		k := min(r.IntN(len(values)), r.IntN(len(values))) // the first are the most common
		return append(b, values[k]...), weight * (2*float64(k)/float64(len(values)-1) - 1)
	}}
}

func answer(name string, weight float64) column {
	return column{name, "type: boolean", func(b []byte, r *rand.Rand) ([]byte, float64) {
		if r.IntN(3) == 0 {
			return append(b, "yes"...), weight
		}
		return append(b, "no"...), -weight
	}}
}

func tail(scale float64) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return scale * r.ExpFloat64() }
}

func even(n int) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return float64(r.IntN(n)) }
}

// The last three are there where twenty columns are asked for.
var columns = []column{
	whole("age", 0, 120, .8, func(r *rand.Rand) float64 { return 41 + 11*r.NormFloat64() }),
	among("job", -.6, "blue-collar", "management", "technician", "admin", "services", "retired", "self-employed", "entrepreneur", "unemployed", "housemaid", "student", "unknown"),
	among("marital", .3, "married", "single", "divorced"),
	among("education", -.4, "secondary", "tertiary", "primary", "unknown"),
	answer("default", -.3),
	{"balance", "type: numeric, lower: -10000, upper: 100000", func(b []byte, r *rand.Rand) ([]byte, float64) {
		v := math.Round(140000*r.ExpFloat64()-50000) / 100
		return strconv.AppendFloat(b, v, 'f', -1, 64), v / 10000
	}},
	answer("housing", -.5),
	answer("loan", -.3),
	among("contact", -.7, "cellular", "unknown", "telephone"),
	whole("day", 1, 31, 0, func(r *rand.Rand) float64 { return float64(1 + r.IntN(31)) }),
	among("month", .5, "may", "jul", "aug", "jun", "nov", "apr", "feb", "jan", "oct", "sep", "mar", "dec"),
	whole("duration", 0, 5000, 6, tail(258)),
	whole("campaign", 1, 60, -1, tail(3)),
	whole("pdays", -1, 999, .3, func(r *rand.Rand) float64 { return float64(r.IntN(400) - 200) }),
	whole("previous", 0, 60, 1, tail(1)),
	among("poutcome", .6, "unknown", "failure", "other", "success"),
	whole("branch", 0, 999, 0, even(1000)),
	whole("visits", 0, 200, .5, tail(12)),
	among("segment", .4, "a", "b", "c", "d", "e"),
}

func main() {
	rows := flag.Int64("rows", 1_000_000, "how many rows")
	wide := flag.Int("columns", 17, "17 or 20, the label among them")
	seed := flag.Uint64("seed", 1, "another table")
	schema := flag.String("schema", "", "write the schema to this file")
	flag.Parse()
	if *wide != 17 && *wide != len(columns)+1 {
		fmt.Fprintln(os.Stderr, "table: -columns is 17 or 20")
		os.Exit(2)
	}
	if err := write(*rows, *seed, columns[:*wide-1], *schema); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func write(rows int64, seed uint64, columns []column, schema string) error {
	if schema != "" {
		var s strings.Builder
		fmt.Fprintf(&s, "version: 1\ndataset: bench-table-%d-%d\nunit: row\nrows: %d\ncolumns:\n", rows, seed, rows)
		for _, c := range columns {
			fmt.Fprintf(&s, "  - {name: %s, %s}\n", c.name, c.declared)
		}
		s.WriteString("  - {name: y, type: boolean}\n")
		if err := os.WriteFile(schema, []byte(s.String()), 0o644); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for _, c := range columns {
		out.WriteString(c.name + ",")
	}
	out.WriteString("y\n")
	r := rand.New(rand.NewPCG(seed, 1))
	var line []byte
	for range rows {
		line = line[:0]
		score := 2.5
		for _, c := range columns {
			var adds float64
			line, adds = c.cell(line, r)
			line, score = append(line, ','), score+adds
		}
		if r.Float64() < 1/(1+math.Exp(-score)) {
			line = append(line, "yes\n"...)
		} else {
			line = append(line, "no\n"...)
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
