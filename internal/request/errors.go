package request

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/internal/usage"
	"pawl/search/space"
	"pawl/search/space/net"
	"pawl/search/space/table"
	"pawl/workflow"
)

// Text is an error in one line, without a password, in the words of the command line.
func Text(err error) string {
	text := err.Error()
	if errors.Is(err, context.Canceled) && errors.Is(err, ledger.ErrUnavailable) {
		return interrupted // by the operator: the ledger is not at fault
	}
	if errors.Is(err, context.Canceled) {
		text = strings.Replace(text, context.Canceled.Error(), interrupted, 1)
		if from := strings.Index(text, ledger.ErrStore.Error()+": "); from >= 0 { // the store is not at fault
			if n := strings.Index(text[from:], interrupted); n >= 0 {
				text = text[:from] + text[from+n:]
			}
		}
	}
	if errors.Is(err, ledger.ErrInvalid) {
		text = strings.Replace(text, ledger.ErrInvalid.Error()+": ", "", 1) // what follows says more
	}
	if named := (*fs.PathError)(nil); errors.As(err, &named) && errors.Is(named, fs.ErrNotExist) {
		text = strings.Replace(text, named.Error(), named.Path+": no such file", 1)
	}
	if folder := folderAsFile(err); folder != nil {
		text = strings.Replace(strings.Replace(text, folder.Path+": "+folder.Error(), folder.Error(), 1), folder.Error(), folder.Path+" is a directory, not a file", 1)
	}
	if named, file := fileAsFolder(err); named != nil {
		text = strings.Replace(text, named.Error(), file+" is a file, not a directory", 1)
	}
	return line(text)
}

// interrupted is how an end by a signal is said.
const interrupted = "interrupted"

// folderAsFile is the fault of a folder that was read like a file, nil for any other.
func folderAsFile(err error) *fs.PathError {
	if named := (*fs.PathError)(nil); errors.As(err, &named) && errors.Is(named, syscall.EISDIR) {
		return named
	}
	return nil
}

// fileAsFolder is the fault of a path that goes through a file as if it were a folder, and that file; nil for any other.
func fileAsFolder(err error) (named *fs.PathError, file string) {
	if !errors.As(err, &named) || !errors.Is(named, syscall.ENOTDIR) {
		return nil, ""
	}
	for file = filepath.Clean(named.Path); ; file = filepath.Dir(file) {
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			return named, file
		}
		if file == filepath.Dir(file) { // it has gone meanwhile
			return nil, ""
		}
	}
}

func line(text string) string { return usage.Redact(strings.Join(strings.Fields(text), " ")) }

// Hint is how to correct what err reports, in one line like Text, or "".
func Hint(err error) string {
	if folder := folderAsFile(err); folder != nil { // before what is said of a file's content
		return line("name the file itself, such as " + usage.Shell(strings.TrimRight(folder.Path, "/")+"/FILE"))
	}
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return line(h.Hint())
	}
	if errors.Is(err, ledger.ErrStore) && !errors.Is(err, ledger.ErrBroken) && !errors.Is(err, ledger.ErrNewer) && !errors.Is(err, ledger.ErrUnavailable) && !errors.Is(err, context.Canceled) {
		return "choose the ledger with --ledger or PAWL_LEDGER"
	}
	if named, _ := fileAsFolder(err); named != nil {
		return line("correct the path " + usage.Shell(named.Path))
	}
	return ""
}

// Status is the exit status of a program that ends with err: 2 for wrong usage or data, 3 for a
// refusal, 4 for a privacy check that failed, 1 for anything else.
func Status(err error) int {
	var own interface{ ExitStatus() int }
	var path interface{ Timeout() bool } // *fs.PathError and its kin
	switch {
	case errors.As(err, new(*usage.Faults)): // nothing was charged, and there is something to correct
		return usage.Status
	case errors.As(err, new(*workflow.UnconfirmedError)), errors.As(err, new(*workflow.HeldError)): // whatever the ledger's own fault is
		return 3
	case errors.Is(err, ledger.ErrBroken), errors.Is(err, ledger.ErrNewer), errors.Is(err, ledger.ErrUnaccountable):
		return 4
	case errors.Is(err, ledger.ErrRefused):
		return 3
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ledger.ErrUnavailable):
		return 1
	case errors.As(err, &own):
		return own.ExitStatus()
	case errors.Is(err, usage.Err), errors.Is(err, ledger.ErrInvalid), errors.Is(err, ledger.ErrStore), errors.Is(err, ledger.ErrUnknownDataset), errors.Is(err, dp.ErrInvalidEvent),
		errors.As(err, &path), errors.Is(err, net.ErrPoint), errors.Is(err, table.ErrPoint), errors.Is(err, space.ErrTries):
		return usage.Status
	}
	return 1
}
