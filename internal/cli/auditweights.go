package cli

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"pawl/core/entropy"
	"pawl/data/source"
	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/inference"
)

// attackWeights attacks the model itself, whose members a file lists. They were not chosen
// by coins that the audit tossed, so nothing can be convicted.
func (a *app) attackWeights(f miaFlags, kind inference.Kind, r *recipe, src *entropy.Source, o attack.Options) error {
	if kind.Shadows() > 0 {
		return &usageError{fmt.Sprintf("attack %s needs shadow models, which --index does not use", kind), "use --attack loss, confidence, entropy or modified-entropy"}
	}
	var key [32]byte
	if _, err := src.Split("manifest").Read(key[:]); err != nil {
		return err
	}
	members, err := readIndex(f.index, len(r.label))
	if err != nil {
		return err
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
		return attackError(f.index, err)
	}
	if err := manifest.Add(attack.TargetOut, out...); err != nil {
		return attackError(f.index, err)
	}
	if s.Score, err = inference.Threshold(kind, p); err != nil {
		return attackError("attack on weights", err)
	}
	if e := float64(r.statement.Privacy.Epsilon); e < 1e6 {
		o.Claim = &bound.Claim{Epsilon: e, Delta: float64(r.statement.Privacy.Delta)}
	}
	result := &miaAudit{
		Attack: string(kind), Model: f.model, Data: r.data, Internal: !r.public, Claim: o.Claim, Pools: manifest.Sizes(), Trained: len(members),
		Notes: []string{"the weights in the directory were attacked; members were not drawn by coins, so no claim can be rejected"},
	}
	if result.Report, err = attack.Evaluate(s, o); err != nil {
		return attackError(f.index, err)
	}
	if result.Classes, err = attack.ByClass(s, o); err != nil {
		return attackError(f.index, err)
	}
	return a.finishMIA(result, manifest, f.out)
}

// readIndex reads numbers of rows below n, one in a line.
func readIndex(path string, n int) ([]int, error) {
	if err := source.CheckFile(path); err != nil {
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
			return nil, &usageError{fmt.Sprintf("%s:%d: not a row number", path, line), "write row numbers from 0, one per line"}
		}
		all = append(all, i)
	}
	return all, lines.Err()
}
