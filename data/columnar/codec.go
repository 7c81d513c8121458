package columnar

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// maxBlock bounds one piece of memory, since its size is what a file claims: beyond
// it a damaged file would end the program instead of being refused.
const maxBlock = 1 << 30

var errBlock = errors.New("a compressed block is damaged")

// codec is how blocks are compressed.
type codec int

const (
	uncompressed codec = iota
	snappyCodec
	gzipCodec
	brotliCodec
	zstdCodec
	lz4Block
	lz4Frame
)

// unpacker decompresses and keeps what it needs for that from block to block.
type unpacker struct {
	out  []byte
	zstd *zstd.Decoder
	gzip gzip.Reader
}

// unpack returns the size bytes that src holds in compressed form, valid until the
// next call. A block with more or fewer bytes is an error, and memory grows with
// what was decompressed, not with what is claimed.
func (u *unpacker) unpack(c codec, src []byte, size int) ([]byte, error) {
	if size < 0 || size > maxBlock {
		return nil, errBlock
	}
	var err error
	switch c {
	case uncompressed:
		if len(src) != size {
			return nil, errBlock
		}
		return src, nil
	case snappyCodec:
		if n, err := snappy.DecodedLen(src); err != nil || n != size || n > 64*len(src) {
			return nil, errBlock
		}
		u.out, err = snappy.Decode(u.out[:cap(u.out)], src)
	case gzipCodec:
		if err := u.gzip.Reset(bytes.NewReader(src)); err != nil {
			return nil, errBlock
		}
		return u.drain(&u.gzip, size)
	case brotliCodec:
		return u.drain(brotli.NewReader(bytes.NewReader(src)), size)
	case zstdCodec:
		if u.zstd == nil {
			if u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock), zstd.WithDecoderMaxWindow(128<<20)); err != nil {
				return nil, err
			}
		}
		if err := u.zstd.Reset(bytes.NewReader(src)); err != nil {
			return nil, errBlock
		}
		return u.drain(u.zstd, size)
	case lz4Block, lz4Frame:
		if size > 255*len(src) {
			return nil, errBlock
		}
		decode := unpackLZ4
		if c == lz4Frame {
			decode = unpackLZ4Frame
		}
		u.out, err = decode(u.out[:0], src, size)
	}
	if err != nil || len(u.out) != size {
		return nil, errBlock
	}
	return u.out, nil
}

// drain reads exactly size bytes.
func (u *unpacker) drain(r io.Reader, size int) ([]byte, error) {
	b := bytes.NewBuffer(u.out[:0])
	n, err := io.CopyN(b, r, int64(size)+1)
	u.out = b.Bytes()
	if err != io.EOF || n != int64(size) {
		return nil, errBlock
	}
	return u.out, nil
}

// unpackLZ4 appends what a block in LZ4's format holds, up to limit bytes in all:
// literals and copies of what stands before in turn, their lengths in nibbles of a
// token, which further bytes prolong. Positions outside of the input panic, for guard.
func unpackLZ4(dst, src []byte, limit int) ([]byte, error) {
	length := func(n int) int {
		if n != 15 {
			return n
		}
		for {
			b := src[0]
			src = src[1:]
			if n += int(b); b != 255 {
				return n
			}
		}
	}
	for len(src) > 0 {
		token := src[0]
		src = src[1:]
		n := length(int(token >> 4))
		if n > len(src) || n > limit-len(dst) {
			return dst, errBlock
		}
		dst, src = append(dst, src[:n]...), src[n:]
		if len(src) == 0 { // the last sequence has no copy
			break
		}
		back := int(src[0]) | int(src[1])<<8
		src = src[2:]
		n = length(int(token&15)) + 4
		if back == 0 || back > len(dst) || n > limit-len(dst) {
			return dst, errBlock
		}
		for from := len(dst) - back; n > 0; {
			// What is copied may overlap what it makes: a run.
			k := min(n, len(dst)-from)
			dst = append(dst, dst[from:from+k]...)
			n -= k
		}
	}
	return dst, nil
}

// unpackLZ4Frame appends the blocks of a frame (LZ4 frame format 1.6.1); its
// checksums are not looked at.
func unpackLZ4Frame(dst, src []byte, limit int) ([]byte, error) {
	const magic = "\x04\x22\x4d\x18"
	if len(src) < 7 || string(src[:4]) != magic || src[4]>>6 != 1 || src[4]&1 != 0 {
		return dst, errBlock
	}
	independent, blockSum, size := src[4]>>5&1 == 1, int(src[4]>>4&1), int(src[4]>>3&1)
	src = src[7+8*size:]
	for {
		head := binary.LittleEndian.Uint32(src)
		src = src[4:]
		if head == 0 {
			return dst, nil
		}
		n := int(head &^ (1 << 31))
		block := src[:n]
		src = src[n+4*blockSum:]
		switch {
		case head>>31 == 1:
			if n > limit-len(dst) {
				return dst, errBlock
			}
			dst = append(dst, block...)
		case independent:
			out, err := unpackLZ4(dst[len(dst):], block, limit-len(dst))
			if err != nil {
				return dst, err
			}
			dst = append(dst, out...)
		default:
			var err error
			if dst, err = unpackLZ4(dst, block, limit); err != nil {
				return dst, err
			}
		}
	}
}
