package identity

import (
	"encoding/binary"
	"math"
)

// NewVectors returns a builder for vectors, which are added one by one.
func NewVectors(key [32]byte) *Builder { return newBuilder(Vectors, key, []string{"vector"}) }

// AddVector adds a vector behind a text: the key of an embedding, or the label of an image.
func (b *Builder) AddVector(text string, vector []float32) {
	b.buffer = append(appendLoose(b.buffer[:0], text), terminator)
	start := len(b.buffer)
	for _, x := range vector {
		if x == 0 {
			x = 0 // and not -0
		}
		b.buffer = binary.LittleEndian.AppendUint32(b.buffer, math.Float32bits(x))
	}
	b.tell(0, b.secret.hash(b.buffer[start:]), 1, b.buffer[start:])
	b.record()
}

// AddBytes is AddVector for pixels of one byte.
func (b *Builder) AddBytes(text string, vector []byte) {
	b.buffer = append(appendLoose(b.buffer[:0], text), terminator)
	start := len(b.buffer)
	b.buffer = append(b.buffer, vector...)
	b.tell(0, b.secret.hash(b.buffer[start:]), 1, b.buffer[start:])
	b.record()
}
