package ledger

import "context"

// SensitiveUnder returns the name of the sensitive data set that has, or once had,
// bytes of this digest (Ledger.Digest), or "". Such bytes are nobody's public file.
func (l *Ledger) SensitiveUnder(ctx context.Context, digest []byte) (string, error) {
	names, err := l.Names(ctx)
	if err != nil || len(digest) != len(Hash{}) {
		return "", err
	}
	for _, name := range names {
		found := false
		err := l.view(ctx, name, func(s *state) error {
			found = !s.public && s.digests[Hash(digest)]
			return nil
		})
		if err != nil || found {
			return name, err
		}
	}
	return "", nil
}
