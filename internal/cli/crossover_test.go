package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Images of one's own: the price, runs that are paid for, a stand-in, and as public ones.
func TestCrossoverOnOwnImages(t *testing.T) {
	dir := atHome(t)
	x, y := squares(t, dir, 400)
	net := filepath.Join(dir, "tiny.yaml")
	if err := os.WriteFile(net, []byte(tinyNet), 0o644); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "out")
	args := func(more ...string) []string {
		all := []string{"crossover", x, "--labels", y, "--classes", "up,down", "--a", "logistic", "--b", net, "--epsilons", "1,4", "--seeds", "2", "--delta", "1e-4", "--out", to}
		return append(all, more...)
	}
	refused := func(want string, all []string) {
		t.Helper()
		status, out, errs := call(t, all...)
		if status != exitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%v: status %d, stdout %q, stderr %q; want %q", all, status, out, errs, want)
		}
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%v: an output directory was left behind", all)
		}
	}
	refused("missing declaration of the number of images", args())
	refused("want public, N or about-N", args("--images", "some"))
	refused("charging all 8 runs would cost epsilon", args("--images", "about-400"))
	refused("more than --pay 0.5", args("--images", "about-400", "--pay", "0.5"))
	refused("squares is new to the ledger", args("--images", "about-400", "--pay", "50"))
	refused("is not a built-in set of images", args("--images", "about-400", "--stand-in", "adult"))
	refused("--schema is for tables", args("--images", "about-400", "--schema", "s.yaml"))
	refused("the label of these images", args("--images", "about-400", "--target", "age"))

	// The budget that the refusal names admits all runs.
	_, _, errs := call(t, args("--images", "about-400", "--pay", "50")...)
	_, hint, _ := strings.Cut(errs, "hint: pawl ")
	if status, _, errs := call(t, strings.Fields(hint)...); status != 0 {
		t.Fatal(errs)
	}
	status, out, errs := call(t, args("--images", "about-400", "--pay", "40")...)
	if status != 0 || !strings.HasPrefix(out, "CHARGED: 8 runs") {
		t.Fatalf("status %d, stdout %q, stderr %q", status, out, errs)
	}
	_, ledger, _ := call(t, "ledger", "show", "squares")
	if n := strings.Count(ledger, "committed"); n != 8 {
		t.Errorf("%d runs were booked:\n%s", n, ledger)
	}
	if status, out, _ = call(t, args("--images", "about-400", "--pay", "40")...); status != 0 || !strings.Contains(out, "all were charged by earlier calls") {
		t.Errorf("status %d, stdout %q", status, out)
	}

	if status, _, errs := call(t, "ledger", "declare-public", "squares", "--reason", "drawn by a program"); status != 0 {
		t.Fatal(errs)
	}
	status, out, errs = call(t, args()...)
	if status != 0 || !strings.HasPrefix(out, "NOT PRIVATE: ") || !strings.Contains(errs, "squares, 320 rows to train and 80 to test") {
		t.Errorf("status %d, stdout %q, stderr %q", status, out, errs)
	}
	if status, _, errs = call(t, args("--pay", "40")...); status != exitUsage || !strings.Contains(errs, "--pay does not apply") {
		t.Errorf("status %d, stderr %q", status, errs)
	}
}
