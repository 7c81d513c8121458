package evolve

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// scorer evaluates what has no score yet and keeps count.
type scorer[G any] struct {
	problem          Problem[G]
	workers          int
	trials, proposed int
	memo             map[string]Individual[G]
}

// score fills in the scores of a population. Trials are numbered before anything runs.
func (s *scorer[G]) score(ctx context.Context, population []Individual[G]) error {
	var genomes []G
	trialOf := make([]int, len(population)) // −1: has its score
	pending := map[string]int{}
	for i := range population {
		x := &population[i]
		trialOf[i] = -1
		if x.scored {
			continue
		}
		s.proposed++
		if s.problem.Key != nil {
			key := s.problem.Key(x.Genome)
			if known, ok := s.memo[key]; ok {
				x.Score, x.Trial, x.scored = known.Score, known.Trial, true
				continue
			}
			if t, ok := pending[key]; ok {
				trialOf[i] = t
				continue
			}
			pending[key] = s.trials + len(genomes)
		}
		trialOf[i] = s.trials + len(genomes)
		genomes = append(genomes, x.Genome)
	}
	scores, err := s.evaluate(ctx, genomes)
	if err != nil {
		return err
	}
	for i, trial := range trialOf {
		if trial >= 0 {
			x := &population[i]
			x.Score, x.Trial, x.scored = number(scores[trial-s.trials]), trial, true
		}
	}
	for key, trial := range pending {
		s.memo[key] = Individual[G]{Score: number(scores[trial-s.trials]), Trial: trial}
	}
	s.trials += len(genomes)
	return nil
}

func (s *scorer[G]) evaluate(ctx context.Context, genomes []G) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(genomes) == 0 {
		return nil, nil
	}
	if s.problem.FitnessBatch == nil {
		return s.parallel(ctx, genomes)
	}
	scores, err := s.problem.FitnessBatch(ctx, s.trials, genomes)
	if err != nil {
		return nil, fmt.Errorf("fitness of trials %d to %d: %w", s.trials, s.trials+len(genomes)-1, err)
	}
	if len(scores) != len(genomes) {
		panic(fmt.Sprintf("evolve: FitnessBatch returned %d scores for %d genomes", len(scores), len(genomes)))
	}
	return scores, nil
}

// parallel calls Fitness from a bounded number of goroutines and waits for all of them.
func (s *scorer[G]) parallel(ctx context.Context, genomes []G) ([]float64, error) {
	// The cause keeps the first failure apart from the cancellations that follow from it.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := min(s.workers, len(genomes))
	// Small chunks: a training takes seconds, and a merit so little that taking a number
	// for each would cost as much.
	chunk := max(1, min(64, len(genomes)/(16*workers)))
	scores := make([]float64, len(genomes))
	var next atomic.Int64
	work := func() {
		for {
			from := int(next.Add(int64(chunk))) - chunk
			for i := from; i < min(from+chunk, len(genomes)); i++ {
				if ctx.Err() != nil {
					return
				}
				score, err := s.problem.Fitness(ctx, s.trials+i, genomes[i])
				if err != nil {
					cancel(fmt.Errorf("fitness of trial %d: %w", s.trials+i, err))
					return
				}
				scores[i] = score
			}
			if from+chunk >= len(genomes) {
				return
			}
		}
	}
	var wait sync.WaitGroup
	for range workers {
		wait.Go(work)
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return scores, nil
}
