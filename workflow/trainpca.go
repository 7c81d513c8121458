package workflow

import (
	"pawl/data/images"
)

// Principal components as published: fitted on the raw training rows, which nobody
// pays for. A replay on public data may have them; what it claims is no guarantee.

func (n *training) checkPublished() error {
	_, k := n.whole.Components()
	switch {
	case k == 0 && n.AsPublished:
		return usage("leave out --as-published", "nothing in this training run uses rows without charge")
	case k == 0:
		return nil
	case !n.AsPublished:
		return usage("dp-pca:K charges for its components, dct:K uses no row; on public data --as-published runs the published procedure",
			"principal components are fitted on the rows and not paid for")
	case !n.Public:
		return usage("use --front-end dp-pca:K, or dct:K", "principal components as published use rows without charge; they are for public data only")
	case n.Test == HeldOut:
		return usage("use a public data set with a test set", "components fitted on all images would depend on the held-out images")
	}
	return nil
}

// FitComponents looks at the images and sets the net's principal components, where it
// has any.
func (plan *Plan) FitComponents(set *images.Set) error {
	n := plan.sealing()
	d, k := n.whole.Components()
	if k == 0 {
		return nil
	}
	if set.Size() != d || set.Len() == 0 {
		return usage("choose a model for this size", "images of %d numbers for a network that takes %s", set.Size(), n.whole.Input())
	}
	c, err := images.PrincipalComponents(set, k)
	if err != nil {
		return usage("use --front-end dct:K", "%v", err)
	}
	return n.whole.SetComponents(c.Mean, c.Vectors)
}
