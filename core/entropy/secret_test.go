package entropy

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustSecret(t *testing.T) Secret {
	t.Helper()
	s, err := NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSecretsAreKept(t *testing.T) {
	s := mustSecret(t)
	again, err := RestoreSecret(s.Save())
	if err != nil {
		t.Fatal(err)
	}
	if s.Source("a", []byte("b")).Uint64() != again.Source("a", []byte("b")).Uint64() || s.Key("a") != again.Key("a") {
		t.Error("a restored secret is another one")
	}
	if s.Source("a").Seeded() {
		t.Error("a secret from the operating system is tainted")
	}
	if other := mustSecret(t); bytes.Equal(other.Save(), s.Save()) {
		t.Error("two secrets are one")
	}
	seen := map[uint64]string{}
	for name, src := range map[string]*Source{"a": s.Source("a"), "b": s.Source("b"), "a, b": s.Source("a", []byte("b")),
		"derived": s.Derive("a").Source("a"), "of the key": fromKey(s.Key("a")), "other": mustSecret(t).Source("a")} {
		v := src.Uint64()
		if other, ok := seen[v]; ok {
			t.Errorf("%s and %s are one stream", name, other)
		}
		seen[v] = name
	}
}

// Only what Save wrote is a secret: no zeros, no key of somebody's making, no file of an
// earlier version, nothing that was edited.
func TestForeignBytesAreNoSecret(t *testing.T) {
	saved := mustSecret(t).Save()
	zero := append(make([]byte, keyBytes), checkOf([keyBytes]byte{})...)
	for name, b := range map[string][]byte{"none": nil, "zeros": zero, "no check": append(bytes.Clone(saved[:keyBytes]), make([]byte, checkBytes)...),
		"a key alone": saved[:keyBytes], "longer": append(bytes.Clone(saved), 0), "chosen": bytes.Repeat([]byte{1}, SavedBytes)} {
		if _, err := RestoreSecret(b); !errors.Is(err, ErrSecret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(saved)
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		if _, err := RestoreSecret(b); err == nil {
			t.Fatal("an edited secret is taken")
		}
	})
	if !(Secret{}).IsZero() || (Secret{}).Save() != nil || mustSecret(t).IsZero() {
		t.Error("which secret is none")
	}
	for name, use := range map[string]func(){"Source": func() { Secret{}.Source("a") }, "Key": func() { Secret{}.Key("a") }, "Derive": func() { Secret{}.Derive("a") }} {
		mustPanic(t, name, use)
	}
}

func TestNothingPrintsTheSecret(t *testing.T) {
	s := mustSecret(t)
	type holder struct {
		Public  Secret
		private Secret
		hidden  *Secret
	}
	h := holder{s, s, &s}
	var outputs []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%p"} {
		outputs = append(outputs, fmt.Sprintf(verb, s), fmt.Sprintf(verb, h), fmt.Sprintf(verb, &h))
	}
	for _, v := range []any{s, h, map[string]Secret{"s": s}} {
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, string(out))
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "holder", h)
	outputs = append(outputs, log.String())
	key := s.Save()
	for _, out := range outputs {
		for _, shown := range []string{hex.EncodeToString(key[:4]), strings.Trim(fmt.Sprint(key[:4]), "[]")} {
			if strings.Contains(strings.ToLower(out), shown) {
				t.Errorf("%q shows the key", out)
			}
		}
	}
	if got := fmt.Sprint(s); got != secretWord {
		t.Errorf("got %q", got)
	}
}
