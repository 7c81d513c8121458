package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// trainTiny trains on squares with further flags and returns what was said of it.
func trainTiny(t *testing.T, net string, more ...string) (parameters int, chosen map[string]any, warnings []string) {
	t.Helper()
	dir := atHome(t)
	x, y := squares(t, dir, 400)
	file := filepath.Join(dir, "net.yaml")
	if err := os.WriteFile(file, []byte(net), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"train", x, "--labels", y, "--classes", "up,down", "--rows", "public", "--model", file, "--epochs", "20",
		"--epsilon", "3", "--delta", "1e-4", "--out", filepath.Join(dir, "out"), "--json"}
	if !slices.Contains(more, "--sampling-rate") {
		args = append(args, "--batch", "80")
	}
	status, out, errs := call(t, append(args, more...)...)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	var s struct {
		Choice struct {
			Parameters      int
			Hyperparameters map[string]any
		}
		Score    struct{ Value float64 }
		Warnings []string
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) == 0 && s.Score.Value < 0.6 {
		t.Errorf("%v: accuracy %v on two halves of an image", more, s.Score.Value)
	}
	if status, _, errs := call(t, "predict", filepath.Join(dir, "out"), x); status != 0 {
		t.Errorf("%v: predict: %s", more, errs)
	}
	return s.Choice.Parameters, s.Choice.Hyperparameters, s.Warnings
}

// Each technique trains, is stated, and leaves a model that predicts images.
func TestTrainTechniques(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
		want  map[string]any
	}{
		{"variants", []string{"--augment", "3", "--shift", "1", "--flip"}, map[string]any{"augment": 3.0, "shift": 1.0, "flip": true}},
		{"default shift", []string{"--augment", "2"}, map[string]any{"augment": 2.0, "shift": 2.0, "flip": false}},
		{"exponential average", []string{"--ema", "0.9"}, map[string]any{"ema": 0.9, "average_of_last": nil}},
		{"tail average", nil, map[string]any{"ema": nil, "average_of_last": 0.25, "schedule": nil, "augment": nil}},
		{"cosine", []string{"--schedule", "cosine", "--warmup", "0.1"}, map[string]any{"schedule": "cosine", "warmup": 0.1}},
		{"line", []string{"--schedule", "linear", "--optimizer", "adam"}, map[string]any{"schedule": "linear"}},
		{"transform before", []string{"--front-end", "dct:20"}, map[string]any{"front_end": "dct:20"}},
		{"signs before", []string{"--front-end", "random:20"}, map[string]any{"front_end": "random:20"}},
		{"two before", []string{"--front-end", "pool:mean,dct:9"}, map[string]any{"front_end": "pool:mean,dct:9"}},
		{"paid components before", []string{"--front-end", "dp-pca:2"}, map[string]any{"front_end": "dp-pca:2"}},
		{"means before", []string{"--front-end", "pool:mean"}, map[string]any{"front_end": "pool:mean"}},
		{"sampling rate", []string{"--sampling-rate", "0.2"}, map[string]any{"sampling_rate": 0.2, "batch": 53.0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got, _ := trainTiny(t, tinyNet, c.flags...)
			for k, v := range c.want {
				if got[k] != v {
					t.Errorf("%s is %v, want %v", k, got[k], v)
				}
			}
		})
	}
}

// Variants are made of pixels, so a front end has to run behind them.
func TestTrainVariantsBeforeFrontEnd(t *testing.T) {
	net := strings.Replace(tinyNet, "{kind: flatten}", "{kind: dct, coefficients: 30}", 1)
	n, got, _ := trainTiny(t, net, "--augment", "2", "--shift", "1")
	if n != 30*8+8+8*2+2 || got["augment"] != 2.0 {
		t.Errorf("%d parameters, %v", n, got)
	}
}

func TestTrainLastLayers(t *testing.T) {
	if n, got, _ := trainTiny(t, tinyNet, "--train-last", "1"); n != 8*2+2 || got["train_last"] != 1.0 {
		t.Errorf("%d trained parameters, %v", n, got)
	}
}

// A step far beyond the rule's is announced before it is paid for, and parameters of
// absurd size are called what they are.
func TestTrainFarTooLong(t *testing.T) {
	_, _, warnings := trainTiny(t, tinyNet, "--learning-rate", "1e9", "--anyway")
	all := strings.Join(warnings, "\n")
	for _, want := range []string{"times the rule's", "training diverged: parameters reach"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %q", want, all)
		}
	}
}
