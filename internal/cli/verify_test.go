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
	if status := run(context.Background(), []string{"fit", "testdata/released/people.csv", "--schema", "testdata/released/people.yaml", "--target", "ill", "--epsilon", "2", "--delta", "1e-6", "--preset", "quick", "--out", out, "--ledger", address}, streams{err: &said, out: &said}); status != 0 {
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
	text, err := os.ReadFile(filepath.Join(out, workflow.StatementFile))
	if err != nil {
		t.Fatal(err)
	}
	var statement struct {
		Budget struct{ Dataset, Entry string }
	}
	if err := json.Unmarshal(text, &statement); err != nil {
		t.Fatal(err)
	}
	sign := func() *ledger.Signature {
		files, err := workflow.Digests(out, []string{workflow.StatementFile, workflow.ModelDir, workflow.ReportFile, workflow.CardFile})
		if err != nil {
			t.Fatal(err)
		}
		word, err := l.Sign(context.Background(), statement.Budget.Dataset, statement.Budget.Entry, files)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := json.Marshal(word)
		if err == nil {
			err = os.WriteFile(filepath.Join(out, workflow.SignatureFile), signed, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return word
	}
	const spec, card = workflow.ModelDir + "/model.json", workflow.CardFile
	for _, lie := range []struct{ name, file, old, new, want string }{
		{"none", workflow.StatementFile, "", "", ""},
		{"a lower epsilon", workflow.StatementFile, `"epsilon": 2,`, `"epsilon": 1.9,`, "cost epsilon 2 at delta"},
		{"more noise", workflow.StatementFile, `"noise_multiplier": `, `"noise_multiplier": 9`, "the events of the statement are not those"},
		{"another relation", workflow.StatementFile, `"relation": "add_or_remove_one",
    "unit"`, `"relation": "replace_one",
    "unit"`, "the statement protects"},
		{"another entry", workflow.StatementFile, `"entry": "`, `"entry": "0`, "the statement is of entry"},
		{"public", workflow.StatementFile, `"public": false`, `"public": true`, "in the ledger it is sensitive"},
		{"a cheaper stage", workflow.StatementFile, `"order": 2,
        "epsilon": `, `"order": 2,
        "epsilon": 1.9, "was": `, "the stages of the statement claim less"},
		{"a cheaper first stage", workflow.StatementFile, `"order": 1,
        "epsilon": `, `"order": 1,
        "epsilon": 1.9, "was": `, "the stages of the statement claim less"},
		{"a stage without rows", workflow.StatementFile, `"scope": "[0.6667, 1)"`, `"scope": "no sensitive row"`, "the stages of the statement claim less"},
		{"another stage", workflow.StatementFile, `"train": {`, `"look": {`, "the statement has the stages [look score], and the ledger charged [train score]"},
		{"a card with a lower epsilon", card, "(ε, δ) = (2.00", "(ε, δ) = (1.00", "README.md disagrees with the statement"},
		{"a card without its claim", card, "**(ε, δ) = ", "**about ", "README.md disagrees with the statement"},
		{"a card with a better score", card, "      value: 0.", "      value: 0.9", "README.md disagrees with the statement"},
		{"a card that is not private", card, "- differential-privacy", "- not-private", "README.md disagrees with the statement"},
		{"a model with a lower epsilon", spec, `"epsilon": 2,`, `"epsilon": 1,`, "model.json disagrees with the statement"},
		{"a model that is not private", spec, `"version": 1,`, `"version": 1, "claim": "NOT PRIVATE",`, "model.json disagrees with the statement"},
		{"a model without description", spec, `"version": 1,`, `version`, "not a model description"},
	} {
		t.Run(lie.name, func(t *testing.T) {
			path := filepath.Join(out, lie.file)
			honest, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			false := strings.Replace(string(honest), lie.old, lie.new, 1)
			if lie.old != "" && false == string(honest) {
				t.Fatalf("%q is not in %s", lie.old, lie.file)
			}
			if err := os.WriteFile(path, []byte(false), 0o644); err != nil {
				t.Fatal(err)
			}
			word := sign()
			_, err = verify.Folder(out, word.Key)
			if lie.want == "" && err != nil || lie.want != "" && (err == nil || !strings.Contains(err.Error(), lie.want)) {
				t.Errorf("%v, want %q", err, lie.want)
			}
			if err := os.WriteFile(path, honest, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	if _, err := l.Sign(context.Background(), statement.Budget.Dataset, "0000000000000000", map[string]ledger.Hash{}); err == nil {
		t.Error("an entry that is not in the log was signed for")
	}
}
