package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/data/source"
)

// squares writes n images of 8×8 in two classes as npy files: a bright upper or a
// bright lower half.
func squares(t *testing.T, dir string, n int) (features, labels string) {
	t.Helper()
	var x, y bytes.Buffer
	for i := range n {
		class := i % 2
		for p := range 64 {
			v := float32((i*31+p*17)%50) / 100
			if (p/32 == 0) == (class == 0) {
				v += 0.5
			}
			_ = binary.Write(&x, binary.LittleEndian, v)
		}
		_ = binary.Write(&y, binary.LittleEndian, int64(class))
	}
	features, labels = filepath.Join(dir, "squares.npy"), filepath.Join(dir, "labels.npy")
	writeNPY(t, features, "<f4", fmt.Sprintf("(%d, 8, 8, 1)", n), x.Bytes())
	writeNPY(t, labels, "<i8", fmt.Sprintf("(%d,)", n), y.Bytes())
	return features, labels
}

func writeNPY(t *testing.T, path, kind, shape string, data []byte) {
	t.Helper()
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
	for (10+len(head)+1)%64 != 0 {
		head += " "
	}
	head += "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	if err := os.WriteFile(path, append(append(out, head...), data...), 0o644); err != nil {
		t.Fatal(err)
	}
}

const tinyNet = `version: 1
name: tiny
title: one hidden layer
layers:
  - {kind: flatten}
  - {kind: dense, units: 8}
  - {kind: tanh}
  - {kind: dense}
`

// call runs the program in this process.
func call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), args, streams{in: strings.NewReader(""), out: &out, err: &errs})
	return status, out.String(), errs.String()
}

func atHome(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("PAWL_LEDGER", "")
	return dir
}

func TestTrainOwnImages(t *testing.T) {
	dir := atHome(t)
	x, y := squares(t, dir, 600)
	net := filepath.Join(dir, "tiny.yaml")
	if err := os.WriteFile(net, []byte(tinyNet), 0o644); err != nil {
		t.Fatal(err)
	}
	base := []string{"train", x, "--labels", y, "--classes", "up,down", "--rows", "public", "--model", net, "--batch", "100", "--epochs", "20"}
	status, out, errs := call(t, append(base, "--epsilon", "3", "--delta", "1e-4", "--out", filepath.Join(dir, "out"), "--json")...)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	var s struct {
		NotPrivate bool `json:"not_private"`
		Privacy    struct{ Epsilon float64 }
		Score      struct {
			Value float64
			Test  *float64
		}
		Choice struct{ Parameters int }
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	if s.Privacy.Epsilon > 3 || s.Privacy.Epsilon < 2.9 || s.NotPrivate || s.Score.Test != nil || s.Choice.Parameters != 64*8+8+8*2+2 {
		t.Errorf("statement %+v", s)
	}
	if !strings.Contains(out, source.PerImage) || !strings.Contains(errs, source.PerImage) {
		t.Error("nothing says that a person with several images is not protected as one")
	}
	if s.Score.Value < 0.7 {
		t.Errorf("two halves of an image are told apart with a released accuracy of %v", s.Score.Value)
	}
	for _, f := range []string{"model/model.json", "model/model.safetensors", "model/schema.yaml", "report.html", "statement.json", "README.md"} {
		if _, err := os.Stat(filepath.Join(dir, "out", f)); err != nil {
			t.Error(err)
		}
	}
	// The model predicts images, in order; nothing is charged.
	status, predicted, errs := call(t, "predict", filepath.Join(dir, "out"), x)
	lines := strings.Split(strings.TrimSpace(predicted), "\n")
	if status != 0 || len(lines) != 601 || lines[0] != "prediction,probability_down" {
		t.Fatalf("predict: status %d, %d lines, first %q, stderr %q", status, len(lines), lines[0], errs)
	}
	right := 0
	for i, line := range lines[1:] {
		if strings.HasPrefix(line, []string{"up,", "down,"}[i%2]) {
			right++
		}
	}
	if right < 420 {
		t.Errorf("%d of 600 predictions are right", right)
	}
	if status, _, errs := call(t, "predict", filepath.Join(dir, "out"), y); status != exitUsage || !strings.Contains(errs, "labels.npy") {
		t.Errorf("labels as images: status %d, %q", status, errs)
	}
	// The budget is used up: a second run is refused and leaves nothing.
	status, out, _ = call(t, append(base, "--epsilon", "3", "--delta", "1e-4", "--out", filepath.Join(dir, "again"))...)
	if _, err := os.Stat(filepath.Join(dir, "again")); status != exitRefused || out != "" || err == nil {
		t.Errorf("second run: status %d, stdout %q", status, out)
	}
}

// Random weights training: images pass through frozen layers once, with the same
// weights that the model keeps and predicts with.
func TestTrainFrozenLayers(t *testing.T) {
	dir := atHome(t)
	x, y := squares(t, dir, 600)
	net := filepath.Join(dir, "rwt.yaml")
	text := strings.Replace(tinyNet, "{kind: dense, units: 8}", "{kind: dense, units: 40, trainable: false}", 1)
	if err := os.WriteFile(net, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, errs := call(t, "train", x, "--labels", y, "--classes", "up,down", "--rows", "public", "--model", net, "--batch", "100",
		"--epochs", "20", "--epsilon", "3", "--delta", "1e-4", "--out", filepath.Join(dir, "out"), "--json")
	if status != 0 || !strings.Contains(out, `"parameters": 82`) {
		t.Fatalf("status %d, stdout %q, stderr %q", status, out, errs)
	}
	_, predicted, _ := call(t, "predict", filepath.Join(dir, "out"), x)
	right := 0
	for i, line := range strings.Split(strings.TrimSpace(predicted), "\n")[1:] {
		if strings.HasPrefix(line, []string{"up,", "down,"}[i%2]) {
			right++
		}
	}
	if right < 420 {
		t.Errorf("%d of 600 predictions of a net with frozen layers are right", right)
	}
}

// Equal seeds give equal weights, in small microbatches too up to rounding.
func TestTrainSeeded(t *testing.T) {
	dir := atHome(t)
	x, y := squares(t, dir, 200)
	net := filepath.Join(dir, "tiny.yaml")
	if err := os.WriteFile(net, []byte(tinyNet), 0o644); err != nil {
		t.Fatal(err)
	}
	var weights [][]byte
	for i, seed := range []string{"7", "7", "8"} {
		t.Setenv("HOME", filepath.Join(dir, "home"+seed)) // the same seed replays at no cost
		to := filepath.Join(dir, fmt.Sprint("out", i))
		status, out, errs := call(t, "train", x, "--labels", y, "--classes", "up,down", "--rows", "200", "--model", net,
			"--noise-multiplier", "1.5", "--delta", "1e-3", "--batch", "50", "--epochs", "2", "--seed", seed, "--out", to)
		if status != 0 || !strings.Contains(out, "NOT PRIVATE") || !strings.Contains(errs, "NOT PRIVATE") {
			t.Fatalf("status %d, stdout %q, stderr %q", status, out, errs)
		}
		b, err := os.ReadFile(filepath.Join(to, "model", "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		weights = append(weights, b)
	}
	if !bytes.Equal(weights[0], weights[1]) || bytes.Equal(weights[1], weights[2]) {
		t.Error("equal seeds must give equal files, other seeds others")
	}
}

// Every fault is one line, names what is wrong, and charges nothing.
func TestTrainRefusesBadInput(t *testing.T) {
	dir := atHome(t)
	x, y := squares(t, dir, 100)
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tiny := file("tiny.yaml", tinyNet)
	layers := func(name, text string) string { return file(name, "version: 1\nname: n\nlayers:\n"+text) }
	mixed := filepath.Join(dir, "mixed")
	for i, side := range []int{8, 9} {
		sub := filepath.Join(mixed, fmt.Sprint("class", i))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		img := image.NewGray(image.Rect(0, 0, side, side))
		img.SetGray(1, 1, color.Gray{Y: 200})
		f, err := os.Create(filepath.Join(sub, "a.png"))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, img); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	// Under that name the ledger may say public: sensitive images must not take it.
	named := filepath.Join(dir, "mnist.npy")
	content, err := os.ReadFile(x)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(named, content, 0o644); err != nil {
		t.Fatal(err)
	}
	own := []string{"train", x, "--labels", y, "--classes", "up,down", "--rows", "public", "--delta", "1e-3"}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"missing --model", append(own, "--epsilon", "1"), "missing --model"},
		{"unknown model", append(own, "--epsilon", "1", "--model", "mnist-pew-cnn"), "neither a known network"},
		{"wrong shape", append(own, "--epsilon", "1", "--model", "mnist-paw-cnn"), "28×28"},
		{"unknown layer", append(own, "--epsilon", "1", "--model", layers("a.yaml", "  - {kind: dance, units: 2}\n")), "dance"},
		{"zero units", append(own, "--epsilon", "1", "--model", layers("b.yaml", "  - {kind: dense, units: 0}\n  - {kind: dense, units: 2}\n")), "units"},
		{"batch norm", append(own, "--epsilon", "1", "--model", layers("c.yaml", "  - {kind: batch_norm}\n  - {kind: dense, units: 2}\n")), "batch_norm"},
		{"kernel larger than image", append(own, "--epsilon", "1", "--model", layers("d.yaml", "  - {kind: conv2d, filters: 2, kernel: 9}\n  - {kind: flatten}\n  - {kind: dense, units: 2}\n")), "window"},
		{"class count", append(own, "--epsilon", "1", "--model", layers("e.yaml", "  - {kind: flatten}\n  - {kind: dense, units: 3}\n")), "2"},
		{"learning rate 0", append(own, "--epsilon", "1", "--model", tiny, "--learning-rate", "0"), "learning-rate"},
		{"learning rate NaN", append(own, "--epsilon", "1", "--model", tiny, "--learning-rate", "NaN"), "learning-rate"},
		{"epsilon and noise", append(own, "--epsilon", "1", "--noise-multiplier", "1", "--model", tiny), "not both"},
		{"neither", append(own, "--model", tiny), "--epsilon"},
		{"noise 0", append(own, "--noise-multiplier", "0", "--model", tiny), "noise-multiplier"},
		{"batch 0", append(own, "--epsilon", "1", "--model", tiny, "--batch", "0"), "batch"},
		{"batch and rate", append(own, "--epsilon", "1", "--model", tiny, "--batch", "10", "--sampling-rate", "0.5"), "--sampling-rate"},
		{"unclipped", append(own, "--epsilon", "1", "--model", tiny, "--clipping", "none"), "clipping"},
		{"without noise on own data", append(own, "--non-private", "--model", tiny), "public data"},
		{"optimizer", append(own, "--epsilon", "1", "--model", tiny, "--optimizer", "lion"), "optimizer"},
		{"activation", append(own, "--epsilon", "1", "--model", tiny, "--activation", "swish"), "swish"},
		{"augment 0", append(own, "--epsilon", "1", "--model", tiny, "--augment", "0"), "--augment"},
		{"too many variants", append(own, "--epsilon", "1", "--model", tiny, "--augment", "65"), "64 variants"},
		{"flip alone", append(own, "--epsilon", "1", "--model", tiny, "--flip"), "--augment"},
		{"shift alone", append(own, "--epsilon", "1", "--model", tiny, "--shift", "1"), "--augment"},
		{"shift beyond the image", append(own, "--epsilon", "1", "--model", tiny, "--augment", "2", "--shift", "8"), "0 to 7 pixels"},
		{"equal variants", append(own, "--epsilon", "1", "--model", tiny, "--augment", "2", "--shift", "0"), "identical variants"},
		{"ema 1", append(own, "--epsilon", "1", "--model", tiny, "--ema", "1"), "decay"},
		{"ema NaN", append(own, "--epsilon", "1", "--model", tiny, "--ema", "NaN"), "decay"},
		{"ema and average", append(own, "--epsilon", "1", "--model", tiny, "--ema", "0.9", "--average", "0.5"), "--average"},
		{"average 2", append(own, "--epsilon", "1", "--model", tiny, "--average", "2"), "[0, 1]"},
		{"schedule", append(own, "--epsilon", "1", "--model", tiny, "--schedule", "square"), "schedule"},
		{"warmup", append(own, "--epsilon", "1", "--model", tiny, "--warmup", "1"), "warm-up"},
		{"train-last", append(own, "--epsilon", "1", "--model", tiny, "--train-last", "3"), "2 layers"},
		{"train-last below 1", append(own, "--epsilon", "1", "--model", tiny, "--train-last", "-1"), "--train-last"},
		{"front end", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "wavelet"), "front end"},
		{"front end without a number", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "dct"), "dct:64"},
		{"too many coefficients", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "dct:65"), "65 coefficients"},
		{"front end of a net that takes other inputs", append(own, "--epsilon", "1", "--model", "fcn-300-64-10", "--front-end", "dct:64"), "300"},
		{"pca", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "pca:4"), "not paid for"},
		{"no random numbers", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "random:0"), "random:64"},
		{"more random numbers than inputs", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "random:65"), "1 to 64"},
		{"no paid components", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "dp-pca:0"), "dp-pca:64"},
		{"more paid components than inputs", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "dp-pca:65"), "1 to 64"},
		{"hopeless components", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "dp-pca:40"), "hopeless"},
		{"epsilon too small for components", append(own, "--epsilon", "0.001", "--model", tiny, "--front-end", "dp-pca:1"), "hopeless"},
		{"components of variants", append(own, "--epsilon", "5", "--model", tiny, "--front-end", "dp-pca:1", "--augment", "2"), "--augment"},
		{"second front end unknown", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "pool:mean,wavelet"), "wavelet"},
		{"paid mean without a bound", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "dct:9,centre"), "normalize"},
		{"scatter of another size", append(own, "--epsilon", "1", "--model", file("s.yaml", "version: 1\nname: s\ninput: [30, 30, 1]\noutputs: 2\nlayers:\n  - {kind: scatter}\n  - {kind: dense}\n")), "multiples of 4"},
		{"pca on own data", append(own, "--epsilon", "1", "--model", tiny, "--front-end", "pca:4", "--as-published"), "public data"},
		{"as published alone", append(own, "--epsilon", "1", "--model", tiny, "--as-published"), "leave out --as-published"},
		{"memory", append(own, "--epsilon", "1", "--model", tiny, "--memory", "lots"), "memory"},
		{"classes fewer than labels", []string{"train", x, "--labels", y, "--classes", "up", "--rows", "public", "--epsilon", "1", "--model", tiny}, "class"},
		{"no labels", []string{"train", x, "--rows", "public", "--epsilon", "1", "--model", tiny}, "labels"},
		{"nothing but a file of images", []string{"train", x, "--epsilon", "1", "--model", tiny}, "missing --labels"},
		{"nothing but an IDX file", []string{"train", file("bare", "\x00\x00\x08\x03\x00\x00"), "--epsilon", "1", "--model", tiny}, "missing --labels"},
		{"no rows", []string{"train", x, "--labels", y, "--classes", "up,down", "--epsilon", "1", "--model", tiny}, "number of images"},
		{"mixed sizes", []string{"train", mixed, "--rows", "public", "--epsilon", "1", "--model", tiny}, "a.png"},
		{"cut short", []string{"train", file("cut.npy", "\x93NUMPY\x01\x00"), "--labels", y, "--classes", "up,down", "--rows", "public", "--epsilon", "1", "--model", tiny}, "cut.npy"},
		{"truncated IDX", []string{"train", file("cut.idx", "\x00\x00\x08\x03\x00\x00"), "--labels", file("l.idx", "\x00\x00\x08\x01\x00\x00\x00\x01\x00"), "--classes", "a,b", "--rows", "public", "--epsilon", "1", "--model", tiny}, "cut.idx"},
		{"a built-in's name", []string{"train", named, "--labels", y, "--classes", "up,down", "--rows", "public", "--epsilon", "1", "--model", tiny}, `is the name of the built-in public data set "mnist"`},
		{"nothing there", []string{"train", filepath.Join(dir, "none"), "--epsilon", "1", "--model", tiny}, "neither"},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := filepath.Join(dir, "refused")
			status, out, errs := call(t, append(c.args, "--out", to)...)
			line, rest, _ := strings.Cut(strings.TrimSpace(errs), "\n")
			if status != exitUsage || out != "" || !strings.HasPrefix(line, "error: ") || !strings.Contains(errs, c.want) {
				t.Errorf("status %d, stdout %q, stderr %q; want 2 and %q", status, out, errs, c.want)
			}
			if rest != "" && (!strings.HasPrefix(rest, "hint: ") || strings.Contains(rest, "\n")) {
				t.Errorf("more than one line and a hint: %q", errs)
			}
			if _, err := os.Stat(to); err == nil {
				t.Error("an output directory was left behind")
			}
		})
	}
	if _, out, _ := call(t, "ledger", "show", "squares", "--json"); strings.Contains(out, "reserve") && strings.Contains(out, "committed") {
		t.Errorf("something was charged: %s", out)
	}
}

// A step that is far too long diverges: it says so, and the charge stands.
func TestTrainDiverges(t *testing.T) {
	dir := atHome(t)
	x, y := squares(t, dir, 100)
	net := filepath.Join(dir, "deep.yaml")
	text := strings.Replace(tinyNet, "kind: tanh", "kind: relu", 1)
	if err := os.WriteFile(net, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, errs := call(t, "train", x, "--labels", y, "--classes", "up,down", "--rows", "public", "--model", net,
		"--epsilon", "1", "--delta", "1e-3", "--learning-rate", fmt.Sprint(math.MaxFloat32), "--anyway", "--epochs", "30", "--out", filepath.Join(dir, "o"))
	if status != exitOther || out != "" || !strings.Contains(errs, "diverged") {
		t.Fatalf("status %d, stdout %q, stderr %q", status, out, errs)
	}
	_, shown, _ := call(t, "ledger", "show", "squares", "--json")
	if !strings.Contains(shown, `"reserved"`) || strings.Contains(shown, `"entries": []`) {
		t.Errorf("the charge is gone: %s", shown)
	}
}
