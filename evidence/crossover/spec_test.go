package crossover

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pawl/search/feature"
	"pawl/workflow"
)

func TestParseSpec(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Spec
	}{
		{"network", "mnist-paw-cnn", Spec{Network: "mnist-paw-cnn"}},
		{"everything of a network", "rwt-cnn + rwt + adam-wosm + lr=0.5 + clip=1 + batch=100 + epochs=2.5 + as-drawn",
			Spec{Network: "rwt-cnn", TrainLast: 2, Optimizer: "adam-wosm", LearningRate: .5, ClippingNorm: 1, Batch: 100, Epochs: 2.5, AsDrawn: true}},
		{"layers", "rwt-cnn+rwt=3", Spec{Network: "rwt-cnn", TrainLast: 3}},
		{"count", "features:6+model:ebm", Spec{Count: 6, Level: feature.AttributeLevel, Model: "ebm"}},
		{"columns", "columns:6+unpaid", Spec{Count: 6, Level: feature.ColumnLevel, Unpaid: true}},
		{"list with a level", "features:age,sex=Male+linear", Spec{Features: []string{"age", "sex=Male"}, Model: "linear"}},
		{"all", "features:all", Spec{Pixels: true}},
		{"standard", "stw", Spec{Standard: true}},
		{"encoding", "encoding:integer", Spec{Encoding: "integer"}},
		{"file", "own/net.yaml", Spec{Network: "own/net.yaml"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Text = c.text
			got, err := ParseSpec(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(Spec{})); d != "" {
				t.Errorf("%q: %s", c.text, d)
			}
		})
	}
}

func TestParseSpecRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"mnist-paw-cn", "unknown term"},
		{"logistic+ebm", "exclude each other"},
		{"logistic+mnist-paw-cnn", "after"},
		{"features:0", "from 1"},
		{"features:6+features:all", "twice"},
		{"features:", "names nothing"},
		{"unpaid", "goes with"},
		{"encoding:best", "unknown encoding"},
		{"optimizer:best", "unknown optimizer"},
		{"model:best", "unknown term"},
		{"lr=0", "above 0"},
		{"lr=inf", "above 0"},
		{"batch=1.5", "whole number"},
		{"speed=3", "unknown option"},
		{"stw+ebm", "chooses the model itself"},
		{"linear++ebm", "unknown term"},
	} {
		t.Run(c.text, func(t *testing.T) {
			_, err := ParseSpec(c.text)
			var usage *workflow.UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) || usage.Advice == "" {
				t.Errorf("%q: got %v (%+v), want %q and a hint", c.text, err, usage, c.want)
			}
		})
	}
}

// A network's file that was changed is another configuration: its runs are not taken for
// those of the earlier one.
func TestKeyOfANetworkInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "net.yaml")
	keys := map[string]bool{}
	for _, text := range []string{"name: a", "name: b"} {
		text := fmt.Sprintf("version: 1\n%s\nlayers:\n  - {kind: flatten}\n  - {kind: dense}\n", text)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := ParseSpec(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.load(); err != nil {
			t.Fatal(err)
		}
		keys[s.key()] = true
	}
	if len(keys) != 2 {
		t.Errorf("two networks, keys %v", keys)
	}
}
