package entropy

import (
	"fmt"
	"io"
	"log/slog"
)

// String returns only whether the stream is secret.
func (s Source) String() string {
	switch {
	case s.state == nil:
		return "entropy.Source(zero)"
	case (*s.state).seeded:
		return "entropy.Source(seeded, NOT PRIVATE)"
	default:
		return "entropy.Source(redacted)"
	}
}

// Format prints String for every verb and flag: %#v and %x would show the key.
func (s Source) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns String; encoders of JSON, YAML and XML use it.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue logs String.
func (s Source) LogValue() slog.Value { return slog.StringValue(s.String()) }
