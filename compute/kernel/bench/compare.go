//go:build ignore

// Compare times MatMul against OpenBLAS at the products of one training step,
// alternating on each shape; see README.md.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"golang.org/x/sys/unix"
	"os"
	"os/exec"
	"slices"
	"strings"

	"pawl/compute/kernel"
)

type shape struct {
	name           string
	transA, transB bool
	m, n, k        int
}

// layers are linear maps in → out at positions per example; the first of a
// network needs no input gradient.
var networks = []struct {
	name   string
	layers [][3]int // positions, in, out
}{
	{"FCN300", [][3]int{{1, 300, 64}, {1, 64, 10}}},
	{"FCN784", [][3]int{{1, 784, 1024}, {1, 1024, 512}, {1, 512, 64}, {1, 64, 10}}},
	{"CNN", [][3]int{{196, 64, 16}, {25, 256, 32}, {1, 512, 32}, {1, 32, 10}}},
	{"CIFAR", [][3]int{{1024, 27, 32}, {256, 288, 64}, {64, 576, 128}, {16, 1152, 256}, {1, 1024, 32}, {1, 32, 10}}},
}

func shapes(batch int, largest float64) []shape {
	var all []shape
	for _, net := range networks {
		for i, l := range net.layers {
			rows := batch * l[0]
			if 2*float64(rows)*float64(l[1])*float64(l[2]) > largest {
				continue
			}
			name := fmt.Sprintf("%s.%d/%d", net.name, i+1, batch)
			all = append(all, shape{name, false, false, rows, l[2], l[1]}, shape{name, true, false, l[1], l[2], rows})
			if i > 0 {
				all = append(all, shape{name, false, true, rows, l[1], l[2]})
			}
		}
	}
	return all
}

func letter(t bool) string {
	if t {
		return "T"
	}
	return "N"
}

func matrix(rows, cols int, transposed bool) kernel.Matrix {
	data := make([]float32, rows*cols)
	s := uint32(1)
	for i := range data {
		s = s*1664525 + 1013904223
		data[i] = float32(s)/(1<<32) - 0.5
	}
	if transposed {
		return kernel.Dense(data, cols, rows).T()
	}
	return kernel.Dense(data, rows, cols)
}

func ours(s shape, packed bool) float64 {
	a, b, c := matrix(s.m, s.k, s.transA), matrix(s.k, s.n, s.transB), matrix(s.m, s.n, false)
	calls := 1 + int(4e6/(2*float64(s.m)*float64(s.n)*float64(s.k)/60))
	var p *kernel.Packed
	if packed && !s.transA { // the right factor is a weight matrix, packed once a step
		p = kernel.Pack(b)
	}
	var took []float64
	for r := range 10 {
		start := processorTime()
		for range calls {
			if p != nil {
				kernel.MatMulPacked(c, a, p, false)
			} else {
				kernel.MatMul(c, a, b, false)
			}
		}
		if r > 0 {
			took = append(took, (processorTime()-start)/float64(calls))
		}
	}
	return median(took)
}

// processorTime is in nanoseconds: other work may share the machine.
func processorTime() float64 {
	var t unix.Timespec
	fail(unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return float64(t.Nano())
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func main() {
	batches := flag.String("batches", "125,250,500,1000", "batch sizes")
	rounds := flag.Int("rounds", 3, "alternations for each shape; the median ratio counts")
	largest := flag.Float64("largest", 2e9, "leave out products of more operations than this")
	packed := flag.Bool("packed", false, "take weight matrices packed once, as a training step does")
	only := flag.String("only", "", "run shapes whose name begins so")
	flag.Parse()
	theirs := exec.Command(flag.Arg(0))
	in, err := theirs.StdinPipe()
	fail(err)
	out, err := theirs.StdoutPipe()
	fail(err)
	fail(theirs.Start())
	lines := bufio.NewScanner(out)
	lines.Scan()
	fmt.Printf("kernel %s; OpenBLAS %s\n", kernel.Name(), lines.Text())
	fmt.Printf("%-16s %-4s %7s %5s %7s %10s %10s %6s\n", "layer/batch", "op", "m", "n", "k", "OpenBLAS", "ours", "ratio")
	worst := map[string][]float64{}
	for _, b := range strings.Split(*batches, ",") {
		var batch int
		_, err := fmt.Sscan(b, &batch)
		fail(err)
		for _, s := range shapes(batch, *largest) {
			if !strings.HasPrefix(s.name, *only) {
				continue
			}
			op := letter(s.transA) + letter(s.transB)
			var x, y, ratio []float64
			for range *rounds {
				fmt.Fprintf(in, "%s %s %s %d %d %d\n", s.name, letter(s.transA), letter(s.transB), s.m, s.n, s.k)
				lines.Scan()
				var ns float64
				_, err := fmt.Sscan(lines.Text(), &ns)
				fail(err)
				mine := ours(s, *packed)
				x, y, ratio = append(x, ns), append(y, mine), append(ratio, ns/mine)
			}
			work := 2 * float64(s.m) * float64(s.n) * float64(s.k)
			r := median(ratio)
			worst[op] = append(worst[op], r)
			fmt.Printf("%-16s %-4s %7d %5d %7d %8.1f G %8.1f G %6.2f\n", s.name, op, s.m, s.n, s.k, work/median(x), work/median(y), r)
		}
	}
	for _, op := range []string{"NN", "TN", "NT"} {
		if w := worst[op]; len(w) > 0 {
			fmt.Printf("%s: %d shapes, lowest ratio %.2f, median %.2f\n", op, len(w), slices.Min(w), median(w))
		}
	}
	fail(in.Close())
	fail(theirs.Wait())
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}
