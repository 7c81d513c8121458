//go:build !amd64

package kernel

func machines() []*machine { return []*machine{&portable} }

func subWord(uint32) uint32 { panic("kernel: no AES here") }
