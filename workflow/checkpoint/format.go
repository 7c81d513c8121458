package checkpoint

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"pawl/core/entropy"
)

// The file, little-endian: 16 bytes of name, version (4), saved secret (40; a key of 32
// in version 1), length of the identity (8), of the state (8), steps (8), identity as JSON, state, and HMAC-SHA-256 of all
// before under a key derived from the file's. Name and version keep their place in
// every version.
const (
	magic   = "pawl checkpoint\n"
	version = 2
	front   = len(magic) + 4
	header  = front + entropy.SavedBytes + 3*8
	sealed  = sha256.Size

	earlierKey    = 32
	earlierHeader = front + earlierKey + 3*8
)

func (f *File) seal(b []byte) []byte {
	var key [32]byte
	if f.earlier != nil {
		key = entropy.Derive(*f.earlier, "seal")
	} else {
		key = f.secret.Key("seal")
	}
	m := hmac.New(sha256.New, key[:])
	m.Write(b)
	return m.Sum(nil)
}

func (f *File) encode() []byte {
	of := f.of.bytes()
	b := make([]byte, 0, header+len(of)+len(f.state)+sealed)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = append(b, f.secret.Save()...)
	for _, n := range []int{len(of), len(f.state), f.step} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = append(append(b, of...), f.state...)
	return append(b, f.seal(b)...)
}

func (f *File) decode(b []byte) error {
	const mend = "take an unedited copy, " + anew
	short := func() error { return f.refuse(mend, "is cut short") }
	if len(b) < front && strings.HasPrefix(magic, string(b[:min(len(b), len(magic))])) {
		return short()
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return f.refuse("name the file that --checkpoint wrote", "is not a checkpoint")
	}
	v := binary.LittleEndian.Uint32(b[len(magic):])
	if v > version {
		return f.refuse("use the pawl that wrote it, "+anew, "was written by a newer version of pawl (format %d, this one reads %d)", v, version)
	}
	header, key := header, entropy.SavedBytes
	if v < version {
		header, key = earlierHeader, earlierKey
	}
	if len(b) < header+sealed {
		return short()
	}
	var damaged error
	if v < version {
		earlier := [earlierKey]byte(b[front:])
		f.earlier = &earlier
	} else if f.secret, damaged = entropy.RestoreSecret(b[front : front+key]); damaged != nil {
		return f.refuse(mend, "was edited or damaged")
	}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(b[front+key+8*i:]) }
	of, state, room := number(0), number(1), uint64(len(b)-header-sealed)
	if of <= 1<<40 && state <= 1<<40 && of+state > room {
		return short()
	}
	body, mac := b[:len(b)-sealed], b[len(b)-sealed:]
	if !hmac.Equal(mac, f.seal(body)) || of+state != room {
		return f.refuse(mend, "was edited or damaged")
	}
	if err := json.Unmarshal(body[header:header+int(of)], &f.of); err != nil {
		return f.refuse(mend, "was edited or damaged")
	}
	f.step = int(number(2))
	f.state = body[header+int(of):]
	return nil
}

// same refuses another computation, and names what differs.
func (f *File) same(of Identity) error {
	kept := f.of
	switch {
	case kept.Software != of.Software:
		return f.refuse("resume with that version, "+anew, "was written by pawl %s, which may round differently from this one, %s", kept.Software, of.Software)
	case kept.Kernel != of.Kernel:
		return f.refuse("resume on a machine of the same kind, "+anew, "was written with kernel %s, which rounds sums differently from %s here", kept.Kernel, of.Kernel)
	case kept.Dataset != of.Dataset:
		return f.refuse("give the data of the run, "+anew, "belongs to data set %q, not to %q", kept.Dataset, of.Dataset)
	case !bytes.Equal(kept.Data, of.Data):
		return f.refuse("give the bytes and the ledger of the run, "+anew, "belongs to other bytes of data set %q, or to another ledger", of.Dataset)
	}
	if !bytes.Equal(kept.bytes(), of.bytes()) {
		return f.refuse("give the flags of the run, "+anew, "belongs to a run with %s", differing(kept.Settings, of.Settings))
	}
	f.of = kept
	return nil
}

// differing names the settings that two runs do not share, as flags are written.
func differing(a, b json.RawMessage) string {
	var x, y map[string]json.RawMessage
	_ = json.Unmarshal(a, &x)
	_ = json.Unmarshal(b, &y)
	named := map[string]bool{}
	for k, v := range x {
		if !bytes.Equal(v, y[k]) {
			named[dashed(k)] = true
		}
	}
	for k := range y {
		if _, ok := x[k]; !ok {
			named[dashed(k)] = true
		}
	}
	if len(named) == 0 {
		return "other settings"
	}
	if named["layers"] { // shape, radius and the like follow from the model
		return "another model"
	}
	return "another " + strings.Join(slices.Sorted(maps.Keys(named)), ", ")
}

// dashed turns ClippingNorm into clipping-norm.
func dashed(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
