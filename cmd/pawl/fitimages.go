package main

import (
	"fmt"
	"os"
	"strings"

	"pawl/dataset"
)

// isImages says whether DATA is a built-in set of images. A table of that name in
// the working directory comes first, as it does for every built-in name.
func isImages(data string) bool {
	_, ok := dataset.Images(data)
	info, err := os.Stat(data)
	return ok && (err != nil || info.IsDir())
}

// training is the fit of images: features and model name a network, and the numbers
// of its training follow from public facts.
func (f *fitFlags) training() (*trainFlags, error) {
	t := &trainFlags{
		epsilon: f.epsilon, delta: f.delta, accountant: f.accountant, preset: f.preset, seed: f.seed, out: f.out,
		target: f.target, updated: f.updated, allowLargeDelta: f.allowLargeDelta,
	}
	trainDefaults(t)
	if f.epsilon == "" {
		return nil, &usageError{"no epsilon: say how much privacy the job may cost", "example: --epsilon 1"}
	}
	for _, c := range []struct {
		given bool
		flag  string
	}{{f.schema != "", "--schema"}, {f.test != "", "--test"}, {f.search, "--search"}, {f.scoreBy != "", "--score-by"}, {f.workflow == "stw", "--workflow stw"}, {f.badRows != "refuse", "--bad-rows"}} {
		if c.given {
			return nil, &usageError{c.flag + " is for tables, and these are images", "leave it out; pawl train has the flags of networks"}
		}
	}
	linear := f.model == "auto" || f.model == "linear"
	switch {
	case (f.features == "auto" || f.features == "scatter" || f.features == "") && linear:
		t.model = "scatter-linear"
	case f.features == "all" && linear:
		t.model = "logistic"
	case f.features == "auto" || f.features == "all" || f.features == "":
		t.model = f.model
	case f.features == "scatter":
		return nil, &usageError{fmt.Sprintf("features scatter go with a linear model, and %q takes pixels", f.model), "--model linear, or leave out --features"}
	case strings.HasPrefix(f.features, "pca:"):
		return nil, &usageError{"features " + f.features + " would be fitted on the rows", "scatter needs no look at them; pawl train --front-end pca:K --as-published replays the published procedure"}
	default:
		return nil, &usageError{fmt.Sprintf("features %q: images have scatter or all (the pixels)", f.features), "--features scatter"}
	}
	return t, nil
}
