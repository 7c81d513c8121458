//go:build unix

package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"pawl/compute/kernel"
	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/core/gradient"
)

// shares prints, for the networks named, or for all of the zoo that train, which share of the multiply-adds that the processors
// could have made are products of the network: forward, of weight gradients, and of input gradients behind the first
// layer that trains. Everything else, such as norms, noise, activations and patches, counts as time and not as work.
func shares(batch int, most float64, names []string) error {
	top, err := peak(1)
	if err != nil {
		return err
	}
	both, err := peak(2) // as many as a step has workers
	if err != nil {
		return err
	}
	fmt.Printf("kernel %s, peak %.0f GFLOP/s of one processor, %.0f each of two at once, batch %d; shares of the peak of one, by processor time\n",
		kernel.Name(), top/1e9, both/1e9, batch)
	fmt.Printf("%-28s %12s %12s %9s %9s\n", "net", "parameters", "MFLOP/row", "plain", "private")
	for _, spec := range zoo.List() {
		if len(names) > 0 && !slices.Contains(names, spec.Name) {
			continue
		}
		net, err := spec.Compile()
		if errors.Is(err, zoo.ErrNoShape) || err == nil && net.PerExample() != nil {
			continue // the data decide its shape, or it mixes examples
		}
		if err != nil {
			return err
		}
		work := flops(net, spec)
		if work == 0 {
			continue
		}
		rows := int(min(max(most/work, 2*float64(batch)), 60_000))
		var share [2]float64
		for i, private := range []bool{false, true} {
			var runs []float64
			for range 3 {
				_, used, done, err := pass(net, spec, batch, rows, 20, private)
				if err != nil {
					return err
				}
				runs = append(runs, work*float64(done)/used/top)
			}
			share[i] = median(runs)
		}
		fmt.Printf("%-28s %12d %12.2f %8.0f%% %8.0f%%\n", spec.Name, spec.Trainable, work/1e6, 100*share[0], 100*share[1])
	}
	return nil
}

// flops are the operations of one training step for one example, a multiply-add counted as two.
func flops(net *nn.Net, spec zoo.Spec) float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	all, first, at := 0.0, 0.0, math.MaxInt
	net.Backprop(0, net.Init(rng), example(net, spec, 20, rng), []float32{0}, []uint64{1}, func(t gradient.Trace) {
		if t.Diagonal || t.Index != nil {
			return
		}
		products := float64(len(t.G)/t.N) * float64(t.M) * float64(t.N)
		if all += products; t.Offset < at {
			first, at = 0, t.Offset
		}
		if t.Offset == at {
			first += products
		}
	})
	return 6*all - 2*first
}

// peak is how many operations a second of processor time make cores that only multiply and add, so many at once, in
// vectors of the width of the kernel in use: the best of five runs. Where two processors are two threads of one core, two
// at once make half as many a second each.
func peak(threads int) (float64, error) {
	run, operations := fma(kernel.Name())
	if run == nil {
		return 0, fmt.Errorf("the peak of kernel %s on %s is not known: the loop is written for amd64 with AVX2 or AVX-512", kernel.Name(), runtime.GOARCH)
	}
	best := 0.0
	for range 5 {
		const rounds = 40_000_000 // a fifth of a second: the time of a thread that runs elsewhere is known to some milliseconds
		from := processors()
		kernel.Parallel(threads, threads, func(int) { run(rounds) })
		best = max(best, float64(threads)*rounds*operations/(processors()-from))
	}
	return best, nil
}
