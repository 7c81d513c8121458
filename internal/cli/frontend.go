package cli

import (
	"fmt"
	"strconv"
	"strings"

	"pawl/compute/nn"
)

const frontEnds = "dct:K, random:K, pool:max, pool:mean, scatter, standardize, normalize, centre, dp-pca:K, pca:K"

// randomSeed is the seed of random:K: any public number would do, and this one stays the
// same.
const randomSeed = 1

// frontEnd reads layers from the command line: one front end, or several in order with
// commas between them.
func frontEnd(text string) (layers []nn.Layer, err error) {
	for _, one := range strings.Split(text, ",") {
		more, err := oneFrontEnd(strings.TrimSpace(one))
		if err != nil {
			return nil, err
		}
		layers = append(layers, more...)
	}
	return layers, nil
}

func oneFrontEnd(text string) ([]nn.Layer, error) {
	kind, number, _ := strings.Cut(text, ":")
	switch kind {
	case "dct", "pca", "random", "dp-pca":
		k, err := strconv.Atoi(number)
		if err != nil || k < 1 {
			return nil, &usageError{fmt.Sprintf("front end %q: how many numbers?", text), "example: --front-end " + kind + ":64"}
		}
		switch kind {
		case "random":
			// Rows of one norm on both sides: the step rule counts on it.
			return []nn.Layer{{Kind: "standardize"}, {Kind: kind, Coefficients: k, Seed: randomSeed}, {Kind: "standardize"}}, nil
		case "dp-pca":
			return []nn.Layer{{Kind: "normalize"}, {Kind: "dp_pca", Coefficients: k}}, nil
		}
		return []nn.Layer{{Kind: kind, Coefficients: k}}, nil
	case "pool":
		if number == "max" || number == "mean" {
			return []nn.Layer{{Kind: "pool2x2", Mode: number}}, nil
		}
	case "scatter", "standardize", "normalize", "centre":
		if number == "" {
			return []nn.Layer{{Kind: kind}}, nil
		}
	}
	return nil, &usageError{fmt.Sprintf("unknown front end %q", text), "front ends: " + frontEnds}
}
