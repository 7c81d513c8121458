package identity

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

// wide makes rows like those of a hospital: 17 columns, some of few values, some of many.
func wide(n int) (names []string, rows [][]string) {
	r := rand.New(rand.NewPCG(1, 2))
	for j := range 17 {
		names = append(names, fmt.Sprintf("column_%02d", (j*7)%17))
	}
	words := []string{"Private", "Self-emp-not-inc", "Local-gov", "Never-worked", "HS-grad", "Some-college", "Bachelors"}
	for range n {
		row := make([]string, 17)
		for j := range row {
			switch {
			case j < 5:
				row[j] = words[r.IntN(len(words))]
			case j < 9:
				row[j] = strconv.Itoa(r.IntN(100))
			case j < 13:
				row[j] = strconv.FormatFloat(float64(r.IntN(1e7))/100, 'f', 2, 64)
			case j < 15:
				row[j] = strconv.FormatFloat(r.NormFloat64(), 'g', 8, 64)
			default:
				row[j] = strconv.FormatInt(r.Int64N(1e9), 10)
			}
		}
		rows = append(rows, row)
	}
	return names, rows
}

func BenchmarkAdd(b *testing.B) {
	names, rows := wide(200_000)
	b.ReportAllocs()
	b.ResetTimer()
	p := New([32]byte{1}, names)
	for i := range b.N {
		p.Add(rows[i%len(rows)])
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/row")
	_ = p.Print()
}
