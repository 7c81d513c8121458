package attack

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestManifest(t *testing.T) {
	m := NewManifest([32]byte{1})
	if err := m.Add(TargetIn, []byte("0"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := m.Add(ShadowIn, []byte("2"), []byte("3")); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"target and shadow": m.Add(ShadowOut, []byte("9"), []byte("1")),
		"in and out":        m.Add(TargetOut, []byte("0")),
		"twice at once":     m.Add(TargetOut, []byte("7"), []byte("7")),
		"twice":             m.Add(TargetIn, []byte("0")),
	} {
		if !errors.Is(err, ErrOverlap) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.Add("no such", []byte("8")); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
	// A refusal adds nothing.
	if s := m.Sizes(); s[TargetIn] != 2 || s[ShadowIn] != 2 || s[ShadowOut] != 0 || s[TargetOut] != 0 {
		t.Errorf("%v", s)
	}
	if !m.Has(TargetIn, []byte("1")) || m.Has(TargetOut, []byte("1")) || m.Has(TargetIn, []byte("2")) {
		t.Error("records are in the wrong pool")
	}
	other := NewManifest([32]byte{2})
	if err := other.Add(TargetIn, []byte("0"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	if other.Hashes(TargetIn)[0] == m.Hashes(TargetIn)[0] {
		t.Error("hashes do not depend on the key")
	}
	text, err := json.Marshal(m)
	if err != nil || strings.Contains(string(text), "population") || !strings.Contains(string(text), m.Hashes(ShadowIn)[1]) {
		t.Errorf("%s, %v", text, err)
	}
}
