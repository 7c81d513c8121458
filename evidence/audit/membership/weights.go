package membership

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"pawl/data/table"
	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/inference"
	"pawl/internal/usage"
)

// attackWeights attacks the model itself, whose members a file lists. They were not chosen
// by coins that the audit tossed, so nothing can be convicted.
func (r *Recipe) attackWeights() (*Audit, *attack.Manifest, error) {
	f, kind, o := r.o, r.o.Attack, attack.Options{Rates: r.o.Rates, Priors: r.o.Priors}
	if kind.Shadows() > 0 {
		return nil, nil, usage.New(fmt.Sprintf("attack %s needs shadow models, which --index does not use", kind), "use --attack loss, confidence, entropy or modified-entropy")
	}
	var key [32]byte
	if _, err := f.Source.Split("manifest").Read(key[:]); err != nil {
		return nil, nil, err
	}
	members, err := readIndex(f.Index, len(r.label))
	if err != nil {
		return nil, nil, err
	}
	p := attack.Posteriors{Classes: r.classes, P: r.answer(r.model), Label: r.label}
	s := attack.Scored{Member: make([]bool, len(r.label)), Class: r.label}
	manifest, in, out := attack.NewManifest(key), [][]byte(nil), [][]byte(nil)
	for _, i := range members {
		s.Member[i] = true
		in = append(in, fmt.Append(nil, i))
	}
	for i, member := range s.Member {
		if !member {
			out = append(out, fmt.Append(nil, i))
		}
	}
	if err := manifest.Add(attack.TargetIn, in...); err != nil {
		return nil, nil, Refusal(f.Index, err)
	}
	if err := manifest.Add(attack.TargetOut, out...); err != nil {
		return nil, nil, Refusal(f.Index, err)
	}
	if s.Score, err = inference.Threshold(kind, p); err != nil {
		return nil, nil, Refusal("attack on weights", err)
	}
	if e := float64(r.statement.Privacy.Epsilon); e < 1e6 {
		o.Claim = &bound.Claim{Epsilon: e, Delta: float64(r.statement.Privacy.Delta)}
	}
	result := &Audit{
		Attack: string(kind), Model: f.Model, Data: r.data, Internal: !r.public, Claim: o.Claim, Pools: manifest.Sizes(), Trained: len(members),
		Notes: []string{"the weights in the directory were attacked; members were not drawn by coins, so no claim can be rejected"},
	}
	if result.Report, err = attack.Evaluate(s, o); err != nil {
		return nil, nil, Refusal(f.Index, err)
	}
	if result.Classes, err = attack.ByClass(s, o); err != nil {
		return nil, nil, Refusal(f.Index, err)
	}
	return result, manifest, nil
}

// readIndex reads numbers of rows below n, one in a line.
func readIndex(path string, n int) ([]int, error) {
	if err := table.CheckFile(path); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []int
	lines := bufio.NewScanner(file)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i >= n {
			return nil, usage.New(fmt.Sprintf("%s:%d: not a row number", path, line), "write row numbers from 0, one per line")
		}
		all = append(all, i)
	}
	return all, lines.Err()
}
