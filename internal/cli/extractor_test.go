package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/compute/onnx"
)

// halves is a public network for squares: the means of the upper and the lower half of an image of 8×8, as a
// pool makes them, and one operator more.
func halves(t *testing.T, dir, operator string) string {
	t.Helper()
	g := onnx.New()
	x := g.Input(onnx.NewPort("image", onnx.Floats, "", 0, 3, 8, 8))
	pooled := g.Add("AveragePool", onnx.Attributes{"kernel_shape", []int64{4, 8}, "strides", []int64{4, 4}}, g.Op(operator, x))
	g.Put(onnx.NewPort("features", onnx.Floats, "", 0, 6), "Flatten", "", nil, pooled)
	file := filepath.Join(dir, operator+".onnx")
	if err := os.WriteFile(file, g.Model("halves", "", "1", nil), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Images pass a public network first, whatever their size: the statement names it, the model that is released
// has it and predicts images, and a file that cannot run is refused before anything is charged.
func TestTrainBehindAnExtractor(t *testing.T) {
	dir := atHome(t)
	x, y := squares(t, dir, 400)
	out := filepath.Join(dir, "out")
	train := func(more ...string) (int, string, string) {
		return call(t, append([]string{"train", x, "--labels", y, "--classes", "up,down", "--rows", "public", "--epochs", "20", "--batch", "80", "--epsilon", "3", "--delta", "1e-4", "--json"}, more...)...)
	}
	for _, c := range []struct {
		more []string
		want string
	}{
		{[]string{"--extractor", filepath.Join(dir, "none.onnx")}, "none.onnx cannot be read: no such file"},
		{[]string{"--extractor", y}, "not a model in ONNX"},
		{[]string{"--extractor", halves(t, dir, "Softplus")}, "the operator Softplus is not supported"},
		{[]string{"--extractor", halves(t, dir, "Relu"), "--pixels", "0..2"}, `pixels "0..2": write 0..1`},
		{[]string{"--pixels", "0..1", "--model", "logistic"}, "--pixels and --extractor-output go with --extractor"},
	} {
		if status, _, errs := train(c.more...); status != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %s, want %q", c.more, status, errs, c.want)
		}
	}
	status, text, errs := train("--extractor", halves(t, dir, "Relu"), "--pixels", "-1..1", "--out", out)
	if status != 0 {
		t.Fatal(errs)
	}
	var s struct {
		Privacy struct {
			NotCovered []string `json:"not_covered"`
		}
		Choice struct {
			Model           string
			Hyperparameters struct {
				Extractor struct{ File, SHA256, Pixels string }
			}
		}
		Score struct{ Value float64 }
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	e := s.Choice.Hyperparameters.Extractor
	if e.File != "Relu.onnx" || len(e.SHA256) != 64 || e.Pixels != "-1..1" || s.Choice.Model != "features-linear" {
		t.Errorf("the statement names %+v and %s", e, s.Choice.Model)
	}
	if !strings.Contains(strings.Join(s.Privacy.NotCovered, "\n"), "The extractor: the network in Relu.onnx") {
		t.Errorf("the statement does not say that the extractor is declared public: %v", s.Privacy.NotCovered)
	}
	if s.Score.Value < 0.7 {
		t.Errorf("accuracy %v on the means of halves", s.Score.Value)
	}
	// A fit takes the same network, and its rules say so.
	fit := func(more ...string) (int, string, string) {
		return call(t, append([]string{"fit", x, "--labels", y, "--classes", "up,down", "--rows", "public", "--epsilon", "3", "--delta", "1e-4", "--json"}, more...)...)
	}
	for _, c := range []struct {
		more []string
		want string
	}{
		{[]string{"--extractor", filepath.Join(dir, "Softplus.onnx")}, "the operator Softplus is not supported"},
		{[]string{"--extractor", filepath.Join(dir, "Relu.onnx"), "--features", "scatter"}, "exclude each other"},
		{[]string{"--extractor", filepath.Join(dir, "Relu.onnx"), "--search"}, "a search of networks excludes --extractor"},
	} {
		if status, _, errs := fit(c.more...); status != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("fit %v: status %d, %s, want %q", c.more, status, errs, c.want)
		}
	}
	if status, _, errs := call(t, "fit", "adult", "--epsilon", "1", "--extractor", "x.onnx"); status != 2 || !strings.Contains(errs, "--extractor is for images") {
		t.Errorf("a table with an extractor: status %d, %s", status, errs)
	}
	t.Setenv("HOME", t.TempDir()) // another ledger, which knows no budget
	if status, text, errs = fit("--extractor", filepath.Join(dir, "Relu.onnx"), "--out", filepath.Join(dir, "fitted")); status != 0 {
		t.Fatal(errs)
	}
	if !strings.Contains(text, `"name": "public-features"`) || !strings.Contains(text, e.SHA256) || !strings.Contains(text, "The extractor: the network in Relu.onnx") {
		t.Errorf("the statement of a fit does not name the extractor and its rule: %s", text)
	}
	for _, args := range [][]string{{"predict", out, x}, {"export", out, "--format", "onnx", "--output", filepath.Join(dir, "whole.onnx")}} {
		if status, _, errs := call(t, args...); status != 0 {
			t.Errorf("%v: %s", args, errs)
		}
	}
}
