//go:build !amd64

package kernel

func machines() []*machine { return []*machine{&portable} }

func keyStreamWide([]byte, *[60]uint32, uint64) { panic("kernel: no wide AES here") }

func subWord(uint32) uint32 { panic("kernel: no wide AES here") }
