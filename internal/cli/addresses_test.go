package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// Whatever is given for a file, a table or a ledger, the password of an address appears nowhere.
func TestNoPasswordIsShown(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	const secret = "pAsSw0rd"
	places := map[string]string{
		"data":       "fit X --target y --epsilon 1",
		"check":      "check X --schema X --target y --epsilon 1",
		"plan":       "plan fit X --target y --epsilon 1",
		"train":      "train X --model X --epsilon 1",
		"images":     "train X --labels X --model mnist/lenet --epsilon 1",
		"search":     "search X --epsilon 1",
		"select":     "select X --method X --epsilon 1",
		"init":       "init X",
		"infer":      "init X --infer --epsilon 1 --rows X --unit X",
		"describe":   "describe X --schema X --epsilon 1",
		"advise":     "advise X --epsilon 1",
		"crossover":  "crossover X --epsilon 1",
		"predict":    "predict X X",
		"export":     "export X --out X",
		"explain":    "explain X",
		"verify":     "verify X",
		"account":    "account event X",
		"test":       "fit adult --target income --epsilon 1 --test X",
		"embeddings": "fit adult --target income --epsilon 1 --embeddings X --key sex",
		"ledger":     "ledger show --ledger X",
		"import":     "ledger import X",
		"reconcile":  "ledger reconcile X --reason why",
		"command":    "X",
		"flag":       "fit --X",
	}
	for _, form := range []string{
		"postgres://ann:P@127.0.0.1:1/db?table=visits", "POSTGRES://ann:P@127.0.0.1:1/db?table=visits", "postgres:/ann:P@h/db", "postgres:ann:P@h/db",
		"PostgreSQL://ann:P@127.0.0.1:1/db", "mysql://ann:P@h/db?table=visits", "ann:P@tcp(h)/db", "host=h password=P", "postgres://ann:1/P@h/db?table=visits",
		"sqlite:postgres://ann:P@h/db?table=visits", "SQLITE:mysql://ann:P@h/db",
	} {
		address := strings.Replace(form, "P@", secret+"@", 1)
		address = strings.Replace(address, "=P", "="+secret, 1)
		for place, line := range places {
			var args []string
			for _, word := range strings.Fields(line) {
				args = append(args, strings.Replace(word, "X", address, 1))
			}
			var out, told bytes.Buffer
			status := run(context.Background(), args, streams{in: strings.NewReader(""), out: &out, err: &told})
			if all := out.String() + told.String(); strings.Contains(all, secret) || status == exitOK {
				t.Errorf("%s with %s: status %d\n%s", place, form, status, all)
			}
		}
		t.Setenv("PAWL_LEDGER", address)
		var told bytes.Buffer
		if run(context.Background(), []string{"ledger", "show"}, streams{in: strings.NewReader(""), out: &told, err: &told}) == exitOK || strings.Contains(told.String(), secret) {
			t.Errorf("PAWL_LEDGER %s\n%s", form, told.String())
		}
		t.Setenv("PAWL_LEDGER", "")
	}
}
