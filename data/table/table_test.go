package table

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"pawl/internal/usage"
	"pawl/reader"
)

const visits = "age,ward\n31,a\n62,b\n"

// in runs the test in a folder of these files.
func in(t *testing.T, files map[string][]byte) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func gz(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

func zst(text string) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll([]byte(text), nil)
}

type entry struct{ name, text string }

func zipped(members ...entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		f, _ := w.Create(m.name)
		f.Write([]byte(m.text))
	}
	w.Close()
	return b.Bytes()
}

// cells are all texts of a table, with its header.
func cells(t *testing.T, arg string) (string, error) {
	t.Helper()
	c, err := Read(arg)
	if err != nil {
		return "", err
	}
	r, err := reader.NewRecords("unused", c.AsGiven().Reader(), reader.Keys{})
	if err != nil {
		return "", err
	}
	defer r.Close()
	all := []string{strings.Join(r.Header(), ",")}
	for {
		row, err := r.Next()
		if err == io.EOF {
			return strings.Join(all, "\n") + "\n", nil
		}
		if err != nil {
			return "", err
		}
		all = append(all, strings.Join(row, ","))
	}
}

func bytesOf(t *testing.T, arg string) string {
	t.Helper()
	c, err := Read(arg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c.Reader())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A packed copy is the table that it was made from: it gives the same bytes to digest.
func TestPackedTablesAreThePlainOnes(t *testing.T) {
	in(t, map[string][]byte{
		"visits.csv": []byte(visits), "visits.csv.gz": gz(visits), "visits.csv.zst": zst(visits), "named-otherwise": gz(visits),
		"visits.zip": zipped(entry{"visits.csv", visits}), "mac.zip": zipped(entry{"folder/", ""}, entry{"__MACOSX/._visits.csv", "x"}, entry{"folder/visits.csv", visits}),
		"all.zip": zipped(entry{"a.csv", "x\n1\n"}, entry{"b/visits.csv", visits}), "odd#name.csv": []byte(visits),
	})
	for _, arg := range []string{"visits.csv", "visits.csv.gz", "visits.csv.zst", "named-otherwise", "visits.zip", "mac.zip", "all.zip#b/visits.csv", "odd#name.csv"} {
		if got, err := cells(t, arg); err != nil || got != visits {
			t.Errorf("%s: %q, %v", arg, got, err)
		}
		if bytesOf(t, arg) != visits {
			t.Errorf("%s: what is digested is not the plain table", arg)
		}
	}
	c, err := Read("all.zip#b/visits.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir(os.TempDir()); err != nil || c.Name() != "all.zip#b/visits.csv" {
		t.Errorf("%s, %v", c.Name(), err)
	}
}

// The format of a member is told by its own name, that of a packed file by what stands before
// the last ending.
func TestFormatsOfPackedTables(t *testing.T) {
	tabs := strings.ReplaceAll(visits, ",", "\t")
	in(t, map[string][]byte{"a.tsv.zst": zst(tabs), "b.zip": zipped(entry{"b.tsv", tabs}), "c.csv.zip": zipped(entry{"c.csv", visits})})
	for _, arg := range []string{"a.tsv.zst", "b.zip", "c.csv.zip"} {
		if got, err := cells(t, arg); err != nil || got != visits {
			t.Errorf("%s: %q, %v", arg, got, err)
		}
	}
}

func refused(t *testing.T, arg, want string) {
	t.Helper()
	_, err := cells(t, arg)
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v, want %s", arg, err, want)
		return
	}
	if status, ok := err.(interface{ ExitStatus() int }); !ok || status.ExitStatus() != usage.Status {
		t.Errorf("%s: exit status of %v", arg, err)
	}
}

func TestRefusedFiles(t *testing.T) {
	long := strings.Repeat("31,a\n", 100)
	encrypted := zipped(entry{"a.csv", visits})
	encrypted[bytes.Index(encrypted, []byte("PK\x01\x02"))+8] |= 1
	odd := zipped(entry{"a.csv", visits})
	odd[bytes.Index(odd, []byte("PK\x01\x02"))+10] = 77
	in(t, map[string][]byte{
		"two.zip": zipped(entry{"a.csv", visits}, entry{"b.csv", visits}), "none.zip": zipped(entry{"folder/", ""}),
		"cut.csv.gz": gz(long)[:40], "cut.csv.zst": zst(long)[:20], "cut.zip": zipped(entry{"a.csv", long})[:100], "head.gz": gz(long)[:3],
		"twice.csv.gz": gz(string(gz(visits))), "twice.zip": zipped(entry{"a.csv.gz", string(gz(visits))}),
		"encrypted.zip": encrypted, "odd.zip": odd, "plain.csv": []byte(visits), "folder/a.csv": []byte(visits),
		"a.csv.xz": []byte("\xfd7zXZ\x00\x00\x04"), "a.csv.bz2": []byte("BZh91AY&SY\x01"), "bzh.csv": []byte("BZh9,x\n"), "a.db": []byte("SQLite format 3\x00"), "a.pdf": []byte("%PDF-1.7\n"),
		"p-1.csv": []byte(visits), "p-2.csv": []byte("age\n1\n"), "q.d/x": nil,
	})
	for arg, want := range map[string]string{
		"two.zip":         "two.zip: the archive holds 2 files: which one?",
		"two.zip#c.csv":   `two.zip: the archive has no file "c.csv"`,
		"none.zip":        "none.zip: the archive holds no file",
		"cut.csv.gz":      "cut.csv.gz: a damaged gzip file",
		"head.gz":         "head.gz: a damaged gzip file",
		"cut.csv.zst":     "cut.csv.zst: a damaged zstd file",
		"cut.zip":         "cut.zip: a damaged zip file",
		"twice.csv.gz":    "twice.csv.gz: packed twice (gzip inside)",
		"twice.zip":       "twice.zip#a.csv.gz: packed twice (gzip inside)",
		"encrypted.zip":   "encrypted.zip#a.csv: it is encrypted",
		"odd.zip":         "odd.zip#a.csv: packed by an unsupported method (77)",
		"a.csv.xz":        "a.csv.xz: packed with xz, which pawl does not unpack",
		"a.csv.bz2":       "a.csv.bz2: packed with bzip2, which pawl does not unpack",
		"a.csv.bz2#a.csv": "a.csv.bz2: packed with bzip2, which pawl does not unpack",
		"a.db":            "a.db: an SQLite file, not a table",
		"a.pdf":           "a.pdf: a PDF file, not a table",
		"plain.csv#Sheet": `plain.csv: neither a zip archive nor a workbook: it has no part "Sheet"`,
		"absent.csv":      "absent.csv: no such file",
		"absent-*.csv":    "absent-*.csv: no file matches this pattern",
		"[":               "[: not a pattern of file names",
		"folder":          "folder is a directory, not a file",
		"q*":              "q.d is a directory, not a file",
		"p-*.csv":         `p-2.csv:1: the column "ward" of p-1.csv is missing here`,
	} {
		refused(t, arg, want)
	}
}

// What a packed file may grow to follows from its size alone; nothing is read beyond it.
func TestBombsAreRefused(t *testing.T) {
	zeros := strings.Repeat("0", 80<<20)
	in(t, map[string][]byte{"bomb.csv.gz": gz(zeros), "bomb.csv.zst": zst(zeros), "bomb.zip": zipped(entry{"a.csv", zeros})})
	for _, arg := range []string{"bomb.csv.gz", "bomb.csv.zst", "bomb.zip"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		refused(t, arg, "MiB, the limit for a packed file of its size")
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 400<<20 {
			t.Errorf("%s: %d MiB were allocated", arg, grown>>20)
		}
	}
}

func TestPatternsAreSortedByName(t *testing.T) {
	in(t, map[string][]byte{"v-2.csv": []byte("x\n2\n"), "v-10.csv.gz": gz("x\n10\n"), "v-1.zip": zipped(entry{"a.csv", "x\n1\n"}), "w.csv": []byte("x\n9\n")})
	if got, err := cells(t, "v-*"); err != nil || got != "x\n1\n10\n2\n" {
		t.Errorf("%q, %v", got, err)
	}
	if one, other := bytesOf(t, "v-*"), bytesOf(t, "v-[12]*"); one != other {
		t.Error("two patterns of the same files are two tables")
	}
}

func TestAFileThatChangesIsRefused(t *testing.T) {
	in(t, map[string][]byte{"a.csv": []byte(visits)})
	before, err := os.Stat("a.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := Unchanged("a.csv", before); err != nil {
		t.Error(err)
	}
	if err := os.Chtimes("a.csv", time.Time{}, before.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := Unchanged("a.csv", before); err == nil || !strings.Contains(err.Error(), "changed while it was being read") {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	in(t, map[string][]byte{"b.zip": zipped(entry{"x.csv", visits}), "odd#1.csv": []byte(visits)})
	for _, tt := range []struct{ arg, name, dir string }{
		{"data/visits.csv", "visits", "data"}, {"visits.csv.gz", "visits", "."}, {"visits.parquet.zst", "visits", "."}, {"b.zip#x.csv", "b-x", "."},
		{"data/visits-*.csv", "visits", "data"}, {"*.csv", "", "."}, {"visits/*.csv", "visits", "visits"}, {"*-visits-??.csv.gz", "visits", "."}, {"odd#1.csv", "odd#1", "."},
		{"sqlite:data/clinic.db?table=visits", "visits", "."}, {"postgres://u:p@h/clinic?table=care.visits", "care.visits", "."}, {"sqlite:a.db?query=SELECT 1 AS x", "", "."},
	} {
		if name, dir := BaseName(tt.arg), Dir(tt.arg); name != tt.name || dir != tt.dir {
			t.Errorf("%s: %q in %s, want %q in %s", tt.arg, name, dir, tt.name, tt.dir)
		}
	}
	for arg, want := range map[string]bool{"/dev/stdin": true, "/dev/fd/63": true, "/proc/self/fd/0": true, "/dev/shm/a.csv": false, "/development/a.csv": false, "/processed/fd/a.csv": false} {
		if descriptor.MatchString(arg) != want {
			t.Errorf("%s: a descriptor: %v", arg, !want)
		}
	}
	for arg, want := range map[string]bool{"a.csv": true, "a.CSV.gz": true, "a.zip": true, "b.xlsx#Sheet": true, "sqlite:x?table=y": true, "a.npy": false, "photos": false, "a.gz": false} {
		if Named(arg) != want {
			t.Errorf("Named(%s) is not %v", arg, want)
		}
	}
}
