package request

import (
	"encoding/json"
	"fmt"
	"strings"

	"pawl/core/dp"
	"pawl/data/table"
	"pawl/internal/usage"
	"pawl/workflow"
)

// readSelection takes the chosen features out of what pawl select --json printed.
func readSelection(path string) ([]string, *workflow.ChosenBy, error) {
	text, err := table.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	const hint = "write one with pawl select DATA … --json > FILE.json, or list columns separated by commas"
	var v struct {
		Command string `json:"command"`
		Data    struct {
			Name string `json:"name"`
		} `json:"data"`
		Budget struct {
			Entry string `json:"entry"`
		} `json:"budget"`
		Selection *struct {
			Method string `json:"method"`
			Chosen []struct {
				Feature string `json:"feature"`
			} `json:"chosen"`
		} `json:"selection"`
		Privacy struct {
			Events []json.RawMessage `json:"events"`
		} `json:"privacy"`
		AsPublished bool `json:"as_published"`
	}
	if err := json.Unmarshal(text, &v); err != nil || v.Command != "select" || v.Selection == nil {
		return nil, nil, usage.New(fmt.Sprintf("%s is not the output of pawl select --json", path), hint)
	}
	if len(v.Selection.Chosen) == 0 {
		return nil, nil, usage.New(fmt.Sprintf("%s: the selection chose no feature", path), "--features all")
	}
	var names []string
	for _, c := range v.Selection.Chosen {
		names = append(names, c.Feature)
	}
	by := &workflow.ChosenBy{Method: v.Selection.Method, Dataset: v.Data.Name, Entry: v.Budget.Entry, Unpaid: v.AsPublished}
	for _, raw := range v.Privacy.Events {
		e, err := dp.DecodeStated(raw)
		if err != nil {
			return nil, nil, usage.New(fmt.Sprintf("%s: the cost of the selection cannot be read: %v", path, err), hint)
		}
		by.Events = append(by.Events, e)
	}
	return names, by, nil
}

// namedFeatures reads --features: nil for all.
func namedFeatures(text string) ([]string, *workflow.ChosenBy, error) {
	switch {
	case text == "" || text == "all" || text == "auto":
		return nil, nil, nil
	case strings.HasSuffix(text, ".json"):
		return readSelection(text)
	}
	var names []string
	for _, name := range strings.Split(text, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names, nil, nil
}
