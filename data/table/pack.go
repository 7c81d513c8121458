package table

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"pawl/internal/usage"
	"pawl/reader"
)

// What a packed file may grow to: a small one is not to fill the memory. Tables shrink to a
// fifth or a fiftieth; a bomb to a thousandth and less.
const (
	freeSize  = 64 << 20 // whatever the packed size
	mostTimes = 200      // the packed size beyond that
	mostSize  = 16 << 30
)

func mostOf(packed int) int64 { return min(mostSize, freeSize+mostTimes*int64(packed)) }

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	zipMagic  = []byte("PK\x03\x04")
	oleMagic  = []byte{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1}
)

// form is a well-known form of files that are not read, told by how such a file begins.
type form struct{ magic, what, advice string }

var unread = []form{
	{"\xfd7zXZ\x00", "packed with xz, which pawl does not unpack", repack},
	{"BZh91AY&SY", "packed with bzip2, which pawl does not unpack", repack},
	{"7z\xbc\xaf\x27\x1c", "packed with 7-Zip, which pawl does not unpack", repack},
	{"SQLite format 3\x00", "an SQLite file, not a table", "name a table in it: 'sqlite:FILE?table=NAME'"},
	{"%PDF-", "a PDF file, not a table", resave},
	{"\x89HDF\r\n\x1a\n", "an HDF5 file, not a table", resave},
	{"\x93NUMPY", "a NumPy file, not a table", "vectors are joined to a table by --embeddings; images need --labels"},
	{"<stata_dta>", "a Stata file, not a table", resave},
	{"$FL2@(#)", "an SPSS file, not a table", resave},
	{"Obj\x01", "an Avro file, not a table", resave},
	{"{\\rtf", "a Rich Text file, not a table", resave},
}

const (
	repack = "unpack it first; gzip and zstd are read as they are"
	resave = "save the table as CSV or Parquet"
)

// foreign is the form of a file that is not read, nil for any other.
func foreign(content []byte) *form {
	for i := range unread {
		if bytes.HasPrefix(content, []byte(unread[i].magic)) {
			return &unread[i]
		}
	}
	return nil
}

// unpack unpacks what is packed, told by its content. The plain bytes are the table: a packed
// copy has the digest of what it was made from.
func unpack(name, inner string, content []byte) (reader.Part, error) {
	if f := foreign(content); f != nil {
		return reader.Part{}, usage.New(fmt.Sprintf("%s: %s", name, f.what), f.advice)
	}
	switch {
	case bytes.HasPrefix(content, zipMagic):
		return member(name, inner, content)
	case bytes.HasPrefix(content, oleMagic):
		return reader.Part{}, usage.New(name+": a workbook with a password, or of an old format (.xls)", "save it as .xlsx without a password, or the sheet as CSV")
	case inner != "":
		return reader.Part{}, usage.New(fmt.Sprintf("%s: neither a zip archive nor a workbook: it has no part %q", name, inner), "leave out the part after #")
	}
	plain, err := expand(name, content)
	if err != nil {
		return reader.Part{}, err
	}
	if kind := packing(plain); kind != "" && len(plain) != len(content) {
		return reader.Part{}, usage.New(fmt.Sprintf("%s: packed twice (%s inside)", name, kind), "unpack it once")
	}
	return reader.Part{Name: name, Bytes: plain}, nil
}

// packing tells how content is packed, "" if it is not.
func packing(content []byte) (kind string) {
	switch {
	case bytes.HasPrefix(content, gzipMagic):
		return "gzip"
	case bytes.HasPrefix(content, zstdMagic):
		return "zstd"
	case bytes.HasPrefix(content, zipMagic):
		return "zip"
	}
	return ""
}

// expand unpacks gzip and zstd; other content is handed back.
func expand(name string, content []byte) ([]byte, error) {
	kind := packing(content)
	var r io.Reader
	switch kind {
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return nil, damaged(name, kind)
		}
		r = z
	case "zstd":
		z, err := zstd.NewReader(bytes.NewReader(content), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, damaged(name, kind)
		}
		defer z.Close()
		r = z
	default:
		return content, nil
	}
	return limited(name, kind, r, mostOf(len(content)))
}

// limited reads what is unpacked, up to a limit that follows from the packed size alone.
func limited(name, kind string, r io.Reader, most int64) ([]byte, error) {
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, most+1))
	switch {
	case n > most:
		return nil, tooLarge(name, most)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return nil, tooLarge(name, most)
	case err != nil:
		return nil, damaged(name, kind)
	}
	return b.Bytes(), nil
}

func tooLarge(name string, most int64) error {
	return usage.New(fmt.Sprintf("%s: it unpacks to more than %d MiB, the limit for a packed file of its size", name, most>>20),
		"unpack it first: plain files have no limit")
}

func damaged(name, kind string) error {
	return usage.New(fmt.Sprintf("%s: a damaged %s file", name, kind), "pack it again, or give the plain file")
}

// member picks the member of an archive, or reads a workbook, which is an archive too.
func member(name, inner string, content []byte) (reader.Part, error) {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return reader.Part{}, damaged(name, "zip")
	}
	if slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == "xl/workbook.xml" }) {
		return sheet(name, inner, content)
	}
	var members []*zip.File
	var names []string
	for _, f := range z.File {
		hidden := strings.HasPrefix(path.Base(f.Name), ".") || strings.HasPrefix(f.Name, "__MACOSX/")
		if !f.FileInfo().IsDir() && (!hidden || f.Name == inner) {
			members, names = append(members, f), append(names, f.Name)
		}
	}
	at := slices.Index(names, inner)
	if inner == "" && len(members) == 1 {
		at = 0
	}
	switch {
	case len(members) == 0:
		return reader.Part{}, usage.New(name+": the archive holds no file", "")
	case at < 0 && inner == "":
		return reader.Part{}, usage.New(fmt.Sprintf("%s: the archive holds %d files: which one?", name, len(members)),
			fmt.Sprintf("name it: '%s#%s' (%s)", name, names[0], list(names)))
	case at < 0:
		return reader.Part{}, usage.New(fmt.Sprintf("%s: the archive has no file %q", name, inner), "it has "+list(names))
	}
	f := members[at]
	name += "#" + f.Name
	if f.Flags&1 != 0 {
		return reader.Part{}, usage.New(name+": it is encrypted", "unpack it first")
	}
	r, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return reader.Part{}, usage.New(fmt.Sprintf("%s: packed by an unsupported method (%d)", name, f.Method), "pack it again with the usual method, or give the plain file")
	}
	if err != nil {
		return reader.Part{}, damaged(name, "zip")
	}
	defer r.Close()
	plain, err := limited(name, "zip", r, mostOf(len(content)))
	if err != nil {
		return reader.Part{}, err
	}
	if kind := packing(plain); kind != "" {
		return reader.Part{}, usage.New(fmt.Sprintf("%s: packed twice (%s inside)", name, kind), "unpack it once")
	}
	return reader.Part{Name: name, Bytes: plain}, nil
}

// list names a few parts of a file.
func list(names []string) string {
	const few = 8
	if len(names) > few {
		return strings.Join(names[:few], ", ") + fmt.Sprintf(" and %d more", len(names)-few)
	}
	return strings.Join(names, ", ")
}

func init() {
	// Method 93 of the zip format.
	zip.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1)))
}
