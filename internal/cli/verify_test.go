package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/core/ledger"
	"pawl/evidence/verify"
	"pawl/store"
	"pawl/workflow"
)

// Whoever holds the key can sign a false statement. Its claim is compared with what was charged all the same.
func TestVerifySignedLies(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	address, out := "sqlite:"+filepath.Join(dir, "ledger.db"), filepath.Join(dir, "out")
	var said strings.Builder
	if status := run(context.Background(), []string{"fit", "wdbc", "--epsilon", "2", "--preset", "quick", "--out", out, "--ledger", address}, streams{err: &said, out: &said}); status != 0 {
		t.Fatal(said.String())
	}
	at, err := store.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, kept, err := at.Open(context.Background(), "", func(string) {}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	path := filepath.Join(out, workflow.StatementFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var statement struct {
		Budget struct{ Dataset, Entry string }
	}
	if err := json.Unmarshal(text, &statement); err != nil {
		t.Fatal(err)
	}
	for _, lie := range []struct{ name, old, new, want string }{
		{"none", "", "", ""},
		{"a lower epsilon", `"epsilon": 2,`, `"epsilon": 1.9,`, "cost epsilon 2 at delta"},
		{"more noise", `"noise_multiplier": `, `"noise_multiplier": 9`, "the events of the statement are not those"},
		{"another relation", `"relation": "add_or_remove_one",
    "unit"`, `"relation": "replace_one",
    "unit"`, "the statement protects"},
		{"another entry", `"entry": "`, `"entry": "0`, "the statement is of entry"},
	} {
		t.Run(lie.name, func(t *testing.T) {
			false := strings.Replace(string(text), lie.old, lie.new, 1)
			if lie.old != "" && false == string(text) {
				t.Fatalf("%q is not in the statement", lie.old)
			}
			if err := os.WriteFile(path, []byte(false), 0o644); err != nil {
				t.Fatal(err)
			}
			files, err := workflow.Digests(out, []string{workflow.StatementFile, workflow.ModelDir, workflow.ReportFile, workflow.CardFile})
			if err != nil {
				t.Fatal(err)
			}
			word, err := l.Sign(context.Background(), statement.Budget.Dataset, statement.Budget.Entry, files)
			if err != nil {
				t.Fatal(err)
			}
			signed, err := json.Marshal(word)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(out, workflow.SignatureFile), signed, 0o644); err != nil {
				t.Fatal(err)
			}
			_, err = verify.Folder(out, word.Key)
			if lie.want == "" && err != nil || lie.want != "" && (err == nil || !strings.Contains(err.Error(), lie.want)) {
				t.Errorf("%v, want %q", err, lie.want)
			}
		})
	}
	if _, err := l.Sign(context.Background(), statement.Budget.Dataset, "0000000000000000", map[string]ledger.Hash{}); err == nil {
		t.Error("an entry that is not in the log was signed for")
	}
}
