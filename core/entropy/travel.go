package entropy

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

// ErrTravel is returned for bytes that are not the output of Seal under this key and binding.
var ErrTravel = errors.New("entropy: not a stream that was sealed under this key for this purpose")

// Seal encrypts the stream for another process that knows key, which opens it with Unseal and then
// draws the same values from its beginning. bound is authenticated and not encrypted: opening needs
// the same bytes. The mark of a seed is included.
//
// The cipher is AES-256-GCM under a separate key with a random nonce, so one key may seal at most
// 2³² streams.
func (s *Source) Seal(key [32]byte, bound []byte) ([]byte, error) {
	st := s.must()
	var nonce [12]byte
	fresh, err := newKey()
	if err != nil {
		return nil, err
	}
	copy(nonce[:], fresh[:])
	plain := append(st.root[:len(st.root):len(st.root)], 0)
	if st.seeded {
		plain[len(st.root)] = 1
	}
	return travelling(key).Seal(nonce[:], nonce[:], plain, bound), nil
}

// Unseal opens the output of Seal; anything else gives ErrTravel.
func Unseal(key [32]byte, bound, sealed []byte) (*Source, error) {
	if len(sealed) < 12 {
		return nil, ErrTravel
	}
	plain, err := travelling(key).Open(nil, sealed[:12], sealed[12:], bound)
	if err != nil || len(plain) != 33 || plain[32] > 1 {
		return nil, ErrTravel
	}
	return newSource([32]byte(plain[:32]), plain[32] == 1), nil
}

func travelling(key [32]byte) cipher.AEAD {
	own := deriveKey(key, purposeKey, "stream that travels", nil)
	block, err := aes.NewCipher(own[:])
	if err == nil {
		var sealed cipher.AEAD
		if sealed, err = cipher.NewGCM(block); err == nil {
			return sealed
		}
	}
	panic(fmt.Sprintf("entropy: AES-256-GCM unavailable: %v", err)) // only a wrong key length can cause it
}
