package nn

// recurrent is what lstm and gru have in common: sequences x (rows×e) of length steps
// at most become states of h numbers, of which they hand on
//
//	last      the state after the last step, y (n×h)
//	mean      the mean of the states, y (n×h)
//	sequence  all of them, y (rows×h)
//
// States start at zero; a sequence without steps gives zeros.
//
// Steps run one after another, each for all examples that have it. They are taken in
// the order of falling length, so that these are the first active[t] rows of the
// working memory, whatever ended before.
type recurrent struct {
	length, e, h int
	mode         string
}

// outputs is memory for y.
func (l *recurrent) outputs(c *call, s *state) []float32 {
	rows := c.n
	if l.mode == "sequence" {
		rows = c.steps.rows()
	}
	y := grow(&s.y, rows*l.h)
	clear(y)
	return y
}

// emit hands on the state after step t of example e, whose row is row.
func (l *recurrent) emit(c *call, y, state []float32, e, t, row int) {
	switch l.mode {
	case "sequence":
		copy(y[row*l.h:(row+1)*l.h], state)
	case "mean":
		own := y[e*l.h : (e+1)*l.h]
		for j, v := range state {
			own[j] += v
		}
		if n := l.steps(c, e); t == n-1 {
			for j := range own {
				own[j] /= float32(n)
			}
		}
	default:
		if t == l.steps(c, e)-1 {
			copy(y[e*l.h:(e+1)*l.h], state)
		}
	}
}

func (l *recurrent) steps(c *call, e int) int {
	return int(c.steps.starts[e+1] - c.steps.starts[e])
}

// receive adds to dh what dy says of the state after step t of example e.
func (l *recurrent) receive(c *call, dh, dy []float32, e, t, row int) {
	switch l.mode {
	case "sequence":
		for j, v := range dy[row*l.h : (row+1)*l.h] {
			dh[j] += v
		}
	case "mean":
		share := 1 / float32(l.steps(c, e))
		for j, v := range dy[e*l.h : (e+1)*l.h] {
			dh[j] += share * v
		}
	default:
		if t == l.steps(c, e)-1 {
			for j, v := range dy[e*l.h : (e+1)*l.h] {
				dh[j] += v
			}
		}
	}
}
