package gradient

// Trace is one use of a linear map by a microbatch of n examples. For example i
// it holds T rows of A (what the weight multiplied, T×M) and of G (the gradient of
// example i's own loss at the map's output, T×N), so that
//
//	∂loss_i/∂W = A_iᵀ G_i    (M×N)    and, with a bias,    ∂loss_i/∂b = Σ_t G_i,t
//
// Dense layers have T = 1; a convolution has one row per output position and A is
// its im2col; an embedding has one-hot rows. Layers hand out traces and never
// clip, sum over examples or draw noise.
type Trace struct {
	// Offset is the position of W (M×N, row-major) in the flat vector of trainable
	// parameters; the bias (N numbers) follows W when Bias is set.
	Offset int
	// T, M and N are positions per example, inputs and outputs of the map.
	T, M, N int
	Bias    bool
	// A is (n·T)×M and G (n·T)×N, row-major, rows of one example together. They stay
	// valid until the next call of Backprop on the same worker; core scales rows of
	// G in place and clears rows of both, so no two traces share a G.
	A, G []float32
}

// size is the number of parameters of the map.
func (t *Trace) size() int {
	if t.Bias {
		return t.M*t.N + t.N
	}
	return t.M * t.N
}

// Network is a model whose loss is a sum over examples and whose trainable
// parameters are all used through linear maps.
//
// Implementations keep one set of buffers per worker; Backprop may run
// concurrently for different workers.
type Network interface {
	// Parameters is the length of the flat vector of trainable parameters.
	Parameters() int
	// Inputs is the length of one example's input.
	Inputs() int
	// Backprop runs a microbatch forward and backward: inputs is n×Inputs(),
	// targets has n class indices or values. It calls record once for each use of a
	// trainable map, with gradients of each example's own loss (not of a mean), in
	// an order that is the same for every call. Weights that are used twice stack
	// their rows into one trace; two traces on one parameter are refused. seeds holds
	// one number per example for data-free randomness such as dropout masks. What
	// a trace holds of an example must be a function of params and of its input,
	// target and seed alone.
	Backprop(worker int, params, inputs, targets []float32, seeds []uint64, record func(Trace))
}
