package cli

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A network is trained on public images first: with hardly any budget it has their accuracy. Images of another
// size or other classes, DATA itself in any order and what the ledger knows as sensitive are refused in one line,
// and nothing is charged.
func TestTrainWithAPublicTeacher(t *testing.T) {
	dir := atHome(t)
	x, y := squares(t, dir, 400)
	named := func(name string) string {
		sub := filepath.Join(dir, name)
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		return sub
	}
	// As many other images, of the same kind: squares repeats itself after 50, so values are moved.
	px, py := squares(t, named("elsewhere"), 300)
	other := filepath.Join(dir, "teacher.npy")
	b, err := os.ReadFile(px)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(b) - 300*64*4; i < len(b); i += 4 {
		b[i+2] ^= byte(i / 4 % 7 * 9) // the first digits of a number: not the same pixels
	}
	if err := os.WriteFile(other, b, 0o644); err != nil {
		t.Fatal(err)
	}
	// The same pixels in other numbers: from 0 to 255.
	near := filepath.Join(dir, "near.npy")
	if b, err = os.ReadFile(px); err != nil {
		t.Fatal(err)
	}
	for i := len(b) - 300*64*4; i < len(b); i += 4 {
		x := math.Float32frombits(binary.LittleEndian.Uint32(b[i:]))
		binary.LittleEndian.PutUint32(b[i:], math.Float32bits(x*255))
	}
	if err := os.WriteFile(near, b, 0o644); err != nil {
		t.Fatal(err)
	}
	train := func(more ...string) (int, string, string) {
		return call(t, append([]string{"train", x, "--labels", y, "--classes", "up,down", "--rows", "400", "--model", "logistic", "--epochs", "1", "--batch", "80",
			"--epsilon", "0.05", "--delta", "1e-4", "--anyway", "--json"}, more...)...)
	}
	var wide strings.Builder
	for range 300 * 16 {
		wide.WriteString("\x00\x00\x00\x00")
	}
	small := filepath.Join(dir, "small.npy")
	writeNPY(t, small, "<f4", "(300, 4, 4, 1)", []byte(wide.String()))
	for _, c := range []struct {
		more []string
		want string
	}{
		{[]string{"--public", filepath.Join(dir, "none")}, "--public: "},
		{[]string{"--public", small, "--public-labels", py}, "its images are 4×4×1, those of squares are 8×8×1"},
		{[]string{"--public", "mnist"}, "--public"},
		{[]string{"--public-labels", py}, "--public-labels goes with --public"},
		{[]string{"--public", "mnist", "--public-labels", py}, "mnist is a built-in data set"},
		{[]string{"--public", px, "--public-labels", py}, "holds images of DATA itself"},
		{[]string{"--public", near, "--public-labels", py}, "holds images of DATA itself"},
	} {
		if status, _, errs := train(c.more...); status == 0 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %s, want %q", c.more, status, errs, c.want)
		}
	}
	if status, _, _ := call(t, "ledger", "show", "squares"); status != 2 {
		t.Error("a run that was refused is in the ledger")
	}
	// A fit takes and refuses the same sets.
	fit := func(more ...string) (int, string, string) {
		return call(t, append([]string{"fit", x, "--labels", y, "--classes", "up,down", "--rows", "400", "--epsilon", "0.05", "--delta", "1e-4", "--anyway", "--json", "--public"}, more...)...)
	}
	if status, _, errs := fit(px, "--public-labels", py); status != 2 || !strings.Contains(errs, "holds images of DATA itself") {
		t.Errorf("a fit on DATA as its own teacher: status %d, %s", status, errs)
	}
	status, text, errs := train("--public", other, "--public-labels", py)
	if status != 0 {
		t.Fatal(errs)
	}
	var s struct {
		Privacy struct {
			NotCovered []string `json:"not_covered"`
		}
		Choice struct {
			Hyperparameters struct {
				Set struct {
					Name, SHA256 string
					Rows         int
				} `json:"public_set"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	if set := s.Choice.Hyperparameters.Set; set.Name != "teacher" || set.Rows != 300 || len(set.SHA256) != 64 {
		t.Errorf("the statement names the public set %+v", set)
	}
	if !strings.Contains(strings.Join(s.Privacy.NotCovered, "\n"), "The public set: teacher (300 examples") {
		t.Errorf("the statement does not say that the set is declared public: %v", s.Privacy.NotCovered)
	}
	t.Setenv("HOME", t.TempDir()) // another ledger, which knows no budget
	if status, text, errs := fit(other, "--public-labels", py, "--out", filepath.Join(dir, "fitted")); status != 0 || !strings.Contains(text, "The public set: teacher (300 examples") || !strings.Contains(text, `"name": "images-taught"`) {
		t.Errorf("a fit with a teacher: status %d, %s %s", status, errs, text)
	}
}
