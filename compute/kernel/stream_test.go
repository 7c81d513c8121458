package kernel

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"testing"
)

// The stream is AES-256 in counter mode from counter 0, as the standard
// library computes it.
func TestKeyStreamIsAESCounterMode(t *testing.T) {
	key := testKey(1)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 5*KeyStreamUnit)
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(want, want)
	onEach(t, func(t *testing.T, x *machine) {
		s := &KeyStream{block: block}
		if x.keyStream != nil {
			expandKey(&s.schedule, key)
		}
		got := make([]byte, len(want))
		s.keyStream(x, got, 0)
		if !bytes.Equal(got, want) {
			t.Error("wrong stream")
		}
		part := make([]byte, KeyStreamUnit)
		s.keyStream(x, part, 3*KeyStreamUnit/aes.BlockSize)
		if !bytes.Equal(part, want[3*KeyStreamUnit:4*KeyStreamUnit]) {
			t.Error("wrong stream from the fourth unit on")
		}
	})
}
