package study

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// ErrUnrecorded is wrapped when a trial could not be written to the journal: the study
// has stopped, and goes on once it can.
var ErrUnrecorded = errors.New("the study cannot be recorded")

// Journal keeps the scores of trials that are done. Its methods are called from several
// goroutines at once.
type Journal interface {
	// Scores are those of an earlier run of the same study, by number; −Inf is a failed
	// trial.
	Scores() map[int]float64
	// Put records a trial; key names its candidate.
	Put(number int, key string, score float64, took time.Duration) error
}

// known is the score that the journal has of a trial.
func (r *runner[C, M]) known(number int) (float64, bool) {
	if r.o.Journal == nil {
		return 0, false
	}
	s, ok := r.o.Journal.Scores()[number]
	return s, ok
}

// bestKnown is the best trial of a generation that the journal has, the first of equal
// ones; −1 if none.
func (r *runner[C, M]) bestKnown(gen int) (number int, score float64) {
	number, score = -1, math.Inf(-1)
	if r.o.Journal == nil {
		return number, score
	}
	for n, s := range r.o.Journal.Scores() {
		if n/generation == gen && (s > score || s == score && n < number) {
			number, score = n, s
		}
	}
	return number, score
}

// try is a trial whose score is read; it keeps the model.
func (r *runner[C, M]) try(number int, c C) (float64, error) {
	if score, known := r.known(number); known {
		return score, nil
	}
	m, score, err := r.attempt(number, c, func() (M, float64, error) {
		return r.trial(number, c)
	})
	if err == nil {
		r.mu.Lock()
		if r.models == nil {
			r.models = map[int]M{}
		}
		r.models[number] = m
		r.mu.Unlock()
	}
	return score, err
}

// attempt does work and records how it ended, unless the study was interrupted: an
// unfinished trial is no failed one.
func (r *runner[C, M]) attempt(number int, c C, work func() (M, float64, error)) (M, float64, error) {
	start := time.Now()
	m, score, err := work()
	if r.ctx.Err() != nil {
		return m, math.Inf(-1), r.ctx.Err()
	}
	recorded := score
	if err != nil || math.IsNaN(score) {
		recorded = math.Inf(-1)
	}
	if r.o.Journal != nil {
		if _, known := r.known(number); !known {
			if err := r.o.Journal.Put(number, r.c.Key(c), recorded, time.Since(start)); err != nil {
				r.mu.Lock()
				r.broken = fmt.Errorf("%w: %w", ErrUnrecorded, err)
				r.mu.Unlock()
				r.stop() // what is not recorded could not go on later
			}
		}
	}
	return m, score, err
}

// model is the kept model of a trial, or the same trained once more.
func (r *runner[C, M]) model(number int, c C) (M, error) {
	r.mu.Lock()
	m, ok := r.models[number]
	r.mu.Unlock()
	if ok || r.w.Try == nil {
		return m, nil
	}
	m, _, err := r.trial(number, c)
	return m, err
}

// trial runs Try under a part of the permit whose streams follow from number alone: the
// same whatever ran before, in this process or in one that was interrupted.
func (r *runner[C, M]) trial(number int, c C) (none M, score float64, err error) {
	permit, err := r.permit.Child("trial", uint64(number))
	if err != nil {
		return none, 0, err
	}
	return r.w.Try(r.ctx, permit, c)
}

func (r *runner[C, M]) forget(number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.models, number)
}

func (r *runner[C, M]) keepOnly(stays map[int]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := range r.models {
		if !stays[n] {
			delete(r.models, n)
		}
	}
}

func sorted[C any](trials []Trial[C]) []Trial[C] {
	slices.SortFunc(trials, func(a, b Trial[C]) int { return cmp.Compare(a.Number, b.Number) })
	return trials
}
