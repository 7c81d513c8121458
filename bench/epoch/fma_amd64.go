package main

//go:generate go -C ../../tools/gen run . -part peak -out ../../bench/epoch/peak_amd64.s -stubs ../../bench/epoch/peak_amd64.go -pkg main

// fma is the loop for a kernel and the operations of a round, nil for none.
func fma(kernel string) (run func(count int), operations float64) {
	switch kernel {
	case "avx512":
		return fmaAVX512, 2 * 16 * 24
	case "avx2":
		return fmaAVX2, 2 * 8 * 12
	}
	return nil, 0
}
