package reader

// Each calls f with every key and its vector, which must not be changed, in no particular order.
func (e *Embeddings) Each(f func(key string, vector []float32)) {
	for key, i := range e.row {
		f(key, e.data[i*e.width:(i+1)*e.width])
	}
}
