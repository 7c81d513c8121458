package advise

import (
	"fmt"
	"math"
)

// Outcome is how the advised entry did beside the best of the menu.
type Outcome string

const (
	// Best: no entry has a larger mean.
	Best Outcome = "best"
	// Within a point of the best mean.
	Within Outcome = "within a point"
	// Tie: further behind, and the 95 % intervals overlap.
	Tie Outcome = "tie"
	// Behind: neither.
	Behind Outcome = "behind"
	// Unmeasured: the advised entry, or every other, has no cell.
	Unmeasured Outcome = "not measured"
)

// Estimate is a mean score in points with its 95 % interval.
type Estimate struct {
	Mean     float64    `json:"mean"`
	Interval [2]float64 `json:"interval"`
	Runs     int        `json:"runs"`
}

func (c MenuCell) estimate() Estimate {
	low, high := c.Interval()
	round := func(x float64) float64 { return math.Round(x*100) / 100 }
	return Estimate{round(c.Mean()), [2]float64{round(low), round(high)}, len(c.Scores)}
}

// Words are the estimate as text.
func (e Estimate) Words() string {
	return fmt.Sprintf("%.1f [%.1f, %.1f]", e.Mean, e.Interval[0], e.Interval[1])
}

// Judgement is one cell's.
type Judgement struct {
	Data    string  `json:"data"`
	Kind    Kind    `json:"kind"`
	Task    string  `json:"task,omitempty"`
	Rows    int     `json:"training_rows"`
	Epsilon float64 `json:"epsilon"`
	Ratio   float64 `json:"r"`
	Advised string  `json:"advised"`
	Outcome Outcome `json:"outcome"`
	// Score is the advised entry's, Best the best mean's; nil where not measured.
	Score     *Estimate `json:"score"`
	BestEntry string    `json:"best_entry,omitempty"`
	Best      *Estimate `json:"best"`
	Baseline  float64   `json:"baseline"`
	// AboveBaseline says that the advised entry's mean is at most half a point below the
	// majority's or the mean's.
	AboveBaseline bool `json:"not_below_baseline"`
}

// Good says that the advice was best, within a point of it or tied with it.
func (j Judgement) Good() bool { return j.Outcome == Best || j.Outcome == Within || j.Outcome == Tie }

// Words say how the advice did.
func (j Judgement) Words() string {
	if j.Score == nil {
		return string(j.Outcome)
	}
	s := fmt.Sprintf("%s: %s", j.Outcome, j.Score.Words())
	if j.BestEntry != j.Advised {
		s += fmt.Sprintf(", best %s %s", j.BestEntry, j.Best.Words())
	}
	if !j.AboveBaseline {
		s += fmt.Sprintf("; BELOW the baseline %.1f", j.Baseline)
	}
	return s
}

// Judge compares the advised entry with the best of the menu on a data set at an ε.
func (m Menu) Judge(data string, epsilon float64, advised string) Judgement {
	j := Judgement{Data: data, Epsilon: epsilon, Advised: advised, Outcome: Unmeasured, AboveBaseline: true}
	all := m.At(data, epsilon)
	c, ok := all.Find(data, epsilon, advised)
	if !ok || len(all) < 2 {
		return j
	}
	j.Kind, j.Task, j.Rows, j.Ratio, j.Baseline = c.Kind, c.Task, c.Rows, c.Ratio, c.Baseline
	score, best := c.estimate(), all[0].estimate()
	j.Score, j.BestEntry, j.Best = &score, all[0].Entry, &best
	low, _ := all[0].Interval()
	_, high := c.Interval()
	switch gap := all[0].Mean() - c.Mean(); {
	case gap <= 0:
		j.Outcome, j.BestEntry = Best, advised
	case gap <= 1:
		j.Outcome = Within
	case high >= low:
		j.Outcome = Tie
	default:
		j.Outcome = Behind
	}
	j.AboveBaseline = c.Mean() >= c.Baseline-0.5
	return j
}
