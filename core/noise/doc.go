// Package noise draws the random values that hide one person: the only place
// where a mechanism gets its noise, always from an entropy.Source.
//
// Choose the sampler by what is released. Counts, scores and tables of integers
// take DiscreteLaplace or DiscreteGaussian: both are exact, no rounding error
// touches their distribution (Canonne, Kamath and Steinke, arXiv:2004.00010).
// Gradients and vectors of reals take Gaussian (AddGaussian, or Normals where any step's
// noise must be at hand) or L2Laplace in float64. The set of floats that such a sum can be
// depends on the value to which noise is added (Mironov 2012), and tells it: no
// sum leaves before it was rounded to a public Grid as a whole, noise included. Grid says
// what that bounds, and where it is a defence and no proof. All
// float tails reach as far as the distribution has mass that matters: uniforms
// come with 53 significant bits in every binade (entropy.Source.Open01).
//
// A scale is a public parameter computed by an accountant. NaN, infinities and
// negative scales never become "no noise": float samplers panic, because only a
// programming mistake can bring one here past an Event's Validate; the exact
// samplers return ErrScale, because their upper limit depends on user's bounds.
package noise
