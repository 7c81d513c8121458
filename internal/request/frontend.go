package request

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pawl/compute/nn"
	"pawl/internal/usage"
)

// FrontEnds lists the front ends as people write them.
func FrontEnds() string {
	var all []string
	for _, f := range nn.Fronts() {
		all = append(all, f.Forms()...)
	}
	return strings.Join(all, ", ")
}

// FrontEnd reads layers from the command line: one front end, or several in order with
// commas between them.
func FrontEnd(text string) (layers []nn.Layer, err error) {
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
	word, behind, _ := strings.Cut(text, ":")
	for _, f := range nn.Fronts() {
		if f.Word != word {
			continue
		}
		if f.Count {
			k, err := strconv.Atoi(behind)
			if err != nil || k < 1 {
				return nil, usage.New(fmt.Sprintf("front end %q: missing number of components", text), "example: --front-end "+word+":64")
			}
			return f.Layers(k, ""), nil
		}
		if behind == "" && len(f.Choices) == 0 || slices.Contains(f.Choices, behind) {
			return f.Layers(0, behind), nil
		}
	}
	return nil, usage.New(fmt.Sprintf("unknown front end %q", text), "front ends: "+FrontEnds())
}
