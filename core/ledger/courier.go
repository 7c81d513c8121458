package ledger

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
)

// ErrToken is returned for a permit or a message that was not made with this ledger for this study
// and purpose.
var ErrToken = sealed.ErrToken

// Courier carries permits and messages between processes that use one ledger, through third parties
// that need not be trusted: these learn only the number of messages and their lengths.
type Courier struct {
	name   string
	permit [32]byte
	letter cipher.AEAD
}

// Courier returns the ledger's courier. It reads the ledger's secret and writes nothing.
func (l *Ledger) Courier(ctx context.Context) (*Courier, error) {
	secret, err := l.secret(ctx)
	if err != nil {
		return nil, err
	}
	if len(secret) == 0 {
		return nil, errors.New("ledger: it has no secret yet")
	}
	name, letter := derive(secret, "pawl name of a fleet", ""), derive(secret, "pawl letters of a fleet", "")
	block, err := aes.NewCipher(letter[:])
	if err != nil {
		return nil, err
	}
	c := &Courier{name: hex.EncodeToString(name[:8]), permit: derive(secret, "pawl permits of a fleet", "")}
	c.letter, err = cipher.NewGCM(block)
	return c, err
}

// Name returns a public name that distinguishes ledgers.
func (c *Courier) Name() string { return c.name }

// Send takes event out of the permit's unused events and returns a token for another process; see
// sealed.Travel. It closes the permit.
func (c *Courier) Send(p *Permit, event dp.Event, study, trial string) ([]byte, error) {
	return sealed.Travel(p, c.permit, event, study, trial)
}

// Receive returns the permit of a token. A token that was sent for another study or trial, or was
// altered, gives ErrToken.
func (c *Courier) Receive(token []byte, study, trial string) (*Permit, error) {
	return sealed.Arrive(token, c.permit, study, trial)
}

// grain is what lengths of closed messages are rounded up to: the length of a result would tell
// a failed training from one with a score.
const grain = 256

// Close encrypts a message (AES-256-GCM with a random nonce), padded so that its length reveals
// little. about is not encrypted, but must be the same when the message is opened.
func (c *Courier) Close(message []byte, about string) ([]byte, error) {
	padded := make([]byte, (len(message)+4+grain-1)/grain*grain)
	binary.LittleEndian.PutUint32(padded, uint32(len(message)))
	copy(padded[4:], message)
	nonce := make([]byte, c.letter.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return c.letter.Seal(nonce, nonce, padded, []byte(about)), nil
}

// Open decrypts the output of Close; anything else gives ErrToken.
func (c *Courier) Open(message []byte, about string) ([]byte, error) {
	n := c.letter.NonceSize()
	if len(message) < n {
		return nil, ErrToken
	}
	padded, err := c.letter.Open(nil, message[:n], message[n:], []byte(about))
	if err != nil || len(padded) < 4 || uint64(binary.LittleEndian.Uint32(padded)) > uint64(len(padded)-4) {
		return nil, ErrToken
	}
	return padded[4 : 4+binary.LittleEndian.Uint32(padded)], nil
}

// Misplaced reports whether an error means that a permit does not fit its use: a fault of the
// calling code and not a failed training run.
func Misplaced(err error) bool {
	return errors.Is(err, sealed.ErrToken) || errors.Is(err, sealed.ErrNotReserved) || errors.Is(err, sealed.ErrForeign) || errors.Is(err, sealed.ErrWrongDataset)
}
