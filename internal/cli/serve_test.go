package cli

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// slowly is what a program writes, which is read while it runs.
type slowly struct{ lines chan string }

func (s slowly) Write(p []byte) (int, error) { s.lines <- string(p); return len(p), nil }

// pawl serve prints a link that lets one browser in, once, and ends when it is interrupted.
func TestServePrintsALink(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("PAWL_LEDGER", "")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, status := slowly{make(chan string, 8)}, make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"serve", "--open=false", "--out", t.TempDir()}, streams{in: strings.NewReader(""), out: out, err: io.Discard})
	}()
	var link string
	select {
	case link = <-out.lines:
	case s := <-status:
		t.Fatalf("it ended with status %d", s)
	case <-time.After(time.Minute):
		t.Fatal("it prints nothing")
	}
	if !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/enter\?token=[\w-]{43}\n$`).MatchString(link) {
		t.Fatalf("it prints %q", link)
	}
	for _, want := range []int{200, 403} {
		resp, err := http.Get(strings.TrimSpace(link))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("status %d, want %d", resp.StatusCode, want)
		}
	}
	stop()
	if s := <-status; s != exitOK {
		t.Errorf("interrupted, it ends with status %d", s)
	}
}
