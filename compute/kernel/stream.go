package kernel

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
)

// KeyStream is AES-256 in counter mode with any part at hand: block i of it is the
// cipher of the number i as 16 bytes, the highest first. The bits are the same on
// every machine. A KeyStream is never written to: many goroutines may read at once.
type KeyStream struct {
	block    cipher.Block
	schedule [60]uint32 // expanded only where the processor has AES
}

// KeyStreamUnit is what a KeyStream is read in multiples of, in bytes.
const KeyStreamUnit = 256

// NewKeyStream returns the stream of a key, which must be secret, uniform and used for
// nothing else.
func NewKeyStream(key [32]byte) *KeyStream {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("kernel: AES-256 refuses a key of 32 bytes: " + err.Error())
	}
	s := &KeyStream{block: block}
	if active.keyStream != nil {
		expandKey(&s.schedule, key)
	}
	return s
}

// Read fills dst with the blocks of 16 bytes from number first on. A length that is no
// multiple of KeyStreamUnit panics.
func (s *KeyStream) Read(dst []byte, first uint64) {
	if len(dst)%KeyStreamUnit != 0 {
		panic(fmt.Sprintf("kernel: %d bytes of a key stream, not a multiple of %d", len(dst), KeyStreamUnit))
	}
	if len(dst) > 0 {
		s.keyStream(active, dst, first)
	}
}

// keyStream fills dst, whole units, from the block with that counter on.
func (s *KeyStream) keyStream(x *machine, dst []byte, counter uint64) {
	if x.keyStream != nil {
		x.keyStream(dst, &s.schedule, counter)
		return
	}
	// Block by block in place: the counter mode of crypto/cipher allocates.
	for ; len(dst) > 0; dst, counter = dst[aes.BlockSize:], counter+1 {
		b := dst[:aes.BlockSize]
		clear(b[:8])
		binary.BigEndian.PutUint64(b[8:], counter)
		s.block.Encrypt(b, b)
	}
}

// expandKey writes the 15 round keys of AES-256 (FIPS 197, Sec. 5.2) as words in
// memory order.
func expandKey(schedule *[60]uint32, key [32]byte) {
	for i := range 8 {
		schedule[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	round := uint32(1)
	for i := 8; i < len(schedule); i++ {
		t := schedule[i-1]
		switch i % 8 {
		case 0:
			t = subWord(t>>8|t<<24) ^ round
			round <<= 1
		case 4:
			t = subWord(t)
		}
		schedule[i] = schedule[i-8] ^ t
	}
}
