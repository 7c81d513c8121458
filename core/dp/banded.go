package dp

// MaxBands is the largest number of coefficients of a Banded.
const MaxBands = 256

// Rounds returns the cost of a Banded: that of ⌈Steps/Groups⌉ sampled Gaussian releases.
//
// # Statement
//
// Let Δ bound the L2 norm of what one neighbouring change adds to or removes from a single sum,
// whatever the earlier releases. Under AddOrRemoveOne and ZeroOut, for every pair of neighbours,
// the outputs of a Banded are dominated by those of K = ⌈Steps/Groups⌉ adaptive uses of
// PoissonSampled{Rate, Gaussian{NoiseMultiplier}}; if Steps is a multiple of Groups, both are the
// same for some neighbours. Under ReplaceOne they are dominated by K uses of
// Gaussian{NoiseMultiplier} with noise relative to 2Δ, without amplification.
//
// # Argument
//
// Write x_t for the sum of step t, C for the lower-triangular Toeplitz matrix with
// C[t,s] = c_(t−s) for 0 <= t−s < b, and s = NoiseMultiplier·Δ·‖c‖. Step t releases
// o_t = x_t + s·y_t with Cy = z.
//
//  1. The releases o_0, …, o_t and the numbers v_0, …, v_t with v = Co are functions of each other:
//     C is triangular with c_0 > 0. And v_t = (Cx)_t + s·z_t. So we may treat the run as one that releases v, in
//     which x_t is a function of v_0, …, v_(t−1), the data and the lots.
//
//  2. Let u be the added unit and g its group, which no other unit influences; all others keep theirs. Reveal all
//     other lots: fix which other units join which step. (By joint convexity, whatever dominates every part also
//     dominates a mixture over what does not depend on u.) Without
//     u, the mean of v_t given the v before it is some m_t(v_0, …, v_(t−1)).
//
//  3. u adds w_k to x at steps t_k = g + k·Groups, if it joins, k = 0, …, K_g − 1, and nothing to
//     any other: ‖w_k‖ <= Δ, and w_k is a function of v_0, …, v_(t_k−1). In v it adds C[t, t_k]·w_k
//     to rows t_k <= t < t_k + b. Because b <= Groups, these blocks of rows do not overlap, and
//     all rows before a block are rows before t_k.
//
//  4. Take block k, given all rows before it. Without u its rows are m_t + s·z_t. With u, all rows of the block
//     together are, with probability Rate, m_t + C[t, t_k]·w_k + s·z_t, and otherwise as without u, independently of
//     the other blocks. m_t is the same function of the earlier rows in either case, so r_t = v_t − m_t is known to
//     anybody who sees v, and the ratio of the densities of the block is
//
//     1 − Rate + Rate·exp((⟨a, r⟩ − ‖a‖²/2)/s²),   a = (C[t, t_k]·w_k)_t,
//
//     where r ~ N(0, s²) without u. It depends on r only through ⟨a, r⟩, which is N(0, (s‖a‖)²): the block
//     is one Poisson-sampled Gaussian of shift ‖a‖ = ‖w_k‖·‖C[·, t_k]‖ <= Δ·‖c‖, i.e. of a
//     multiplier of at least s/(Δ‖c‖) = NoiseMultiplier; a smaller shift costs less (it is the larger one with noise
//     added). Rows outside u's blocks have the same distribution given those before.
//
//  5. The blocks compose adaptively, K_g <= ⌈Steps/Groups⌉ of them, most for group 0. A last column that is cut off
//     at Steps has a smaller norm, never a larger one.
//
//  6. Under ReplaceOne, u is replaced by u', perhaps in another group, so their blocks may overlap. Remove u and then
//     add u': with noise relative to 2Δ each change is K
//     unsampled Gaussians of multiplier 2·NoiseMultiplier, hence μ-GDP with μ = √K/(2·NoiseMultiplier), and
//     the two together 2μ-GDP (group privacy; Dong, Roth and Su, arXiv:1905.02383, Theorem
//     2.14), which is K Gaussians of NoiseMultiplier. This forgoes amplification: lots are secret, and a run with
//     known lots costs no less.
//
// A unit of several rows joins with all of them, so w_k is the sum of its rows' parts. If Rate is 1
// (fixed passes: a group is a lot), the lots are not secret and sampling amplifies nothing. The price
// does not depend on the coefficients: they are public and ‖c‖ is divided out.
func (e Banded) Rounds() Repeat {
	g := Gaussian{NoiseMultiplier: e.NoiseMultiplier}
	r := Repeat{Count: e.Steps / int64(e.Groups), Event: g}
	if !e.Whole() { // Steps + Groups may be no int64
		r.Count++
	}
	if e.Rate < 1 {
		r.Event = PoissonSampled{Rate: e.Rate, Event: g}
	}
	return r
}

// Whole reports whether some neighbours attain the price, because the last round is not cut off.
func (e Banded) Whole() bool { return e.Steps%int64(e.Groups) == 0 }
