package dataset

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// publisher serves files by the last part of their address.
func publisher(t *testing.T, files map[string][]byte) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[path.Base(r.URL.Path)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(content)
	}))
	t.Cleanup(s.Close)
	return s
}

// tiny is a data set of two training images and one test image, with its files as a
// publisher serves them.
func tiny(t *testing.T) (*ImageSet, map[string][]byte) {
	t.Helper()
	contents := [][]byte{
		{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 4}, {0, 0, 8, 1, 0, 0, 0, 2, 1, 0},
		{0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 5, 6}, {0, 0, 8, 1, 0, 0, 0, 1, 1},
	}
	var sums [4]string
	for i, c := range contents {
		sum := sha256.Sum256(c)
		sums[i] = hex.EncodeToString(sum[:])
	}
	s := &ImageSet{
		Info:   Info{Name: "tiny", Licence: "none", Source: "the test", Rows: 2, TestRows: 1, Files: idxFiles("tiny", sums), fetched: true},
		Public: true, Shape: [3]int{1, 2, 1}, Classes: []string{"a", "b"}, train: []int{0, 1}, test: []int{2, 3}, read: readIDX, positions: -1,
		module: module{"example.org/tiny", "v1.0.0", "data"},
	}
	served := map[string][]byte{}
	for i, c := range contents {
		served[path.Base(s.Files[i].Path)] = zipFor(s.Files[i].Path, c)
	}
	return s, served
}

// leftovers lists what stands in a folder and its sub-folders.
func leftovers(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, filepath.Base(p))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGet(t *testing.T) {
	s, served := tiny(t)
	server := publisher(t, served)
	own, _ := alone(t)
	if err := s.Find(""); err == nil {
		t.Fatal("found before it was got")
	}
	asked := 0
	f := Fetcher{From: server.URL, Dir: own, Progress: func(string) { asked++ }}
	get := func(want int) []Fetched {
		t.Helper()
		asked = 0
		got, err := f.images(context.Background(), s)
		if err != nil || len(got) != 4 || asked != want {
			t.Fatalf("%d downloads, want %d; got %+v, error %v", asked, want, got, err)
		}
		if err := s.Verify(""); err != nil {
			t.Error(err)
		}
		return got
	}
	if got := get(4); got[0].Already || got[0].Location != filepath.Join(own, "tiny", "train-images-idx3-ubyte.gz") {
		t.Errorf("got %+v", got)
	}
	if set, err := s.Test(""); err != nil || set.Len() != 1 {
		t.Errorf("reading what was got: %v", err)
	}
	if got := get(0); !got[3].Already {
		t.Errorf("got again: %+v", got)
	}
	if err := os.WriteFile(filepath.Join(own, s.Files[3].Path), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	get(1)
}

func TestGetRefuses(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	stopped, stop := context.WithCancel(context.Background())
	stop()
	wrong := publisher(t, map[string][]byte{"train-images-idx3-ubyte.gz": []byte("another file"), "cifar-10-binary.tar.gz": []byte("no archive")})
	for _, tt := range []struct {
		name, data, from, want, hint string
		ctx                          context.Context
		is                           error // nil: *DownloadError or *FileError
	}{
		{name: "no connection", data: "mnist", from: gone.URL, want: "cannot be fetched", hint: "SHA-256 of the content ba891046e6505d7a"},
		{name: "not found", data: "mnist", from: publisher(t, nil).URL, want: "404", hint: "put mnist/train-images-idx3-ubyte.gz (http://yann.lecun.com"},
		{name: "other bytes", data: "mnist", from: wrong.URL, want: "not the publisher's file", hint: "get the original from"},
		{name: "no archive", data: "cifar10", from: wrong.URL + "/", want: "not a gzip file", hint: "put cifar10/"},
		{name: "no address", data: "mnist", from: "\x7f://", want: "cannot be fetched", hint: "put mnist/"},
		{name: "stopped", data: "mnist", from: wrong.URL, ctx: stopped, want: "context canceled", is: context.Canceled},
		{name: "no publisher", data: "insurance", want: "no publisher's file with a clear licence", hint: "SHA-256 of the content 505c1cbc"},
		{name: "unknown", data: "patients", want: "not a built-in data set"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			own, _ := alone(t)
			if tt.ctx == nil {
				tt.ctx = context.Background()
			}
			_, err := Fetcher{From: tt.from}.Get(tt.ctx, tt.data)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %v, want one line with %q", err, tt.want)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v, want %v", err, tt.is)
			}
			var h interface{ Hint() string }
			if tt.is == nil && (!errors.As(err, &h) || !strings.Contains(h.Hint(), tt.hint)) {
				t.Errorf("error %v without the hint %q", err, tt.hint)
			}
			if left := leftovers(t, own); len(left) > 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

// An answer that breaks off leaves nothing behind.
func TestGetCut(t *testing.T) {
	own, _ := alone(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte("ten bytes."))
	}))
	defer server.Close()
	_, err := Fetcher{From: server.URL}.Get(context.Background(), "fashion-mnist")
	var d *DownloadError
	if !errors.As(err, &d) || len(leftovers(t, own)) > 0 {
		t.Errorf("error %v, left %v", err, leftovers(t, own))
	}
}

// The next address is asked when the first does not answer, or answers other bytes.
func TestGetNextAddress(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first map[string][]byte
	}{
		{"not found", nil},
		{"other bytes", map[string][]byte{"train-images-idx3-ubyte.gz": []byte("a page for people")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, served := tiny(t)
			alone(t)
			s.origin.bases = []string{publisher(t, tt.first).URL + "/", publisher(t, served).URL + "/"}
			f := Fetcher{Dir: t.TempDir()}
			if _, err := f.images(context.Background(), s); err != nil || s.Verify(f.Dir) != nil {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Where no address answers, a Go module that has the files does.
func TestGetFromModule(t *testing.T) {
	s, served := tiny(t)
	alone(t)
	s.origin.bases = []string{publisher(t, nil).URL + "/"}
	fakeGo(t, fmt.Sprintf(`echo '{"Dir": "%s"}'`, carrier(t, served)))
	f := Fetcher{Dir: t.TempDir()}
	if got, err := f.images(context.Background(), s); err != nil || len(got) != 4 || s.Verify(f.Dir) != nil {
		t.Errorf("got %v, error %v", got, err)
	}
	// A mirror that was named is the only one asked.
	f = Fetcher{Dir: t.TempDir(), From: publisher(t, nil).URL}
	if _, err := f.images(context.Background(), s); err == nil {
		t.Error("the module was asked although an address was named")
	}
}

func TestGetEmbedded(t *testing.T) {
	if got, err := (Fetcher{Dir: t.TempDir()}).Get(context.Background(), "adult"); err != nil || got != nil {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestGetFindsInsurance(t *testing.T) {
	got, err := Fetcher{Dir: dataDir(t)}.Get(context.Background(), "insurance")
	if err != nil || len(got) != 1 || !got[0].Already {
		t.Errorf("got %v, error %v", got, err)
	}
}

// archive has the layout of the publisher's: the records of the subset at their
// positions, and zeros where it lacks them.
func archive(t *testing.T, dir string, s *ImageSet) []byte {
	t.Helper()
	place := func(records []byte, at []int, n int) []byte {
		out := make([]byte, n*cifarRecord)
		for i, p := range at {
			copy(out[p*cifarRecord:], records[i*cifarRecord:(i+1)*cifarRecord])
		}
		return out
	}
	content := func(n int) []byte {
		b, err := s.content(s.Files[n], dir)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	at := func(n int) []int {
		p, err := parsePositions(content(n))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	train, test := place(content(0), at(1), 2*cifarBatch), place(content(2), at(3), cifarBatch)
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.NoCompression)
	w := tar.NewWriter(z)
	for _, f := range []struct {
		name    string
		content []byte
	}{{"batches.meta.txt", []byte("airplane\n")}, {"data_batch_1.bin", train[:cifarBatch*cifarRecord]}, {"test_batch.bin", test},
		{"data_batch_2.bin", train[cifarBatch*cifarRecord:]}} {
		if err := w.WriteHeader(&tar.Header{Name: "cifar-10-batches-bin/" + f.name, Mode: 0o644, Size: int64(len(f.content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGetCIFAR(t *testing.T) {
	s, _ := Images("cifar10")
	whole := archive(t, imageDir(t, s), s)
	t.Run("whole", func(t *testing.T) {
		own, _ := alone(t)
		server := publisher(t, map[string][]byte{"cifar-10-binary.tar.gz": whole})
		if _, err := (Fetcher{From: server.URL}).Get(context.Background(), "cifar10"); err != nil {
			t.Fatal(err)
		}
		if err := s.Verify(""); err != nil || len(leftovers(t, own)) != 4 {
			t.Errorf("error %v, files %v", err, leftovers(t, own))
		}
	})
	t.Run("cut", func(t *testing.T) {
		own, _ := alone(t)
		server := publisher(t, map[string][]byte{"cifar-10-binary.tar.gz": whole[:len(whole)/3]})
		if _, err := (Fetcher{From: server.URL}).Get(context.Background(), "cifar10"); err == nil || len(leftovers(t, own)) > 0 {
			t.Errorf("error %v, files %v", err, leftovers(t, own))
		}
	})
	t.Run("one pixel changed", func(t *testing.T) {
		own, _ := alone(t)
		changed := bytes.Clone(whole)
		changed[len(changed)/4]++
		server := publisher(t, map[string][]byte{"cifar-10-binary.tar.gz": changed})
		if _, err := (Fetcher{From: server.URL}).Get(context.Background(), "cifar10"); err == nil || len(leftovers(t, own)) > 0 {
			t.Errorf("error %v, files %v", err, leftovers(t, own))
		}
	})
}

func TestUnpackNeedsEveryBatch(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := unpackCIFAR(&b); err == nil || !strings.Contains(err.Error(), "lacks a batch") {
		t.Errorf("error %v", err)
	}
}
