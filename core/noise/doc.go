// Package noise draws the random values that hide one person: the only place
// where a mechanism gets its noise, always from an entropy.Source.
//
// Choose the sampler by what is released. Counts, scores and tables of integers
// take DiscreteLaplace or DiscreteGaussian: both are exact, no rounding error
// touches their distribution (Canonne, Kamath and Steinke, arXiv:2004.00010).
// Gradients and vectors of reals take Gaussian or L2Laplace in float64. Those are
// not proven at the last bit: the set of reachable floats depends on the value to
// which noise is added (Mironov 2012), a residual risk that mechanisms state. All
// float tails reach as far as the distribution has mass that matters: uniforms
// come with 53 significant bits in every binade (entropy.Source.Open01).
//
// A scale is a public parameter computed by an accountant. NaN, infinities and
// negative scales never become "no noise": float samplers panic, because only a
// programming mistake can bring one here past an Event's Validate; the exact
// samplers return ErrScale, because their upper limit depends on user's bounds.
package noise
