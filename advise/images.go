package advise

import (
	"fmt"

	"pawl/scatter"
)

// ImageFacts are what the recipe of a fit of images, or of rows of features, may depend
// on.
type ImageFacts struct {
	// Height, Width and Channels are the shape; rows of d features are 1×1×d.
	Height, Width, Channels int
	// Rows is the public number of rows that train.
	Rows    float64
	Epsilon float64
	Preset  Preset
	// Features is "" or auto, scatter, or all (the numbers as they are).
	Features string
}

// ImageRecipe names a network of the zoo and the numbers of its training.
type ImageRecipe struct {
	Model  string
	Batch  int
	Epochs float64
	Rules  []Rule
}

// flat says that the rows are features already.
func (f ImageFacts) flat() bool { return f.Height == 1 && f.Width == 1 }

// ChooseImages returns the recipe of a linear model: softmax regression on features that
// depend on no data. It fails where features are asked for that the shape does not have.
func ChooseImages(f ImageFacts) (ImageRecipe, error) {
	_, unscattered := scatter.Size(f.Height, f.Width, f.Channels)
	var r ImageRecipe
	switch {
	case f.Features == "scatter" && f.flat():
		return r, fmt.Errorf("scatter takes images, and these are rows of %d features", f.Channels)
	case f.Features == "scatter" && unscattered != nil:
		return r, unscattered
	case f.flat() && f.Features != "all":
		r.Model = "features-linear"
		r.Rules = append(r.Rules, by(ruleFeatures, "", "the rows are features, not pixels: shape 1×1×"+fmt.Sprint(f.Channels)))
	case f.Features == "all" || unscattered != nil:
		r.Model = "logistic"
		r.Rules = append(r.Rules, by(rulePixels, "", pixelReason(f, unscattered)))
	default:
		r.Model = "scatter-linear"
		r.Rules = append(r.Rules, by(ruleScatter, "", "features that depend on no data cost nothing, and a convex model of few steps wants little noise"))
	}
	r.lots(f)
	return r, nil
}

func pixelReason(f ImageFacts, unscattered error) string {
	if f.Features == "all" {
		return "asked for"
	}
	return "scattering does not take this shape: " + unscattered.Error()
}

// lots chooses batch and epochs. What counts is batch·√steps/σ, which grows with both
// towards that of full-batch steps; how fast depends on ε.
func (r *ImageRecipe) lots(f ImageFacts) {
	batch, epochs := 4096.0, 60.0
	switch {
	case f.Epsilon <= fewEpochsTo:
		epochs = 10
	case f.Epsilon <= someEpochsTo:
		epochs = 20
	case f.Epsilon <= manyEpochsTo:
		epochs = 40
	}
	switch f.Preset {
	case Quick:
		epochs /= 2
	case Thorough:
		batch, epochs = 2*batch, 2*epochs
	}
	r.Batch, r.Epochs = int(max(min(batch, f.Rows/2), 1)), epochs
	r.Rules = append(r.Rules, by(ruleLots, fmt.Sprintf("lots of about %d rows, %g epochs", r.Batch, r.Epochs),
		fmt.Sprintf("%.0f rows at ε %g: signal over noise, batch·√steps/σ, is within a tenth of what any number of steps reaches", f.Rows, f.Epsilon)))
}
