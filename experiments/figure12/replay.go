// Package figure12 replays Fig. 12: what width and what depth cost under privacy.
package figure12

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/curves"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "figure-12", Title: "What width and depth cost under privacy (Fashion-MNIST in place of SVHN)",
		Source: "Bao, Bauer and Bindschaedler, Fig. 12", Data: []string{"fashion-mnist"}, Quick: 160, Run: run,
	}
}

const inputs = 300

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	s := &curves.Study{
		Run: r, Epsilons: []float64{2.58}, // Table I's for these nets on SVHN
		Seeds: experiments.Pick(r.Scale, 2, 3, 10), Batch: experiments.Pick(r.Scale, 60, 1000, 250), Epochs: experiments.Pick(r.Scale, 1., 4., 200.),
	}
	var err error
	if s.Data, err = lab.OpenImages("fashion-mnist", r.DataDir, experiments.Pick(r.Scale, 120, 20000, 42000), experiments.Pick(r.Scale, 60, 10000, 10000)); err != nil {
		return nil, err
	}
	widths := sizes("width %d", experiments.Pick(r.Scale, []int{4, 64}, []int{4, 16, 64, 256, 1024}, []int{4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048}), func(n int) []int { return []int{n} })
	depths := sizes("depth %d of 128", experiments.Pick(r.Scale, []int{1, 3}, []int{1, 2, 4, 8, 12}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), func(n int) []int { return slices.Repeat([]int{128}, n) })
	wide, err := s.Sweep(ctx, widths)
	if err != nil {
		return nil, err
	}
	deep, err := s.Sweep(ctx, depths)
	if err != nil {
		return nil, err
	}
	t := &experiments.Table{Unit: "% of test images", Rows: append(s.SweepRows(widths, wide), s.SweepRows(depths, deep)...)}
	t.Claims = []experiments.Claim{
		curves.Falls("with privacy accuracy falls beyond some width", wide.Published, 0),
		curves.Falls("with privacy depth costs much (we ask for five points)", deep.Published, 5),
		modest("the fall with width is modest beside that with depth", wide.Published, deep.Published),
		modest("so it is as the library trains them (our question)", wide.Honest, deep.Honest),
	}
	t.Notes = append([]string{s.Note(), "SVHN could not be had: Fashion-MNIST stands in, 300 frequencies of a cosine transform for its 300 principal components; the paper's curves have no numbers in our copy"}, curves.Notes[:2]...)
	return t, nil
}

func sizes(name string, all []int, hidden func(int) []int) (out []curves.Size) {
	for _, n := range all {
		h := hidden(n)
		words := fmt.Sprintf(name, n)
		out = append(out, curves.Size{Name: words, Parameters: curves.Parameters(inputs, 10, h...), Model: curves.Model{Name: words, Net: curves.Hidden(inputs, 10, h...), Rates: []float64{.5, 2}}})
	}
	return out
}

// modest claims that the largest of one sweep is less below its best than that of another.
func modest(statement string, wide, deep [][]float64) experiments.Claim {
	fall := func(v [][]float64) float64 {
		return stat.Mean(v[curves.Best(v)], nil) - stat.Mean(v[len(v)-1], nil)
	}
	w, d := fall(wide), fall(deep)
	c := experiments.Claim{Statement: statement, Verdict: experiments.Not, Evidence: fmt.Sprintf("the widest is %.1f points below the best width, the deepest %.1f below the best depth", w, d)}
	switch {
	case d > 2*w && d > 1:
		c.Verdict = experiments.Reproduced
	case d > w:
		c.Verdict = experiments.SameSign
	}
	return c
}
