package kernel

import (
	"bytes"
	"crypto/aes"
	"testing"

	"golang.org/x/sys/cpu"
)

// Processors with 256-bit AES never take the narrow stream by themselves.
func TestNarrowKeyStreamIsAESCounterMode(t *testing.T) {
	if !cpu.X86.HasAES || !cpu.X86.HasAVX2 {
		t.Skip("needs AES and AVX2")
	}
	key := testKey(1)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	s := &KeyStream{block: block}
	want, got := make([]byte, 3*KeyStreamUnit), make([]byte, 3*KeyStreamUnit)
	const counter = 1<<32 - 40 // carries into the high word
	s.keyStream(&portable, want, counter)
	expandKey(&s.schedule, key)
	keyStreamNarrow(got, &s.schedule, counter)
	if !bytes.Equal(got, want) {
		t.Error("wrong stream")
	}
}
