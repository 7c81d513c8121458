//go:build unix

// Epoch times training epochs of 60,000 random examples on the nets of the
// comparison, with and without privacy. It prints one JSON line per case; compare.py
// runs it in turn with plain PyTorch. With -share it prints the share of the processor's
// peak that every network of the zoo reaches.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"pawl/compute/nn"
	"pawl/compute/optim"
	"pawl/compute/zoo"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/schema"
	"pawl/store/memory"
)

func main() {
	name := flag.String("net", "fcn-300-64-10", "network of the zoo")
	batch := flag.Int("batch", 250, "expected lot")
	rows := flag.Int("rows", 6000, "examples of the timed pass")
	length := flag.Int("length", 150, "tokens of a text")
	cpu := flag.Bool("cpu", false, "report seconds of the processors in place of the clock's: the measure on a machine that others use")
	share := flag.Bool("share", false, "print the share of the processor's peak for the networks named, or for every one of the zoo")
	work := flag.Float64("work", 4e9, "operations of a timed pass with -share, about")
	flag.Parse()
	if *share {
		if err := shares(*batch, *work, flag.Args()); err != nil {
			fail(err)
		}
		return
	}
	spec, ok := zoo.Lookup(*name)
	if !ok {
		fail(fmt.Errorf("no network %q", *name))
	}
	net, err := spec.Compile()
	if err != nil {
		fail(err)
	}
	out := map[string]any{"net": *name, "batch": *batch}
	for _, private := range []bool{false, true} {
		seconds, used, _, err := pass(net, spec, *batch, *rows, *length, private)
		if err != nil {
			fail(err)
		}
		if *cpu {
			seconds = used
		}
		key := "plain"
		if private {
			key = "private"
		}
		out[key] = seconds * 60000 / float64(*rows)
	}
	_ = json.NewEncoder(os.Stdout).Encode(out)
}

// pass trains one epoch after a step of warm-up and returns its seconds, by the clock
// and of all processors together, and the examples in it on average.
func pass(net *nn.Net, spec zoo.Spec, batch, rows, length int, private bool) (seconds, cpu float64, examples int, err error) {
	s := &schema.Schema{Version: 1, Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1},
		Columns: []schema.Column{{Name: "y", Type: schema.Categorical, Categories: strings.Split("0123456789", "")[:spec.Outputs]}}}
	b := intake.NewBuilder(intake.SimulationKey("random", 1), s)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		input := example(net, spec, length, rng)
		if err := b.AddFloats([]float64{float64(i % spec.Outputs)}, input, schema.Record{}); err != nil {
			return 0, 0, 0, err
		}
	}
	sealed := b.Seal()
	steps := rows/batch + 1
	params := net.Init(rng)
	step := &optim.SGD{LearningRate: 0.01}
	var started time.Time
	var used float64
	t := gradient.Training{
		Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 1, NoiseMultiplier: 1, Steps: steps, SamplingRate: float64(batch) / float64(rows)},
		Clipping: gradient.Flat, Network: net, Target: func(c []float64) float64 { return c[0] }, ExpectedRows: float64(rows),
		Microbatch: min(batch, 256), Multiplicity: 1,
		Update: func(i int, p, g []float32) {
			step.Step(p, g)
			if i == 0 {
				started, used = time.Now(), processors() // the first step warms up
			}
		},
	}
	ctx, seed := context.Background(), uint64(1)
	if !private {
		t.Clipping = gradient.Unclipped
		err = gradient.TrainPublic(ctx, sealed, t, params, entropy.Seeded(seed))
		return time.Since(started).Seconds(), processors() - used, (steps - 1) * batch, err
	}
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "bench"})
	permit, _, err := l.Reserve(ctx, ledger.Request{Dataset: "random", Plan: "p", Event: t.Event(), Relation: dp.AddOrRemoveOne, Unit: "row",
		RowsPerUnit: 1, Epsilon: "1", Delta: "1e-5", Public: true, Digest: []byte(strings.Repeat("x", 32)), Seed: &seed})
	if err != nil {
		return 0, 0, 0, err
	}
	err = gradient.Train(ctx, permit, sealed, t, params)
	return time.Since(started).Seconds(), processors() - used, (steps - 1) * batch, err
}

// example is one of random numbers, or of random tokens.
func example(net *nn.Net, spec zoo.Spec, length int, rng *rand.Rand) []float32 {
	input := make([]float32, net.Inputs())
	vocabulary := spec.Network.Layers[0].Vocabulary
	for j := range input {
		input[j] = rng.Float32()
		if vocabulary > 0 {
			input[j] = float32(rng.IntN(vocabulary))
		}
	}
	if vocabulary > 0 {
		input[0] = float32(length)
	}
	return input
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// processors is the time that all processors gave to this process so far.
func processors() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fail(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "epoch:", err)
	os.Exit(1)
}
