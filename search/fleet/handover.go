package fleet

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"

	"pawl/core/ledger"
)

// handover is one end of a transfer of rows: a key pair that lives as long as the process. Each
// end closes for one other, so that what is meant for one worker opens nowhere else, and whoever
// has recorded a transfer and learns the ledger's secret later cannot read it.
//
// The public keys and the secret are exchanged in messages that the ledger's secret closes: who
// does not have it can neither take part nor stand between.
type handover struct {
	secret  []byte // of the coordinator, known to all workers of the study
	private *ecdh.PrivateKey
}

func newHandover(secret []byte) (*handover, error) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return &handover{secret, private}, nil
}

func (h *handover) public() []byte { return h.private.PublicKey().Bytes() }

// close encrypts a part of the rows for the other end (AES-256-GCM with a random nonce). about
// must be the same when it is opened; it says which part of which study it is.
func (h *handover) close(part, other []byte, about string) ([]byte, error) {
	sealed, err := h.between(other, h.public(), other)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, sealed.NonceSize(), sealed.NonceSize()+len(part)+sealed.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return sealed.Seal(nonce, nonce, part, []byte(about)), nil
}

// open decrypts what the other end closed for this one; ledger.ErrToken for everything else.
func (h *handover) open(closed, other []byte, about string) ([]byte, error) {
	sealed, err := h.between(other, other, h.public())
	if err != nil {
		return nil, err
	}
	n := sealed.NonceSize()
	if len(closed) < n {
		return nil, ledger.ErrToken
	}
	part, err := sealed.Open(nil, closed[:n], closed[n:], []byte(about))
	if err != nil {
		return nil, ledger.ErrToken
	}
	return part, nil
}

// between is the cipher of two ends and one direction. Its key is made (HKDF, RFC 5869) of the
// coordinator's secret and of the one that the two ends agree on (X25519, RFC 7748), and is
// unknown to who lacks either.
func (h *handover) between(other, from, to []byte) (cipher.AEAD, error) {
	public, err := ecdh.X25519().NewPublicKey(other)
	if err != nil {
		return nil, ledger.ErrToken
	}
	shared, err := h.private.ECDH(public)
	if err != nil {
		return nil, ledger.ErrToken // a point of small order
	}
	key, err := hkdf.Key(sha256.New, shared, h.secret, "pawl rows for one worker "+string(from)+string(to), 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
