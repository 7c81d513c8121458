//go:build browser

package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"pawl/core/ledger/figures"
	"pawl/search/study"
)

// chromium starts a browser without a window: go test -tags browser ./serve drives the pages in it,
// which takes minutes on a busy machine.
func chromium(t *testing.T) context.Context {
	t.Helper()
	at := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && at == "" {
			at = path
		}
	}
	if at == "" {
		t.Fatal("there is no chromium here")
	}
	ctx, stop := chromedp.NewExecAllocator(t.Context(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(at), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 9*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	return ctx
}

// pagesOf are all pages, with what stands on them.
func (s *site) pagesOf(report string) []struct{ name, path string } {
	return []struct{ name, path string }{
		{"budgets", "/"}, {"budget", "/budget?name=clinic"}, {"plan", "/plan?data=wdbc&epsilon=1"}, {"plan-empty", "/plan"}, {"plan-fault", "/plan?data=wdbc&epsilon=x"},
		{"calculator", "/calculator?sampling_rate=0.01&noise_multiplier=1&steps=1000&delta=1e-6"}, {"advice", "/advice?data=wdbc&epsilon=1&on=wdbc"},
		{"reports", "/reports"}, {"report", "/report?r=" + report}, {"files", "/report/files?r=" + report}, {"compare", "/reports/compare?r=" + report + "&r=" + report}, {"explain", "/explain?r=" + report},
		{"studies", "/studies"}, {"study", "/study?name=open"}, {"jobs", "/jobs"}, {"missing", "/nothing"}, {"refused", "/budget?name=nobody"},
	}
}

// Every page in a browser: the link lets it in, nothing breaks the policy, nothing is wider than
// a phone, a steward's form works by keyboard, and a live page follows. PAWL_SCREENSHOTS names a
// folder for pictures of all pages, wide, dark, on a phone and on paper; PAWL_AXE a copy of axe-core to check
// them with.
func TestInABrowser(t *testing.T) {
	ctx := chromium(t)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	l := filled(t)
	studies := t.TempDir()
	s := open(t, l, func(o *Options) { o.AllowJobs, o.Jobs, o.Studies = true, filepath.Join(studies, "jobs"), studies })
	if _, err := s.jobs.start("ann", "a-key-of-a-program", asked{Data: "wdbc", Epsilon: "1"}); err != nil {
		t.Fatal(err)
	}
	report := s.done(t).Report
	saveStudy := func(lines int) {
		r := &study.Record{Name: "open", Dataset: "mnist", Public: true, Space: "fcn", Strategy: "ps", Started: time.Now()}
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "{\"number\":%d,\"candidate\":\"{\\\"width\\\":%d}\",\"score\":%g,\"seconds\":1}\n", i+1, 8<<i, 0.6+0.04*float64(i))
		}
		if err := r.Save(filepath.Join(studies, "open")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(studies, "open", "trials.jsonl"), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	saveStudy(3)
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		for i, step := range steps {
			soon, stop := context.WithTimeout(ctx, 20*time.Second)
			err := chromedp.Do(soon, step)
			stop()
			if err != nil {
				shown, _ := chromedp.Run(ctx, chromedp.Text("body"))
				t.Fatalf("step %d: %v; the page shows\n%s", i+1, err, shown)
			}
		}
	}
	text := func() string {
		t.Helper()
		out, err := chromedp.Run(ctx, chromedp.Text("body"))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var complaints []string
	if err := chromedp.Listen(ctx, func(ev any) {
		if e, ok := ev.(*log.EventEntryAdded); ok && !strings.Contains(e.Entry.Text, "status of 4") {
			complaints = append(complaints, e.Entry.Text+" "+e.Entry.URL)
		}
	}); err != nil {
		t.Fatal(err)
	}
	do(chromedp.Navigate(s.Links()[0].URL), chromedp.WaitVisible("table"))
	if got := text(); !strings.Contains(got, "clinic") {
		t.Fatalf("the link leads to\n%s", got)
	}
	looks := func(scheme, media string) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			return err
		})
	}
	pictures, axe := os.Getenv("PAWL_SCREENSHOTS"), os.Getenv("PAWL_AXE")
	for _, page := range s.pagesOf(report) {
		for _, look := range []struct {
			name          string
			width         int64
			scheme, media string
		}{{"wide", 1280, "light", "screen"}, {"dark", 1280, "dark", "screen"}, {"phone", 375, "light", "screen"}, {"print", 794, "light", "print"}} {
			if pictures == "" && axe == "" && look.name != "phone" {
				continue // what breaks on any screen breaks on a phone
			}
			do(chromedp.EmulateViewport(look.width, 900), looks(look.scheme, look.media), chromedp.Navigate(s.url+page.path))
			over, err := chromedp.Run(ctx, chromedp.Evaluate[int]("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
			if err != nil || over > 1 {
				t.Errorf("%s on a %s screen is %d pixels too wide (%v)", page.name, look.name, over, err)
			}
			if pictures != "" {
				png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
				if err == nil {
					err = os.WriteFile(filepath.Join(pictures, page.name+"-"+look.name+".png"), png, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if axe != "" {
				checkAxe(ctx, t, axe, page.name+", "+look.name)
			}
		}
	}
	// By keyboard: open the form, write, send.
	do(chromedp.EmulateViewport(1280, 900), looks("light", "screen"), chromedp.Navigate(s.url+"/budget?name=clinic"), chromedp.Click("details:nth-of-type(1) > summary"),
		chromedp.SendKeys("#grant-epsilon", "3"), chromedp.SendKeys("#grant-reason", "second study\r"), chromedp.WaitVisible(".done"))
	if st, err := figures.Show(t.Context(), l, "clinic"); err != nil || st.Total.Epsilon != 3 || st.Granted.Reason != "second study" {
		t.Errorf("the form by keyboard: %+v (%v)", st.Granted, err)
	}
	// The slider writes epsilon and asks for the price.
	do(chromedp.Navigate(s.url+"/plan?data=wdbc&epsilon=1"), chromedp.WaitVisible("#slide"), chromedp.Focus("#slide"), chromedp.SendKeys("#slide", kb.Home))
	led := ""
	for range 300 {
		if led, _ = chromedp.Run(ctx, chromedp.Location()); strings.Contains(led, "epsilon=0.032") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if !strings.Contains(led, "epsilon=0.032") {
		t.Errorf("the slider leads to %q", led)
	}
	// A live page follows.
	do(chromedp.Navigate(s.url+"/study?name=open"), chromedp.WaitVisible("table"))
	saveStudy(5)
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.body.innerText.includes("5 trials")`)); err != nil {
		t.Errorf("the live page: %v\n%s", err, text())
	}
	if len(complaints) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(complaints, "\n"))
	}
}

// checkAxe runs axe-core in the page. The protocol's way does not ask the policy of the page.
func checkAxe(ctx context.Context, t *testing.T, path, where string) {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](string(source)+";0")); err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`axe.run({resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200) + " " + n.failureSummary)])))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	var violations []any
	if err := json.Unmarshal([]byte(got), &violations); err != nil || len(violations) > 0 {
		t.Errorf("%s: axe finds %s (%v)", where, got, err)
	}
}
