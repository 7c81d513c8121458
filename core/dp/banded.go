package dp

// MaxBands is the largest number of coefficients of a Banded.
const MaxBands = 256

// Rounds is what a Banded costs: as much as ⌈Steps/Groups⌉ sampled Gaussian releases.
//
// # Statement
//
// Let Δ bound the L2 norm of what one neighbouring change adds to or takes from a single sum,
// whatever the releases before. Under AddOrRemoveOne and ZeroOut, for every pair of
// neighbours, the outputs of a Banded are dominated by those of K = ⌈Steps/Groups⌉ adaptive
// uses of PoissonSampled{Rate, Gaussian{NoiseMultiplier}}; for Steps a multiple of Groups there
// are neighbours for which both are the same. Under ReplaceOne they are dominated by K uses of
// Gaussian{NoiseMultiplier} with noise relative to 2Δ, without amplification.
//
// # Argument
//
// Write x_t for the sum of step t, C for the lower-triangular Toeplitz matrix with
// C[t,s] = c_(t−s) for 0 <= t−s < b, and s = NoiseMultiplier·Δ·‖c‖. Step t releases
// o_t = x_t + s·y_t with Cy = z.
//
//  1. The releases o_0, …, o_t and the numbers v_0, …, v_t with v = Co are functions of each other:
//     C is triangular with c_0 > 0. And v_t = (Cx)_t + s·z_t. So the run may be read as one
//     that releases v, in which x_t is a function of v_0, …, v_(t−1), the data and the lots.
//
//  2. Let u be the unit that comes, g its group, which no other unit influences; all others keep
//     theirs. Give all other lots away: fix who else joins which step. (A mixture over what
//     does not depend on u is dominated by what dominates every part: joint convexity.) Without
//     u, the mean of v_t given the v before it is some m_t(v_0, …, v_(t−1)).
//
//  3. u adds w_k to x at steps t_k = g + k·Groups, if it joins, k = 0, …, K_g − 1, and nothing to
//     any other: ‖w_k‖ <= Δ, and w_k is a function of v_0, …, v_(t_k−1). In v it adds C[t, t_k]·w_k
//     to rows t_k <= t < t_k + b. Because b <= Groups, these blocks of rows do not overlap, and
//     all rows before a block are rows before t_k.
//
//  4. Take block k, given all rows before it. Without u its rows are m_t + s·z_t. With u they are, with
//     chance Rate, m_t + C[t, t_k]·w_k + s·z_t, for all rows of the block alike, and else as
//     without u, independently of the other blocks. m_t is the same function of the rows before in
//     either case, so r_t = v_t − m_t is known to whoever sees v, and the ratio of the densities of
//     the block is
//
//     1 − Rate + Rate·exp((⟨a, r⟩ − ‖a‖²/2)/s²),   a = (C[t, t_k]·w_k)_t,
//
//     where r ~ N(0, s²) without u. It depends on r by ⟨a, r⟩ alone, which is N(0, (s‖a‖)²): the block
//     is one Poisson-sampled Gaussian of shift ‖a‖ = ‖w_k‖·‖C[·, t_k]‖ <= Δ·‖c‖, i.e. of a
//     multiplier of at least s/(Δ‖c‖) = NoiseMultiplier; less shift is less (it is the larger
//     one with noise added to it). Rows outside of u's blocks have the same law given those before.
//
//  5. The blocks compose adaptively, K_g <= ⌈Steps/Groups⌉ of them, most for group 0. A last
//     column that is cut off at Steps is shorter, never longer.
//
//  6. Under ReplaceOne, u leaves and u' enters, perhaps in another group, so their blocks may
//     overlap. Take u away and then add u': with noise relative to 2Δ each change is K
//     unsampled Gaussians of multiplier 2·NoiseMultiplier, hence μ-GDP with μ = √K/(2·NoiseMultiplier), and
//     the two together 2μ-GDP (group privacy; Dong, Roth and Su, arXiv:1905.02383, Theorem
//     2.14), which is K Gaussians of NoiseMultiplier. Amplification is given away: lots are secret, and
//     a run with known lots costs no less.
//
// A unit of several rows joins with all of them, so w_k is the sum of its rows' parts. Where Rate is 1
// (fixed passes: a group is a lot) nothing is secret about the lots and nothing is
// amplified. Optimal coefficients, or any others, have the same price: they are public and ‖c‖ is
// divided out.
func (e Banded) Rounds() Repeat {
	g := Gaussian{NoiseMultiplier: e.NoiseMultiplier}
	r := Repeat{Count: (e.Steps + int64(e.Groups) - 1) / int64(e.Groups), Event: g}
	if e.Rate < 1 {
		r.Event = PoissonSampled{Rate: e.Rate, Event: g}
	}
	return r
}

// Whole reports whether some neighbours attain the price: the last round is not cut off.
func (e Banded) Whole() bool { return e.Steps%int64(e.Groups) == 0 }
