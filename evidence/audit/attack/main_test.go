package attack

import (
	"math/rand/v2"
	"os"
	"testing"

	"pawl/internal/stattest"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

// shifted are scores N(shift, 1) of members and N(0, 1) of others, in mixed order.
func shifted(rng *rand.Rand, members, others int, shift float64) Scored {
	var s Scored
	for i := range members + others {
		in := i < members
		v := rng.NormFloat64()
		if in {
			v += shift
		}
		s.Score, s.Member = append(s.Score, v), append(s.Member, in)
	}
	rng.Shuffle(len(s.Score), func(i, j int) {
		s.Score[i], s.Score[j] = s.Score[j], s.Score[i]
		s.Member[i], s.Member[j] = s.Member[j], s.Member[i]
	})
	return s
}
