package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// origin says where a publisher has the files: each under its own name, or all in
// one archive from which unpack makes them in the order of Info.Files.
type origin struct {
	bases   []string // tried in this order; end in a slash
	archive string
	unpack  func(io.Reader) ([][]byte, error)
}

// maxDownload bounds what is read from a server.
const maxDownload = 256 << 20

// DownloadError says why a data set could not be fetched.
type DownloadError struct {
	Dataset, Msg, hint string
}

func (e *DownloadError) Error() string { return fmt.Sprintf("data set %q: %s", e.Dataset, e.Msg) }

// Hint says how to get the file by other means.
func (e *DownloadError) Hint() string { return e.hint }

// Fetcher gets data sets from their publishers. The zero value is ready to use.
type Fetcher struct {
	Client *http.Client // nil: one that waits 30 seconds for an answer to begin
	// From is the address of a folder with the publisher's files, used instead of
	// the publisher's; checksums are compared all the same.
	From string
	Dir  string // folder to fill; empty: UserDataDir
	// Progress, unless nil, is called before each download.
	Progress func(address string)
}

// Fetched is a file that Get has put, or found, in its place.
type Fetched struct {
	File
	Location string
	Already  bool // it was there, and right
}

// Get asks the publisher, or a mirror of its files, for what the folder lacks of a
// data set. Each file is compared with its SHA-256 and appears whole or not at all.
// MNIST falls back to a Go module where there is a go command. Nothing is got of a
// data set that is part of the program. Errors are *DownloadError, *FileError for
// content that is not the publisher's, the context's, or of the file system.
func (f Fetcher) Get(ctx context.Context, name string) ([]Fetched, error) {
	if f.Dir == "" {
		dir, err := UserDataDir()
		if err != nil {
			return nil, err
		}
		f.Dir = dir
	}
	// Known before megabytes are on their way.
	if info, err := os.Stat(f.Dir); err == nil && !info.IsDir() {
		return nil, &FileError{Dataset: name, Msg: f.Dir + " is a file and not a folder", hint: "name a folder with --data-dir"}
	}
	if s, ok := Images(name); ok {
		return f.images(ctx, s)
	}
	b, ok := Lookup(name)
	switch {
	case !ok:
		return nil, &FileError{Dataset: name, Msg: "not a built-in data set"}
	case b.Embedded:
		return nil, nil
	}
	out, missing := f.present(&b.Info)
	if len(missing) > 0 {
		return nil, &FileError{Dataset: b.Name, Msg: "not downloaded: no publisher's file with a clear licence is known",
			hint: b.how(b.Files[missing[0]]) + ", or into " + f.Dir}
	}
	return out, nil
}

// present splits the files into those in their place and the indices of the others.
func (f Fetcher) present(i *Info) (there []Fetched, missing []int) {
	for n, file := range i.Files {
		where := f.place(file)
		raw, err := readBounded(where)
		if err == nil {
			_, err = i.checked(file, raw, where)
		}
		if err != nil { // a damaged file is got again
			missing = append(missing, n)
			continue
		}
		there = append(there, Fetched{file, where, true})
	}
	return there, missing
}

func (f Fetcher) place(file File) string { return filepath.Join(f.Dir, filepath.FromSlash(file.Path)) }

func (f Fetcher) images(ctx context.Context, s *ImageSet) ([]Fetched, error) {
	out, missing := f.present(&s.Info)
	if len(missing) == 0 {
		return out, nil
	}
	if len(s.origin.bases) == 0 && f.From == "" {
		return nil, &FileError{Dataset: s.Name, Msg: "not downloaded: no publisher's file is known",
			hint: s.how(s.Files[missing[0]]) + ", or into " + f.Dir}
	}
	err := f.fromPublisher(ctx, s, missing)
	if err != nil && ctx.Err() == nil && f.From == "" && s.module != (module{}) {
		if moduleErr := s.fromModule(ctx, f.Dir); moduleErr == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	for _, n := range missing {
		out = append(out, Fetched{s.Files[n], f.place(s.Files[n]), false})
	}
	return out, nil
}

func (f Fetcher) fromPublisher(ctx context.Context, s *ImageSet, missing []int) error {
	if s.origin.archive != "" {
		return f.fromArchive(ctx, s, missing)
	}
	for _, n := range missing {
		file := s.Files[n]
		var raw []byte
		err := f.try(ctx, s, path.Base(file.Path), file, func(body io.Reader, address string) (err error) {
			if raw, err = io.ReadAll(body); err != nil {
				return err
			}
			_, err = s.checked(file, raw, address)
			return err
		})
		if err != nil {
			return err
		}
		// Not inside of try: a full disk is no fault of an address.
		if err := writeWhole(f.place(file), raw); err != nil {
			return err
		}
	}
	return nil
}

func (f Fetcher) fromArchive(ctx context.Context, s *ImageSet, missing []int) error {
	var contents [][]byte
	err := f.try(ctx, s, s.origin.archive, s.Files[missing[0]], func(body io.Reader, address string) (err error) {
		if contents, err = s.origin.unpack(body); err != nil {
			return err
		}
		for n, file := range s.Files { // all of them before the first is written
			if _, err := s.checked(file, contents[n], address+", "+path.Base(file.Path)+","); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range missing {
		if err := writeWhole(f.place(s.Files[n]), zipFor(s.Files[n].Path, contents[n])); err != nil {
			return err
		}
	}
	return nil
}

func zipFor(name string, content []byte) []byte {
	if !strings.HasSuffix(name, ".gz") {
		return content
	}
	var b bytes.Buffer
	// Photographs hardly shrink; a better level only takes longer. The level is valid
	// and writing to memory does not fail.
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = z.Write(content)
	_ = z.Close()
	return b.Bytes()
}

// try asks one address after the other for a file and hands what it answers to use.
func (f Fetcher) try(ctx context.Context, s *ImageSet, name string, first File, use func(body io.Reader, address string) error) error {
	bases := s.origin.bases
	if f.From != "" {
		bases = []string{strings.TrimSuffix(f.From, "/") + "/"}
	}
	var reasons []string
	for _, base := range bases {
		err := f.ask(ctx, base+name, use)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("data set %q: %w", s.Name, ctx.Err())
		}
		var wrong *FileError
		if errors.As(err, &wrong) && len(bases) == 1 {
			return wrong
		}
		reasons = append(reasons, fmt.Sprintf("%s%s: %v", base, name, err))
	}
	return &DownloadError{s.Name, "cannot be fetched: " + strings.Join(reasons, "; "),
		fmt.Sprintf("without a network: %s; pawl data describe %s lists all files", s.by(first), s.Name)}
}

func (f Fetcher) ask(ctx context.Context, address string, use func(io.Reader, string) error) error {
	if f.Progress != nil {
		f.Progress(address)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return reason(err)
	}
	client := f.Client
	if client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DialContext = (&net.Dialer{Timeout: 15 * time.Second}).DialContext
		transport.ResponseHeaderTimeout = 30 * time.Second
		defer transport.CloseIdleConnections()
		client = &http.Client{Transport: transport}
	}
	answer, err := client.Do(request)
	if err != nil {
		return reason(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", answer.Status)
	}
	if answer.ContentLength > maxDownload {
		return errors.New("the server offers a much larger file")
	}
	return use(io.LimitReader(answer.Body, maxDownload), address)
}

// reason drops the address, which the message has already.
func reason(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
