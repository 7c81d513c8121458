package advise

import (
	"fmt"

	"pawl/compute/scatter"
)

// ImageFacts are what the recipe of a fit of images, or of rows of features, may depend
// on.
type ImageFacts struct {
	// Height, Width and Channels are the shape; rows of d features are 1×1×d.
	Height, Width, Channels int
	// Rows is the public number of rows that train, Ratio their r = n/σ₁(ε, δ), or 0 where
	// it is not known: the rules then take r for large.
	Rows    float64
	Ratio   float64
	Epsilon float64
	Preset  Preset
	// Features is "" or auto, scatter, or all (the numbers as they are).
	Features string
	// Extractor is the file of a public network that made features of images, "" for none; the shape is then that
	// of its features. Taught says that public images of the same kind train the model first.
	Extractor string
	Taught    bool
	// Mirrored says that the mirror image of an image has its class.
	Mirrored bool
}

// ImageRecipe names a network of the zoo and the numbers of its training.
type ImageRecipe struct {
	Model  string
	Batch  int
	Epochs float64
	// Useful says that more than a guess is to be expected.
	Useful bool
	Rules  []Rule
}

// Networks of the zoo that are linear on scattering features.
const (
	scatterLinear, scatterMirror             = "scatter-linear", "scatter-mirror"
	scatterPooled, scatterMirrorPooled       = "scatter-pooled", "scatter-mirror-pooled"
	scatterUncentred, scatterMirrorUncentred = "scatter-uncentred", "scatter-mirror-uncentred"
)

// flat says that the rows are features already.
func (f ImageFacts) flat() bool { return f.Height == 1 && f.Width == 1 }

// ChooseImages returns the recipe of a linear model: softmax regression on features that
// depend on no data. It fails where features are asked for that the shape does not have.
func ChooseImages(f ImageFacts) (ImageRecipe, error) {
	size, unscattered := scatter.Size(f.Height, f.Width, f.Channels)
	var r ImageRecipe
	switch {
	case f.Features == "scatter" && f.flat():
		return r, fmt.Errorf("scatter takes images, and these are rows of %d features", f.Channels)
	case f.Features == "scatter" && unscattered != nil:
		return r, unscattered
	case f.Extractor != "":
		r.Model = "features-linear"
		r.Rules = append(r.Rules, by(rulePublic, "", fmt.Sprintf("%s makes %d features of an image, and is declared public", f.Extractor, f.Channels)),
			by(ruleFeatures, "", "the features of a network"))
	case f.flat() && f.Features != "all":
		r.Model = "features-linear"
		r.Rules = append(r.Rules, by(ruleFeatures, "", "the rows are features, not pixels: shape 1×1×"+fmt.Sprint(f.Channels)))
	case f.flat():
		r.Model = "logistic" // the numbers as they are
		r.Rules = append(r.Rules, by(rulePixels, "softmax regression on the numbers as they are", "asked for"))
	case f.Features == "all" || unscattered != nil || f.Features != "scatter" && f.below(scatterFrom):
		r.Model = "features-linear"
		r.Rules = append(r.Rules, by(rulePixels, "", pixelReason(f, unscattered)))
	default:
		r.scattered(f, size)
	}
	if r.Useful = !f.below(hopelessImages); !r.Useful {
		r.Rules = append(r.Rules, by(ruleGuess, "", fmt.Sprintf("r = %.3g is below %d", f.Ratio, hopelessImages)))
	}
	if f.Taught {
		r.Rules = append(r.Rules, by(ruleTaught, "", "the images of --public are declared public"))
	}
	r.lots(f)
	return r, nil
}

// below says that r is known and below a threshold.
func (f ImageFacts) below(threshold float64) bool { return f.Ratio > 0 && f.Ratio < threshold }

// scattered chooses among the networks on scattering features, of which there are size.
func (r *ImageRecipe) scattered(f ImageFacts, size int) {
	models := []string{scatterUncentred, scatterPooled, scatterLinear}
	if f.Mirrored {
		models = []string{scatterMirrorUncentred, scatterMirrorPooled, scatterMirror}
	}
	// Pooling leaves 2×2 to 4×4 positions of these sizes.
	pools := min(f.Height, f.Width) >= poolSides && max(f.Height, f.Width) <= 2*poolSides
	centred, advice := float64(centredFrom), ""
	if pools {
		centred = pooledFrom
	}
	var form []Rule
	whole := float64(size) / perPooled
	switch {
	case f.below(centred):
		r.Model, advice = models[0], whitenedScatter
		form = []Rule{by(ruleUncentred, "", fmt.Sprintf("r = %.3g is below %g: the noise of the mean would be as large as the features", f.Ratio, centred))}
	case pools && f.below(whole):
		r.Model = models[1]
		form = []Rule{by(rulePooled, "", fmt.Sprintf("r = %.3g is below %.0f, a %s of %d features: noise grows with their number", f.Ratio, whole, perPooledWords, size))}
	default:
		r.Model = models[2]
	}
	r.Rules = append(r.Rules, by(ruleScatter, advice, "data-free features cost nothing, and a convex model with few steps needs little noise"))
	if f.Mirrored {
		r.Rules = append(r.Rules, by(ruleMirror, "", "the mirror image of an image has its class, by declaration or by the kind of images"))
	}
	r.Rules = append(r.Rules, form...)
}

func pixelReason(f ImageFacts, unscattered error) string {
	switch {
	case f.Features == "all":
		return "asked for"
	case unscattered == nil:
		return fmt.Sprintf("r = %.3g is below %d: the noise of thousands of scattering features would cost more than they gain", f.Ratio, scatterFrom)
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
