package text

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Unknown says what becomes of a token that a vocabulary does not list.
type Unknown string

const (
	// Skip leaves it out, as if the text did not have it.
	Skip Unknown = "skip"
	// Shared gives all of them one number, behind those of the list.
	Shared Unknown = "shared"
)

// Unknowns lists the rules.
var Unknowns = []Unknown{Skip, Shared}

// Vocabulary numbers tokens by a list. The list is a fact about some texts: unless it is
// public, it tells who wrote a rare word. Hasher needs none.
type Vocabulary struct {
	Unknown Unknown
	words   []string
	number  map[string]int
}

// mostWords keeps numbers exact in an input of float32.
const mostWords = 1 << 20

// VocabularyError is a fault of a list of tokens, on a line counted from 1.
type VocabularyError struct {
	Line int
	Msg  string
}

func (e *VocabularyError) Error() string { return e.Msg }

// ReadVocabulary reads one token a line, in the form that Tokens gives: the number of a
// token is its line, from 0. Faults are *VocabularyError.
func ReadVocabulary(r io.Reader, unknown Unknown) (*Vocabulary, error) {
	if !slices.Contains(Unknowns, unknown) {
		return nil, fmt.Errorf("text: no rule for unknown tokens is called %q", string(unknown))
	}
	v := &Vocabulary{Unknown: unknown, number: map[string]int{}}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	fault := func(msg string) error { return &VocabularyError{len(v.words) + 1, msg} }
	for in.Scan() {
		word := strings.TrimSuffix(in.Text(), "\r")
		if len(v.words) == 0 {
			word = strings.TrimPrefix(word, "\ufeff")
		}
		var tokens []string
		Tokens(word, func(t []byte) { tokens = append(tokens, string(t)) })
		switch _, twice := v.number[word]; {
		case !utf8.ValidString(word):
			return nil, fault("not UTF-8 text")
		case word == "":
			return nil, fault("an empty line instead of a token")
		case len(tokens) != 1:
			return nil, fault(fmt.Sprintf("not one token: texts are split into words, runs of digits and single symbols, and this line is split into %d", len(tokens)))
		case tokens[0] != word:
			return nil, fault("not written like a token: use small letters, and 0 for every digit")
		case twice:
			return nil, fault("the token is listed twice")
		case len(v.words) == mostWords:
			return nil, fault("a vocabulary of more than 1,048,576 tokens")
		}
		v.number[word] = len(v.words)
		v.words = append(v.words, word)
	}
	if err := in.Err(); err != nil {
		return nil, fault("a line that is longer than 1 MiB or cannot be read")
	}
	if len(v.words) == 0 {
		return nil, fault("the vocabulary is empty")
	}
	return v, nil
}

// Size is how many numbers there are.
func (v *Vocabulary) Size() int {
	if v.Unknown == Shared {
		return len(v.words) + 1
	}
	return len(v.words)
}

// Numbers appends to dst the numbers of the tokens of s in order, at most most of them.
func (v *Vocabulary) Numbers(dst []int, s string, most int) []int {
	n := 0
	Tokens(s, func(t []byte) {
		number, ok := v.number[string(t)]
		if !ok {
			if number = len(v.words); v.Unknown == Skip {
				return
			}
		}
		if n < most {
			dst = append(dst, number)
		}
		n++
	})
	return dst
}

// Bytes is the list as ReadVocabulary reads it.
func (v *Vocabulary) Bytes() []byte {
	var b bytes.Buffer
	for _, w := range v.words {
		b.WriteString(w)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// MarshalJSON gives the name of the list and its rule, for records of settings.
func (v *Vocabulary) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"unknown_token": %q, "list": %q}`, v.Unknown, v.Digest()), nil
}

// Digest names the list and its rule.
func (v *Vocabulary) Digest() string {
	sum := sha256.Sum256(append(v.Bytes(), v.Unknown...))
	return hex.EncodeToString(sum[:8])
}
