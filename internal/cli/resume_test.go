package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// interrupted runs the program until it has made a checkpoint and a step.
func interrupted(t *testing.T, path string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	go func() {
		var begun int64
		for ctx.Err() == nil {
			if n := size(); begun == 0 {
				begun = n
			} else if n > begun {
				cancel() // the state came with a step
			}
			time.Sleep(time.Millisecond)
		}
	}()
	var out, errs bytes.Buffer
	status := run(ctx, append(args, "--checkpoint", path, "--checkpoint-every", "0s"), streams{in: strings.NewReader(""), out: &out, err: &errs})
	if status != exitOther || !strings.Contains(errs.String(), "hint: nothing is lost: repeat the command with --resume "+path) {
		t.Fatalf("status %d: %s", status, errs.String())
	}
}

// A checkpoint that too expensive is refused in one line with its mend, and costs
// nothing; after all of it the run goes on.
func TestResumeRefusals(t *testing.T) {
	dir := atHome(t)
	x, y := squares(t, dir, 600)
	net, other, kept := filepath.Join(dir, "tiny.yaml"), filepath.Join(dir, "other.yaml"), filepath.Join(dir, "run.ckpt")
	for path, text := range map[string]string{net: tinyNet, other: strings.Replace(tinyNet, "units: 8", "units: 9", 1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(more ...string) []string {
		return append([]string{"train", x, "--labels", y, "--classes", "up,down", "--rows", "public", "--model", net, "--batch", "100", "--epochs", "100",
			"--noise-multiplier", "10", "--delta", "1e-4", "--accountant", "rdp", "--out", filepath.Join(dir, "out")}, more...)
	}
	interrupted(t, kept, command()...)
	whole, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	images, err := os.ReadFile(x)
	if err != nil {
		t.Fatal(err)
	}
	entries := func() int {
		_, out, _ := call(t, "ledger", "show", "squares", "--json")
		var s struct{ Entries []any }
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatal(err)
		}
		return len(s.Entries)
	}
	earlier, err := os.ReadFile("../../workflow/checkpoint/testdata/earlier.ckpt")
	if err != nil {
		t.Fatal(err)
	}
	edited := func(at int, by byte) []byte {
		b := slices.Clone(whole)
		b[at] ^= by
		return b
	}
	for _, c := range []struct {
		name          string
		file          []byte
		args          []string
		message, hint string
	}{
		{"model", whole, command("--model", other), "belongs to a run with another model", "give the flags of the run"},
		{"settings", whole, command("--batch", "50", "--clipping-norm", "2"), "belongs to a run with another batch, clipping-norm", "give the flags of the run"},
		{"simulation", whole, command("--seed", "3"), "another seed", "give the flags"},
		{"cut short", whole[:len(whole)/2], command(), "is cut short", "unedited copy"},
		{"edited", edited(len(whole)-40, 1), command(), "was edited or damaged", "unedited copy"},
		{"earlier", earlier, command(), "was started by an earlier version of pawl", "start a new run with --checkpoint"},
		{"newer", edited(16, 1), command(), "written by a newer version of pawl", "use the pawl that wrote it"},
	} {
		if err := os.WriteFile(kept, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, errs := call(t, append(c.args, "--resume", kept)...)
		if status != exitUsage || out != "" || !strings.Contains(errs, "error: "+kept+": ") || !strings.Contains(errs, c.message) || !strings.Contains(errs, "hint: ") || !strings.Contains(errs, c.hint) {
			t.Errorf("%s: status %d, %q", c.name, status, errs)
		}
	}
	if err := os.WriteFile(kept, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(images)
	changed[len(changed)-2] ^= 1
	if err := os.WriteFile(x, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := call(t, command("--resume", kept)...); status != exitUsage || !strings.Contains(errs, "belongs to other bytes") {
		t.Errorf("other data: status %d, %s", status, errs)
	}
	if err := os.WriteFile(x, images, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := entries(); n != 1 {
		t.Errorf("%d entries after refusals", n)
	}
	if status, _, errs := call(t, command("--resume", kept)...); status != exitOK || !strings.Contains(errs, "resuming after step") {
		t.Fatalf("status %d: %s", status, errs)
	}
	if _, err := os.Stat(kept); err == nil || entries() != 1 {
		t.Errorf("%d entries; the key is left: %v", entries(), err == nil)
	}
}

// Texts go on like images.
func TestResumeTexts(t *testing.T) {
	dir := atHome(t)
	net, kept := filepath.Join(dir, "texts.yaml"), filepath.Join(dir, "run.ckpt")
	if err := os.WriteFile(net, []byte("version: 1\nname: texts\ninput: 151\noutputs: 2\nlayers:\n  - {kind: embedding, vocabulary: 100, units: 4}\n  - {kind: mean_over_time}\n  - {kind: dense, units: 2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := []string{"train", "sms-spam", "--model", net, "--noise-multiplier", "3", "--accountant", "rdp", "--delta", "1e-5", "--epochs", "20", "--optimizer", "adam", "--ema", "0.9", "--out", filepath.Join(dir, "out")}
	interrupted(t, kept, command...)
	if status, _, errs := call(t, append(command, "--resume", kept)...); status != exitOK {
		t.Fatalf("status %d: %s", status, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "model", "model.safetensors")); err != nil {
		t.Error(err)
	}
}
