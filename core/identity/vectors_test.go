package identity

// VectorsPrint is the print of vectors behind keys, in any order: vector i is data[i*width : (i+1)*width]. It
// holds a sketch of the vectors alone, so that other keys do not hide them.
func VectorsPrint(key [32]byte, keys []string, data []float32, width int) *Print {
	b := NewVectors(key)
	for i, text := range keys {
		b.AddVector(text, data[i*width:(i+1)*width])
	}
	return b.Print()
}
