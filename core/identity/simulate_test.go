package identity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// population draws records: categories with unequal chances in several columns, or numbers.
type population struct {
	name string
	draw func(r *rand.Rand) []string
}

// cellsOf is a population of n combinations of four columns whose chances differ by a factor of about 50.
func cellsOf(n int) population {
	r := rand.New(rand.NewPCG(uint64(n), 77))
	cumulative := make([]float64, n)
	var sum float64
	for i := range cumulative {
		sum += math.Exp(r.NormFloat64())
		cumulative[i] = sum
	}
	return population{fmt.Sprintf("%d cells", n), func(r *rand.Rand) []string {
		u := r.Float64() * sum
		lo, hi := 0, n-1
		for lo < hi {
			if m := (lo + hi) / 2; cumulative[m] < u {
				lo = m + 1
			} else {
				hi = m
			}
		}
		return []string{strconv.Itoa(lo % 2), strconv.Itoa(lo / 2 % 2), strconv.Itoa(lo / 4 % 10), strconv.Itoa(lo / 40)}
	}}
}

// hospital has a running number, an age, an amount to the cent and a day and minute of a year.
func hospital() population {
	next := 0
	return population{"hospital", func(r *rand.Rand) []string {
		next++
		return []string{strconv.Itoa(next % 100_000), strconv.Itoa(r.IntN(90)), strconv.FormatFloat(math.Round(100*math.Exp(6+r.NormFloat64()))/100, 'f', 2, 64),
			fmt.Sprintf("2024-%02d-%02d %02d:%02d", 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60))}
	}}
}

// scores are a few continuous columns on coarse grids: nearly all values of a column occur in every large sample.
func scores() population {
	return population{"scores", func(r *rand.Rand) []string {
		return []string{strconv.FormatFloat(math.Round(100*r.NormFloat64())/100, 'f', 2, 64), strconv.Itoa(int(1000 * r.ExpFloat64())),
			strconv.FormatFloat(math.Round(1e4*r.Float64())/1e4, 'f', 4, 64), strconv.Itoa(r.IntN(3))}
	}}
}

func (p population) sample(r *rand.Rand, n int) [][]string {
	rows := make([][]string, n)
	for i := range rows {
		rows[i] = p.draw(r)
	}
	return rows
}

var fourNames = []string{"a", "b", "c", "d"}

// Two independent samples of one population are not alike, however few cells it has. 350 pairs: the bound of 10⁻⁶
// a test and the distance of 5 standard deviations leave one alarm a chance below 10⁻³ (none in 4,200 pairs).
func TestNaturalOverlapIsNoCopy(t *testing.T) {
	repeat := 5
	if testing.Short() {
		repeat = 1
	}
	alarms, pairs := 0, 0
	for _, p := range []population{cellsOf(4), cellsOf(24), cellsOf(240), cellsOf(5000), cellsOf(100_000), hospital(), scores()} {
		for _, sizes := range [][2]int{{30, 30}, {200, 200}, {2000, 2000}, {20_000, 20_000}, {2000, 20_000}, {400, 20_000}, {100, 20_000}, {20, 20_000}, {20_000, 400}, {300, 30}} {
			for i := range repeat {
				r := rand.New(rand.NewPCG(uint64(i), uint64(sizes[0])<<20+uint64(sizes[1])))
				v := Compare(printOf(testKey, fourNames, p.sample(r, sizes[0])), printOf(testKey, fourNames, p.sample(r, sizes[1])))
				pairs++
				if v.Likeness != Different {
					alarms++
					t.Errorf("%s, %d and %d rows, seed %d: %+v", p.name, sizes[0], sizes[1], i, v)
				}
			}
		}
	}
	t.Logf("%d alarms of %d pairs", alarms, pairs)
}

// What is left of a table after rows were taken away, added or mixed in is found.
func TestCopiesAreFound(t *testing.T) {
	less := func(rows [][]string, share float64, r *rand.Rand) (left [][]string) {
		for _, row := range rows {
			if r.Float64() >= share {
				left = append(left, row)
			}
		}
		return left
	}
	for _, p := range []population{cellsOf(24), cellsOf(240), cellsOf(5000), hospital(), scores()} {
		for _, n := range []int{1000, 5000, 20_000} {
			for i := range 5 {
				r := rand.New(rand.NewPCG(uint64(i), uint64(n)))
				rows := p.sample(r, n)
				known := printOf(testKey, fourNames, rows)
				check := func(what string, changed [][]string) {
					t.Helper()
					if v := Compare(known, printOf(testKey, fourNames, changed)); v.Likeness != Similar {
						t.Errorf("%s, %d rows: %s is %+v", p.name, n, what, v)
					}
					if v := Compare(printOf(testKey, fourNames, changed), known); v.Likeness != Similar {
						t.Errorf("%s, %d rows: %s, compared the other way, is %+v", p.name, n, what, v)
					}
				}
				check("2 % less", less(rows, .02, r))
				check("5 % more", append(rows[:n:n], p.sample(r, n/20)...))
				if p.name == "hospital" || p.name == "scores" && n < 10_000 {
					check("a fifth", less(rows, .8, r))
					check("half of them among as many others", append(less(rows, .5, r), p.sample(r, n/4)...))
				}
				if p.name == "hospital" && n == 20_000 {
					check("a fiftieth", less(rows, .98, r))
				}
			}
		}
	}
}

// Columns that were added, dropped or renamed change every record. Two columns of many values are left.
func TestColumnsAreFound(t *testing.T) {
	p := hospital()
	for _, n := range []int{1000, 20_000} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		rows := p.sample(r, n)
		known := printOf(testKey, fourNames, rows)
		if len(known.columns) != 2 {
			t.Fatalf("%d columns are sketched, want those of amounts and times", len(known.columns))
		}
		for what, change := range map[string]func(row []string) []string{
			"a column less":     func(row []string) []string { return row[1:] },
			"a column more":     func(row []string) []string { return append(row[:4:4], "x"+strconv.Itoa(r.IntN(5))) },
			"a rounded column":  func(row []string) []string { return []string{row[0], row[1][:1], row[2], row[3]} },
			"the telling pair":  func(row []string) []string { return []string{row[3], row[2]} },
			"names of others":   func(row []string) []string { return row },
			"unlike identifier": func(row []string) []string { return []string{"P" + row[0], row[1], row[2], row[3]} },
		} {
			var changed [][]string
			for _, row := range rows {
				changed = append(changed, change(row))
			}
			names := []string{"n1", "n2", "n3", "n4", "n5"}[:len(changed[0])]
			if v := Compare(known, printOf(testKey, names, changed)); v.Likeness != Similar {
				t.Errorf("%d rows: %s is %+v", n, what, v)
			}
		}
		// One column alone may be shared.
		var one [][]string
		for _, row := range rows {
			one = append(one, []string{row[3], strconv.Itoa(r.IntN(1e9))})
		}
		if v := Compare(known, printOf(testKey, []string{"time", "amount"}, one)); v.Likeness != Different {
			t.Errorf("one column of equal values is %+v", v)
		}
	}
}

// At 4 cells only equal counts tell.
func TestFourCells(t *testing.T) {
	p, r := cellsOf(4), rand.New(rand.NewPCG(9, 9))
	rows := p.sample(r, 20_000)
	known := printOf(testKey, fourNames, rows)
	if v := Compare(known, printOf(testKey, fourNames, rows[:19_000])); v.Likeness != Different {
		t.Errorf("5 %% less: %+v", v)
	}
	if v := Compare(known, printOf(testKey, fourNames, rows)); v.Likeness != Equal {
		t.Errorf("the same: %+v", v)
	}
}

// Independent samples share no records beyond chance, of one population and of two; 60 rows of one among many others do.
func TestShared(t *testing.T) {
	populations := []population{cellsOf(4), cellsOf(24), cellsOf(240), cellsOf(5000), cellsOf(100_000), scores()}
	for i, p := range populations {
		// Other chances of the same records.
		other := populations[max(i-1, 0)]
		for _, q := range []population{p, other} {
			for _, sizes := range [][2]int{{30, 30}, {300, 300}, {2000, 2000}, {20_000, 20_000}, {400, 20_000}, {20_000, 400}} {
				r := rand.New(rand.NewPCG(uint64(i), uint64(sizes[0])<<20+uint64(sizes[1])))
				if Shared(printOf(testKey, fourNames, p.sample(r, sizes[0])), printOf(testKey, fourNames, q.sample(r, sizes[1]))) {
					t.Errorf("%s and %s, %d and %d rows: an alarm", p.name, q.name, sizes[0], sizes[1])
				}
			}
		}
	}
	for _, p := range []population{scores(), hospital()} {
		r := rand.New(rand.NewPCG(9, 9))
		rows := p.sample(r, 3000)
		for _, c := range []struct {
			copied int
			want   bool
		}{{0, false}, {20, false}, {150, true}, {3000, true}} {
			mixed := append(p.sample(r, 1500), rows[:c.copied]...)
			a, b := printOf(testKey, fourNames, rows), printOf(testKey, fourNames, mixed)
			if Shared(a, b) != c.want || Shared(b, a) != c.want {
				t.Errorf("%s: %d rows of 3,000 among 1,500 others: %v, want %v", p.name, c.copied, Shared(a, b), c.want)
			}
		}
		// What Compare leaves alone.
		if v := Compare(printOf(testKey, fourNames, rows), printOf(testKey, fourNames, append(p.sample(r, 1500), rows[:150]...))); v.Likeness != Different {
			t.Errorf("%s: %+v, and the test shows nothing", p.name, v)
		}
	}
}
