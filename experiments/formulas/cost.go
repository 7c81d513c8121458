package formulas

// Errors are the generalization errors of one architecture, trained with privacy
// at some (ε, δ) and without.
type Errors struct{ Private, Plain float64 }

// Cost is the cost of privacy
//
//	cost(ε, h) = err_ε(h) − err(h)
//
// ([B] Eq. (2)). It can be negative: noise and clipping regularize.
func (e Errors) Cost() float64 { return e.Private - e.Plain }

// SimplerWins is the comparison rule of [B] Eq. (4) for a simple model h1 and a
// complex model h2:
//
//	cost(ε, h1) < cost(ε, h2) − [err(h1) − err(h2)].
//
// The plain errors cancel, so it says err_ε(h1) < err_ε(h2) and is computed as
// that: the difference form can turn an equality by rounding. Ties and NaN go to h2.
func SimplerWins(h1, h2 Errors) bool { return h1.Private < h2.Private }
