package attack

import (
	"cmp"
	"slices"
)

// Scored are the scores of an attack and the truth: the larger a score, the more the
// attack takes its record for a member.
type Scored struct {
	Score  []float64
	Member []bool
	// Class, where not nil, is the class of each record, from 0.
	Class []int
}

// Check refuses lists of different lengths, scores that are not finite, a truth with
// members or with others alone, and scores that are all equal (ErrConstant).
func (s Scored) Check() error {
	n := len(s.Score)
	if len(s.Member) != n || s.Class != nil && len(s.Class) != n {
		return invalid("%d scores, %d memberships and %d classes", n, len(s.Member), len(s.Class))
	}
	if slices.ContainsFunc(s.Score, notFinite) {
		return invalid("a score is not a finite number")
	}
	if slices.ContainsFunc(s.Class, func(c int) bool { return c < 0 }) {
		return invalid("a class is negative")
	}
	in, out := s.split()
	if len(in) == 0 || len(out) == 0 {
		return invalid("%d members and %d others: an attack is judged on both", len(in), len(out))
	}
	if slices.Min(s.Score) == slices.Max(s.Score) {
		return ErrConstant
	}
	return nil
}

// Reversed are the scores with their sign changed.
func (s Scored) Reversed() Scored {
	r := s
	r.Score = make([]float64, len(s.Score))
	for i, v := range s.Score {
		r.Score[i] = -v
	}
	return r
}

// only returns the records of one class, without classes.
func (s Scored) only(class int) Scored {
	var r Scored
	for i, c := range s.Class {
		if c == class {
			r.Score, r.Member = append(r.Score, s.Score[i]), append(r.Member, s.Member[i])
		}
	}
	return r
}

// split returns the scores of members and of others, in their order.
func (s Scored) split() (in, out []float64) {
	for i, v := range s.Score {
		if s.Member[i] {
			in = append(in, v)
		} else {
			out = append(out, v)
		}
	}
	return in, out
}

func notFinite(v float64) bool { return v-v != 0 }

// step is a threshold's place on the curve: how many records of either kind have a score
// of at least it.
type step struct {
	score   float64
	in, out int
}

// steps are the counts at every distinct score, from the largest down.
func (s Scored) steps() []step {
	order := make([]int, len(s.Score))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.Score[b], s.Score[a]) })
	var all []step
	in, out := 0, 0
	for k, i := range order {
		if s.Member[i] {
			in++
		} else {
			out++
		}
		if k+1 == len(order) || s.Score[order[k+1]] != s.Score[i] {
			all = append(all, step{s.Score[i], in, out})
		}
	}
	return all
}
