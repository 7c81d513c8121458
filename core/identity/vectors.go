package identity

import (
	"encoding/binary"
	"math"
)

// VectorsPrint is the print of vectors behind keys, in any order: vector i is data[i*width : (i+1)*width]. It
// holds a sketch of the vectors alone, so that other keys do not hide them.
func VectorsPrint(key [32]byte, keys []string, data []float32, width int) *Print {
	b := newBuilder(Vectors, key, []string{"vector"})
	for i, text := range keys {
		b.buffer = append(appendLoose(b.buffer[:0], text), terminator)
		start := len(b.buffer)
		for _, x := range data[i*width : (i+1)*width] {
			if x == 0 {
				x = 0 // and not -0
			}
			b.buffer = binary.LittleEndian.AppendUint32(b.buffer, math.Float32bits(x))
		}
		b.cell(0, b.buffer[start:])
		b.record()
	}
	return b.Print()
}
