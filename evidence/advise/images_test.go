package advise

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestImageModels(t *testing.T) {
	for _, c := range []struct {
		name                string
		h, w, channels      int
		features, model, no string
	}{
		{"digits", 28, 28, 1, "", "scatter-linear", ""},
		{"photographs", 32, 32, 3, "auto", "scatter-linear", ""},
		{"pixels asked for", 28, 28, 1, "all", "features-linear", ""},
		{"features", 1, 1, 128, "auto", "features-linear", ""},
		{"features as they are", 1, 1, 128, "all", "logistic", ""},
		{"a size that scatter does not take", 30, 30, 1, "auto", "features-linear", ""},
		{"scatter of such a size", 30, 30, 1, "scatter", "", "multiples of 4"},
		{"scatter of features", 1, 1, 128, "scatter", "", "rows of 128 features"},
		{"too large", 128, 128, 3, "scatter", "", "from 8 to 64"},
	} {
		r, err := ChooseImages(ImageFacts{Height: c.h, Width: c.w, Channels: c.channels, Rows: 60000, Epsilon: 1, Features: c.features})
		switch {
		case c.no != "" && (err == nil || !strings.Contains(err.Error(), c.no)):
			t.Errorf("%s: %v, want %q", c.name, err, c.no)
		case c.no == "" && (err != nil || r.Model != c.model):
			t.Errorf("%s: %s, %v; want %s", c.name, r.Model, err, c.model)
		}
	}
}

// Little signal: pixels, and then no more than a guess.
func TestImagesByRatio(t *testing.T) {
	for _, c := range []struct {
		ratio    float64
		features string
		model    string
		useful   bool
	}{
		{0, "", "scatter-linear", true}, {1000, "", "scatter-linear", true}, {794, "", "scatter-linear", true},
		{793, "", "scatter-pooled", true}, {pooledFrom, "", "scatter-pooled", true},
		{pooledFrom - 1, "", "scatter-uncentred", true}, {100, "scatter", "scatter-uncentred", true}, {1000, "scatter", "scatter-linear", true}, {100, "all", "features-linear", true},
		{scatterFrom, "", "scatter-uncentred", true}, {scatterFrom - 1, "", "features-linear", true}, {5, "", "features-linear", false},
	} {
		r, err := ChooseImages(ImageFacts{Height: 28, Width: 28, Channels: 1, Rows: 3000, Epsilon: 1, Ratio: c.ratio, Features: c.features})
		if err != nil || r.Model != c.model || r.Useful != c.useful {
			t.Errorf("r %g: %+v, %v; want %s, useful %v", c.ratio, r, err, c.model, c.useful)
		}
		for rule, model := range map[string]string{rulePooled: "scatter-pooled", ruleUncentred: "scatter-uncentred"} {
			said := slices.ContainsFunc(r.Rules, func(r Rule) bool { return r.Name == rule })
			if want := c.model == model; said != want {
				t.Errorf("r %g: rule %s %v, want %v", c.ratio, rule, said, want)
			}
		}
	}
	// Few or many positions would be left of other sizes.
	for _, side := range []int{16, 44} {
		for ratio, want := range map[float64]string{centredFrom - 1: "scatter-uncentred", centredFrom: "scatter-linear"} {
			if r, err := ChooseImages(ImageFacts{Height: side, Width: side, Channels: 1, Rows: 3000, Epsilon: 1, Ratio: ratio}); err != nil || r.Model != want {
				t.Errorf("%d pixels, r %g: %s, %v; want %s", side, ratio, r.Model, err, want)
			}
		}
	}
}

func TestImageLots(t *testing.T) {
	for _, c := range []struct {
		rows, epsilon float64
		preset        Preset
		batch         int
		epochs        float64
	}{
		{60000, 0.34, Balanced, 4096, 10}, {60000, 1.09, Balanced, 4096, 20}, {60000, 2.93, Balanced, 4096, 40}, {60000, 8, Balanced, 4096, 60},
		{10000, 2.93, Balanced, 4096, 40}, {2000, 2.93, Balanced, 1000, 40}, {60000, 2.93, Quick, 4096, 20}, {60000, 2.93, Thorough, 8192, 80},
	} {
		r, err := ChooseImages(ImageFacts{Height: 28, Width: 28, Channels: 1, Rows: c.rows, Epsilon: c.epsilon, Preset: c.preset})
		if err != nil || r.Batch != c.batch || r.Epochs != c.epochs {
			t.Errorf("%g rows, ε %g, %s: %d, %g, %v; want %d, %g", c.rows, c.epsilon, c.preset, r.Batch, r.Epochs, err, c.batch, c.epochs)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := ImageFacts{Height: rapid.IntRange(1, 70).Draw(t, "h"), Width: rapid.IntRange(1, 70).Draw(t, "w"), Channels: rapid.IntRange(1, 20).Draw(t, "c"),
			Rows: rapid.Float64Range(1, 1e9).Draw(t, "rows"), Epsilon: rapid.Float64Range(0, 1e3).Draw(t, "epsilon")}
		r, err := ChooseImages(f)
		if err != nil || r.Model == "" || r.Batch < 1 || float64(r.Batch) > max(f.Rows, 1) || !(r.Epochs > 0) || math.IsInf(r.Epochs, 0) || len(r.Rules) < 2 {
			t.Fatalf("%+v, %v", r, err)
		}
	})
}

// What is declared public, and what is known of mirror images, decides model and reasons.
func TestImagesByDeclaration(t *testing.T) {
	photographs := ImageFacts{Height: 32, Width: 32, Channels: 3, Rows: 10000, Epsilon: 3, Ratio: 8000}
	mirrored, few, pooled, features, taught := photographs, photographs, photographs, ImageFacts{Height: 1, Width: 1, Channels: 256, Rows: 10000, Epsilon: 3, Extractor: "net.onnx"}, photographs
	mirrored.Mirrored, few.Mirrored, few.Ratio, taught.Taught = true, true, 100, true
	pooled.Mirrored, pooled.Ratio = true, 2500
	for _, c := range []struct {
		name, model, rule string
		facts             ImageFacts
		want              bool
	}{
		{"nothing declared", "scatter-linear", ruleMirror, photographs, false},
		{"mirror images", "scatter-mirror", ruleMirror, mirrored, true},
		{"mirror images, few rows", "scatter-mirror-uncentred", ruleMirror, few, true},
		{"mirror images, not many rows", "scatter-mirror-pooled", ruleMirror, pooled, true},
		{"an extractor", "features-linear", rulePublic, features, true},
		{"a teacher", "scatter-linear", ruleTaught, taught, true},
		{"no teacher", "scatter-linear", ruleTaught, photographs, false},
	} {
		r, err := ChooseImages(c.facts)
		said := slices.ContainsFunc(r.Rules, func(r Rule) bool { return r.Name == c.rule })
		if err != nil || r.Model != c.model || said != c.want {
			t.Errorf("%s: %s, rule %s %v, %v; want %s, %v", c.name, r.Model, c.rule, said, err, c.model, c.want)
		}
	}
}
