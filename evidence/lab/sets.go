package lab

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"

	"pawl/compute/nn"
	"pawl/data/dataset"
	"pawl/data/images"
	"pawl/data/text"
)

// OpenImages reads the first images of a built-in set, so many to train and to test.
func OpenImages(name, dataDir string, train, test int) (*Images, error) {
	b, ok := dataset.Images(name)
	if !ok {
		return nil, fmt.Errorf("no built-in images %q", name)
	}
	s := &Images{Name: b.Name, Target: b.Target}
	var err error
	if s.Train, err = once(b.Name+" train", dataDir, b.Train); err != nil {
		return nil, err
	}
	if s.Test, err = once(b.Name+" test", dataDir, b.Test); err != nil {
		return nil, err
	}
	s.Train, s.Test = First(s.Train, train), First(s.Test, test)
	return s, nil
}

// kept are sets that were read, since reading takes longer than many a replay of them. Nobody writes
// to a set.
var kept = struct {
	sync.Mutex
	sets map[[3]string]*images.Set
}{sets: map[[3]string]*images.Set{}}

// once reads a part of a set from a folder, or takes it as it was read before.
func once(part, dataDir string, read func(dataDir string) (*images.Set, error)) (*images.Set, error) {
	kept.Lock()
	defer kept.Unlock()
	key := [3]string{part, dataDir, os.Getenv(dataset.DataDirVariable)}
	if s := kept.sets[key]; s != nil {
		return s, nil
	}
	s, err := read(dataDir)
	if err == nil {
		kept.sets[key] = s
	}
	return s, err
}

// OpenTexts reads built-in texts in an order that a seed decides: the first to train, the
// next to test. A text is the numbers of its first tokens by a hash that has seen no
// data, below vocabulary.
func OpenTexts(name, dataDir string, tokens, vocabulary, train, test int, seed uint64) (*Images, error) {
	t, err := dataset.LoadText(name, dataDir)
	if err != nil {
		return nil, err
	}
	b, ok := dataset.Lookup(name)
	if !ok || train+test > len(t.Texts) {
		return nil, fmt.Errorf("%s: %d texts to train and %d to test of %d", name, train, test, len(t.Texts))
	}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(t.Texts))
	h := text.Hasher{Buckets: vocabulary}
	set := func(of []int) *images.Set {
		size := nn.Tokens(tokens).Size()
		s := &images.Set{Shape: [3]int{1, 1, size}, Floats: make([]float32, len(of)*size), Classes: t.Classes}
		for i, at := range of {
			nn.PutTokens(s.Floats[i*size:][:size], h.Numbers(nil, t.Texts[at], tokens))
			s.Labels = append(s.Labels, t.Labels[at])
		}
		return s
	}
	return &Images{Name: b.Name, Target: b.Target, Train: set(order[:train]), Test: set(order[train : train+test])}, nil
}

// Majority is the share of the test examples that the most frequent class of the
// training examples gets right.
func (s *Images) Majority() float64 {
	counts := make([]int, len(s.Train.Classes))
	most := int32(0)
	for _, y := range s.Train.Labels {
		if counts[y]++; counts[y] > counts[most] {
			most = y
		}
	}
	right := 0
	for _, y := range s.Test.Labels {
		if y == most {
			right++
		}
	}
	return float64(right) / float64(s.Test.Len())
}
