package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress shows the running stage on a terminal as a bar and elsewhere as plain
// lines. It knows public numbers only: steps of a plan, elapsed and expected time.
type progress struct {
	w        io.Writer
	expected time.Duration
	started  time.Time
	stage    string
	bars     *mpb.Progress
	bar      *mpb.Bar
}

// terminal reports whether what is written to w appears on a terminal.
func terminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func newProgress(w io.Writer, expected time.Duration) *progress {
	p := &progress{w: w, expected: expected, started: time.Now()}
	if terminal(w) {
		p.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(100*time.Millisecond))
	}
	return p
}

func (p *progress) step(stage string, done, steps int) {
	if stage != p.stage {
		p.finish()
		p.stage = stage
		p.start(stage, steps)
	}
	if p.bar != nil {
		p.bar.SetCurrent(int64(done))
	}
}

func (p *progress) start(stage string, steps int) {
	if p.bars == nil {
		line := "stage: " + stage
		if steps > 0 {
			line += fmt.Sprintf(" (%d steps)", steps)
		} else if stage == "search and train" {
			line += fmt.Sprintf(" (expected time about %s)", p.expected.Round(time.Second))
		}
		fmt.Fprintln(p.w, line)
		return
	}
	name := decor.Name(stage, decor.WC{W: 18, C: decor.DindentRight})
	elapsed := decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6})
	if steps > 0 {
		p.bar = p.bars.AddBar(int64(steps), mpb.PrependDecorators(name),
			mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}), elapsed))
		return
	}
	// The number of runs of a search is secret: only time is shown.
	expected := decor.Name("")
	if stage == "search and train" {
		expected = decor.Name(fmt.Sprintf(" of about %s", p.expected.Round(time.Second)))
	}
	p.bar = p.bars.New(0, mpb.SpinnerStyle(), mpb.PrependDecorators(name), mpb.AppendDecorators(elapsed, expected))
}

func (p *progress) finish() {
	if p.bar != nil {
		p.bar.SetTotal(-1, true)
		p.bar = nil
	}
}

// done waits for the last line to be drawn.
func (p *progress) done() {
	p.finish()
	if p.bars != nil {
		p.bars.Wait()
	}
}
