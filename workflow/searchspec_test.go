package workflow

import (
	"testing"

	"pawl/compute/nn"
	"pawl/search"
	"pawl/search/space"
)

// Whatever changes what a trial computes or draws is another study with another key: under
// one key, two networks would be trained with the same noise and charged once, and scores
// that a seed made would choose the winner of a private search.
func TestSpecTellsComputationsApart(t *testing.T) {
	env := Env{Digest: []byte{1}}
	spec := func(change func(*NetSearchInput)) (spec, digest string) {
		in := huntInput(t, false, search.PS)
		if change != nil {
			change(&in)
		}
		plan, err := NewNetSearchPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Spec(env), plan.digest(env.Digest)
	}
	rebuilt := func(change func(*Candidate)) func(*NetSearchInput) {
		return func(in *NetSearchInput) {
			build := in.Build
			in.Build = func(p space.Point) (Candidate, error) {
				c, err := build(p)
				change(&c)
				return c, err
			}
		}
	}
	first, firstDigest := spec(nil)
	if again, _ := spec(nil); again != first {
		t.Fatal("the same search has another name")
	}
	for name, change := range map[string]func(*NetSearchInput){
		"another network": rebuilt(func(c *Candidate) {
			c.Layers.Layers = append(c.Layers.Layers[:2:2], nn.Layer{Kind: "relu"}, c.Layers.Layers[3])
		}),
		"another radius":   rebuilt(func(c *Candidate) { c.Radius = 5 }),
		"another strategy": func(in *NetSearchInput) { in.Strategy.Mean++ },
		"another batch":    func(in *NetSearchInput) { in.Batch = 17 },
	} {
		if got, digest := spec(change); got == first || digest == firstDigest {
			t.Errorf("%s has the name of the first search", name)
		}
	}
	env.Software = "another program"
	if got, _ := spec(nil); got == first {
		t.Error("another program goes on with the same study")
	}
	env.Software = ""
	for name, change := range map[string]func(*NetSearchInput){
		"another seed": func(in *NetSearchInput) { seed := uint64(6); in.Seed = &seed },
		"no seed":      func(in *NetSearchInput) { in.Seed = nil },
	} {
		if got, _ := spec(change); got == first {
			t.Errorf("%s has the name of the first search", name)
		}
	}
}
