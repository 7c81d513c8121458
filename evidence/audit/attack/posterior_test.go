package attack

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSignals(t *testing.T) {
	p := Posteriors{Classes: 3, P: []float64{0.7, 0.2, 0.1, 1, 0, 0, 0.25, 0.25, 0.5}, Label: []int{0, 1, 0}}
	ln := math.Log
	floor := ln(leastProbability)
	for _, c := range []struct {
		signal Signal
		want   []float64
	}{
		{Loss, []float64{ln(0.7), floor, ln(0.25)}},
		{Confidence, []float64{0.7, 1, 0.5}},
		{TrueConfidence, []float64{0.7, 0, 0.25}},
		{Entropy, []float64{0.7*ln(0.7) + 0.2*ln(0.2) + 0.1*ln(0.1), 0, 0.5*ln(0.25) + 0.5*ln(0.5)}},
		{ModifiedEntropy, []float64{0.3*ln(0.7) + 0.2*ln(0.8) + 0.1*ln(0.9), 2 * floor, 0.75*ln(0.25) + 0.25*ln(0.75) + 0.5*ln(0.5)}},
		{Correct, []float64{1, 0, 0}},
		{Logit, []float64{ln(0.7 / 0.3), floor, ln(0.25 / 0.75)}},
	} {
		got, err := p.Scores(c.signal)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%s of record %d: %v, want %v", c.signal, i, got[i], c.want[i])
			}
		}
	}
	if len(Signals()) != 7 {
		t.Errorf("%d signals: this test knows 7", len(Signals()))
	}
	// A posterior that rounds to 1 still says how sure the model is.
	sure := Posteriors{Classes: 2, P: []float64{1, 1e-18, 1, 1e-25}, Label: []int{0, 0}}
	got, err := sure.Scores(Logit)
	if err != nil || !(got[1] > got[0]) {
		t.Errorf("logits %v (%v)", got, err)
	}
}

func TestPosteriorsRefuse(t *testing.T) {
	for name, p := range map[string]Posteriors{
		"nothing": {Classes: 2}, "one class": {Classes: 1, P: []float64{1}, Label: []int{0}}, "shape": {Classes: 2, P: []float64{1}, Label: []int{0}},
		"NaN": {Classes: 2, P: []float64{math.NaN(), 1}, Label: []int{0}}, "negative": {Classes: 2, P: []float64{-0.1, 1.1}, Label: []int{0}},
		"logits": {Classes: 2, P: []float64{0.9, 0.9}, Label: []int{0}}, "label": {Classes: 2, P: []float64{0.5, 0.5}, Label: []int{2}},
	} {
		if v, err := p.Scores(Loss); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		if v, err := p.Features(Vector); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	ok := Posteriors{Classes: 2, P: []float64{0.5, 0.5}, Label: []int{0}}
	if _, err := ok.Scores("no such"); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
	if _, err := ok.Features("no such"); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
}

func TestFeatures(t *testing.T) {
	p := Posteriors{Classes: 3, P: []float64{0.2, 0.7, 0.1}, Label: []int{2}}
	for f, want := range map[Feature][]float64{Vector: {0.2, 0.7, 0.1, 0, 0, 1}, Sorted: {0.7, 0.2, 0.1}, TrueClass: {math.Log(0.1 / 0.9)}} {
		got, err := p.Features(f)
		if err != nil || len(got[0]) != len(want) {
			t.Fatalf("%s: %v, %v", f, got, err)
		}
		for j := range want {
			if math.Abs(got[0][j]-want[j]) > 1e-12 {
				t.Errorf("%s: %v, want %v", f, got[0], want)
			}
		}
	}
}

// overfit are posteriors of a model that is surer, and more often right, about members.
func overfit(rng *rand.Rand, n, classes int, member bool) Posteriors {
	p := Posteriors{Classes: classes}
	for range n {
		y := rng.IntN(classes)
		z := make([]float64, classes)
		sum := 0.0
		for k := range z {
			z[k] = rng.NormFloat64()
			if k == y {
				z[k] += 2
				if member {
					z[k] += 2
				}
			}
			z[k] = math.Exp(z[k])
			sum += z[k]
		}
		for _, v := range z {
			p.P = append(p.P, v/sum)
		}
		p.Label = append(p.Label, y)
	}
	return p
}

func together(in, out Posteriors) (Posteriors, []bool) {
	all := Posteriors{Classes: in.Classes, P: append(slices.Clone(in.P), out.P...), Label: append(slices.Clone(in.Label), out.Label...)}
	return all, append(slices.Repeat([]bool{true}, len(in.Label)), slices.Repeat([]bool{false}, len(out.Label))...)
}

// Every threshold attack and every attack model finds an overfit model, and none finds
// one that is not (|AUC − 1/2| within five standard errors of 1,500 and 1,500 records,
// 0.0105 each: probability 6e-7 for each of 12).
func TestAttacksFindOverfitting(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	const n, classes = 1500, 4
	shadow, shadowMember := together(overfit(rng, 300, classes, true), overfit(rng, 300, classes, false))
	leaky, member := together(overfit(rng, n, classes, true), overfit(rng, n, classes, false))
	tight, _ := together(overfit(rng, n, classes, false), overfit(rng, n, classes, false))
	check := func(name string, leaks, none []float64) {
		t.Helper()
		a, err := Scored{Score: leaks, Member: member}.AUC(0.95)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Scored{Score: none, Member: member}.AUC(0.95)
		if err != nil {
			t.Fatal(err)
		}
		if a.Lower < 0.55 || math.Abs(b.Estimate-0.5) > 5*0.0105 {
			t.Errorf("%s: AUC %v where there is a leak, %v where there is none", name, a.Estimate, b.Estimate)
		}
	}
	for _, signal := range Signals() {
		a, err := leaky.Scores(signal)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := tight.Scores(signal)
		check(string(signal), a, b)
	}
	for _, f := range []Feature{Vector, Sorted, TrueClass} {
		rows, err := shadow.Features(f)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := leaky.Features(f)
		b, _ := tight.Features(f)
		logistic, err := TrainLogistic(rows, shadowMember, 0)
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if f != Vector { // a linear score of it cannot know which probability is the label's
			check("logistic on "+string(f), ScoreAll(logistic, a), ScoreAll(logistic, b))
		}
		svm, err := TrainSVM(rows, shadowMember, SVMOptions{})
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		check("SVM on "+string(f), ScoreAll(svm, a), ScoreAll(svm, b))
	}
}
