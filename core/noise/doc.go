// Package noise draws the random values that hide one person. All noise of mechanisms comes from
// here, always from an entropy.Source.
//
// Choose the sampler by what is released. Counts, scores and tables of integers take
// AddDiscreteLaplace or AddDiscreteGaussian: both are exact, with no rounding error in their
// distribution (Canonne, Kamath and Steinke, arXiv:2004.00010). Gradients and vectors of reals take
// Gaussian noise (AddGaussian, or Normals if the noise of any step must be accessible) or L2Laplace
// in float64. The set of possible float sums depends on the value to which noise is added (Mironov
// 2012), and reveals it, so every sum is rounded to a public Grid as a whole, noise included,
// before it is released. Grid states what this bounds, and where it is a defence and not a proof.
// Float tails extend as far as the distribution has relevant mass: uniforms have 53 significant
// bits in every binade (entropy.Source.Open01).
//
// A scale is a public parameter computed by an accountant. NaN, infinities and negative scales
// never mean "no noise": float samplers panic, because only a programming error gets one past an
// Event's Validate; the exact samplers return ErrScale, because their upper limit depends on the
// user's bounds.
package noise
