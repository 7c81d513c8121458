package advise

import (
	"fmt"
	"slices"

	"pawl/learn"
)

// This file is the whole of the advice: the thresholds and, for every rule, when it
// applies, what it says and on what evidence. Choose and ChooseImages decide by the
// thresholds and take their reasons from here, so that what `pawl fit` does and what
// `pawl advise` says are one thing.
//
// The rules are our reconstruction. Bao, Bauer and Bindschaedler describe a
// recommendation procedure whose figure our copies do not hold; what follows was put
// together from the conclusions of their sections and from measurements of our own,
// which win where the two differ. Thresholds are on r = n/σ₁(ε, δ), training rows over
// the noise multiplier of one Gaussian release, unless they say otherwise.

// Reconstruction is the sentence that goes with every piece of advice.
const Reconstruction = "The rules are our reconstruction of the procedure that Bao, Bauer and Bindschaedler describe, from their conclusions and our measurements; where the two differ, the measurements win."

const (
	// hopeless: below it a model of classes is noise, and the majority is predicted;
	// hopelessNumber is that of a regression.
	hopeless, hopelessNumber = 10, 4
	// low: below it a model is barely better than a constant, and less is asked of it.
	low = 15
	// hopelessPure takes the place of hopeless at δ = 0, on n·ε.
	hopelessPure = 100
	// namedBelow: below it a list of attributes from domain knowledge helps.
	namedBelow = 100
	// productsFrom: from it a regression has thermometers and products.
	productsFrom = 100
	// fineFrom: from it numeric columns of a classification have 63 thresholds, not 15.
	fineFrom = 7000
	// additiveClass, additiveNumber: from it curves are worth their price, for two classes and for a number; on the
	// effective ratio (learn.EffectiveRatio). Pairs want more (learn.DefaultAdditions). With public rows, half of them
	// count as well, up to taughtClass for two classes.
	additiveClass, additiveNumber, taughtClass = 1000, 800, 3500
	// decades: a target whose bounds are above 0 and so far apart is trained on its logarithm.
	decades = 100
	// amountFrom: a number whose bounds are so far apart is an amount, and the linear model is trained on a scale
	// that is bent by amountBend.
	amountFrom, amountBend = 1000, 5
	// perClass times the classes: below it a model of several classes is no use.
	perClass = 5
	// taughtBy times the public rows is the r from which a training that begins with their model
	// makes its whole movement; leastTaught is the part that it makes in any case.
	taughtBy, leastTaught = 4, 0.05
	// searchFrom: below it a private search costs more than it finds.
	searchFrom = 10000
	// kindsFrom: from it a choice between kinds of model gains more than it costs.
	kindsFrom = 40000
	// bagFrom is the number of columns from which those that can be in a bag are put
	// into one (encode.Baggable).
	bagFrom = 100
	// hopelessImages: below it a linear model of images is no better than a guess.
	hopelessImages = 15
	// Scattering features of images whose sides are poolSides to twice that: from pooledFrom a fifth of them, and all
	// of them from their number over perPooled; below pooledFrom all, but without a released mean, whose noise would be
	// as large as they. Of other sizes all of them, from centredFrom with a mean. Below scatterFrom their noise costs
	// more than they gain, and pixels are taken.
	pooledFrom, perPooled, centredFrom, scatterFrom, poolSides = 200, 5, 400, 40, 20
	// Epochs of images, by ε.
	fewEpochsTo, someEpochsTo, manyEpochsTo = 0.5, 1.5, 4
)

// perPooledWords is perPooled in words.
const perPooledWords = "fifth"

// whitenedScatter is the advice for images that scattering takes.
const whitenedScatter = "softmax regression on scattering features whitened by a matrix of drawn pictures"

// Guideline is one rule with its evidence.
type Guideline struct {
	// Name is stable: programs may rely on it.
	Name string `json:"name"`
	// When is the condition, on public facts alone; Advice what then follows.
	When   string `json:"when"`
	Advice string `json:"advice"`
	// Published is what the papers measured, Measured what we did.
	Published string `json:"published"`
	Measured  string `json:"measured"`
	// Changes says what would change the advice.
	Changes string `json:"would_change"`
}

// Rule is one decision for given facts, and why.
type Rule struct {
	// Name is the guideline's, empty for a remark that is none.
	Name                                        string
	Rule, Because, Published, Evidence, Changes string
}

// by makes the decision that the named guideline leads to: advice in the words of the
// facts at hand (empty: the guideline's own) and why it applies to them.
func by(name, advice, because string) Rule {
	for _, g := range Guidelines {
		if g.Name != name {
			continue
		}
		if advice == "" {
			advice = g.Advice
		}
		return Rule{Name: name, Rule: advice, Because: because, Published: g.Published, Evidence: g.Measured, Changes: g.Changes}
	}
	panic(fmt.Sprintf("advise: no guideline is called %q", name))
}

// Names of guidelines.
const (
	ruleConstant      = "constant"
	ruleNearConstant  = "near-constant"
	rulePublic        = "public-features"
	ruleBinary        = "linear-two-classes"
	ruleClasses       = "linear-many-classes"
	ruleRegression    = "linear-regression"
	ruleAdditive      = "additive"
	rulePublicRows    = "public-rows"
	rulePure          = "pure-epsilon"
	ruleThermometer   = "encoding-thermometer"
	ruleAffine        = "encoding-affine"
	ruleProducts      = "encoding-products"
	ruleNoProducts    = "encoding-no-products"
	ruleAmount        = "target-amount"
	ruleAll           = "attributes-all"
	ruleNamed         = "attributes-named"
	ruleBag           = "bag-of-columns"
	ruleText          = "hashed-words"
	ruleVectors       = "vectors"
	ruleNoSearch      = "no-search"
	ruleSearch        = "search-kinds"
	ruleScatter       = "images-scatter"
	ruleMirror        = "images-mirror"
	rulePooled        = "images-pooled"
	ruleUncentred     = "images-uncentred"
	rulePixels        = "images-pixels"
	ruleGuess         = "images-guess"
	ruleFeatures      = "images-features"
	ruleTaught        = "images-taught"
	ruleLots          = "images-lots"
	ruleFixedNetwork  = "fixed-network"
	ruleBanded        = "banded-noise"
	ruleMoreRows      = "more-rows"
	ruleAfterTraining = "after-training"
)

const nothingPublished = learn.NothingPublished

// asked names the guideline of a learner that is asked for.
func asked(l Learner) string { return "asked-" + string(l) }

// askedRules are the names of all of them.
func askedRules() (names []string) {
	for _, l := range Learners {
		if learn.KindOf(string(l)).Encoding != nil {
			names = append(names, asked(l))
		}
	}
	return names
}

// Guidelines are all rules, in the order in which they are asked.
var Guidelines = slices.Concat(forData, learners(), stops, forAll)

// learners are the guidelines of learners that are asked for by name.
func learners() (all []Guideline) {
	for _, l := range Learners {
		if k := learn.KindOf(string(l)); k.Encoding != nil {
			g := k.Guideline
			all = append(all, Guideline{Name: asked(l), When: "asked for by --model " + k.Name, Advice: g.Advice, Published: g.Published, Measured: g.Measured, Changes: g.Changes})
		}
	}
	return all
}

var forData = []Guideline{
	{
		Name:      ruleConstant,
		When:      fmt.Sprintf("r below %d (%d for a regression); at delta 0, rows·epsilon below %d", hopeless, hopelessNumber, hopelessPure),
		Advice:    "no useful model: predict the majority class, or the mean",
		Published: "Bao, Bauer and Bindschaedler, Tables X and XVI: Breast Cancer at ε ≤ 0.5 and Adult at ε ≤ 0.001 do no better than the majority class",
		Measured:  "40 splits, trained model against majority class: Breast Cancer 66.1 [62.7, 69.4] and 69.9 % at r = 5.7, 68.4 [66.3, 70.5] and 69.9 % at r = 7.8; WDBC 59.6 [56.0, 63.2] and 62.5 % at r = 5.5, 62.6 and 62.5 % at r = 8.5. On insurance a model lowers the mean predictor's error by 1 % [−5, 7] at r = 3.9 and by 5 % [0, 10] at 5.2",
		Changes:   "more rows or a larger epsilon: r grows with both",
	},
	{
		Name:      ruleNearConstant,
		When:      fmt.Sprintf("r below %d; with several classes, below %d per class", low, perClass),
		Advice:    "warning: expect little more than a constant",
		Published: "Bao, Bauer and Bindschaedler, Table XVI: on Adult at ε = 0.001 no set of features beats the majority class",
		Measured:  "Adult at ε 0.001 (r = 13): 76.45 % ± 0.17 against a majority of 76.38 %",
		Changes:   "r above 50",
	},
	{
		Name:      rulePublic,
		When:      "a public extractor, or public data of the same kind, exists",
		Advice:    "take its features: --extractor for images, --embeddings for rows of a table; tune and choose on the public data, which costs nothing",
		Published: "Tramèr and Boneh, 2021: CIFAR-10 at ε 2, 79.6 to 92.4 % with a linear model on public features, 59 % with a CNN alone",
		Measured:  "CIFAR-10 at ε 1: 81.8 % on public MobileNet features (50,000 images); 10,000 images at ε 2.93: 75.2 % behind MobileNet v1 0.25 as --extractor, 60.0 % on scattering features",
		Changes:   "no extractor trained on public data",
	},
	{
		Name:      ruleBinary,
		When:      fmt.Sprintf("a table or texts, two classes, r from %d", hopeless),
		Advice:    "logistic regression by noisy full-batch gradient descent: momentum 0.9, a small clipping norm, the average of the last half of the steps, learning rates from r",
		Published: "Bao, Bauer and Bindschaedler, Sec. V and Fig. 8: simpler models win at small ε (MNIST, logistic against CNN up to ε 0.25–0.5); Mohapatra et al., Figs. 8–11: momentum with the effective step is as good as a tuned grid",
		Measured:  "within 0.5 points of the best of 12 settings on Adult, and 0.1 to 1.1 on three dense tasks that were not used to set the constants",
		Changes:   "more rows or a larger epsilon (r grows with both)",
	},
	{
		Name:      ruleClasses,
		When:      fmt.Sprintf("a table or texts, three classes or more, r from %d", hopeless),
		Advice:    "softmax regression by noisy full-batch gradient descent, with one clipping norm for the whole gradient",
		Published: nothingPublished + " by a linear model; Bao, Bauer and Bindschaedler, Table I: Purchase-100, the smaller net is better",
		Measured:  "location30 (30 classes) at ε 0.1/0.5/1/3: 7/20/32/52 %, two splits",
		Changes:   fmt.Sprintf("no useful model below r = %d per class", perClass),
	},
	{
		Name:      ruleRegression,
		When:      fmt.Sprintf("the target is a number, r from %d", hopelessNumber),
		Advice:    "linear regression by noisy gradient descent on clipped residuals; close to a least-absolute-error fit, so it predicts medians rather than means",
		Published: "Bao, Bauer and Bindschaedler, Table XIV: Medical Cost, shallow and narrow nets are best (absolute error 0.098–0.12 of the range at ε 0.95)",
		Measured:  "insurance, error relative to the mean predictor's: .38 at ε 0.5 and .27 at ε 1 (0.039 of the range), against .59 and .51 for noisy normal equations",
		Changes:   "tighter declared bounds of the target help most: a cap twice as wide cost .06 at ε 1",
	},
	{
		Name:      ruleAdditive,
		When:      fmt.Sprintf("a table of numbers and categories, r and half of the rows from %d for two classes, from %d for a number", additiveClass, additiveNumber),
		Advice:    "sum of a curve for each column and, from r = 3,500 for two classes and 2,000 for a number, of tables of pairs that a noisy screening finds, on cells that a first release of marginals weighs",
		Published: nothingPublished,
		Measured:  "R² of kc_house prices at ε 1/3 .836/.874 against .642/.645 by the linear model, of ages in Adult .461/.467 against .388/.389; Adult income at ε 1 86.6 against 85.7 %; AUROC of bank marketing at ε 3 .906 against .896; Adult sex, where linear is best, 84.2 against 84.5 % at ε 3. Curves alone at r = 1,200 and 2,400, 13 targets of 8 tables, 8 splits each: +.4 points and +.005 in AUROC on average, at worst −.25 points (ever married, stroke table); at r = 600 −1.3 there",
		Changes:   "--model linear; fewer rows or a smaller epsilon",
	},
	{
		Name:      rulePublicRows,
		When:      "a table or texts, and public rows of the same columns (--public)",
		Advice:    fmt.Sprintf("train on the public rows first, without noise, and continue from there: by r/(%d·public rows) of the usual movement, %g to 1 of it", taughtBy, leastTaught),
		Published: nothingPublished,
		Measured:  "a tenth of the training rows public, means of 5 runs, with and without them at ε 0.1/1/5: SMS spam 96.4/98.0/98.7 and 88.7/97.9/98.7 %; AUROC of bank marketing .885/.894/.906 and .846/.893/.905; R² of kc_house prices .770/.843/.882 and .568/.843/.880; 3 % of Adult's 84.7/86.3/86.7 and 84.6/86.3/86.7 %",
		Changes:   "no public rows; more rows or a larger epsilon: from r of twice the public rows there is little to gain",
	},
	{
		Name:      rulePure,
		When:      fmt.Sprintf("delta 0 and rows·epsilon from %d", hopelessPure),
		Advice:    "logistic regression by objective perturbation, in its add-or-remove form",
		Published: "Bao, Bauer and Bindschaedler, Table XVI and Fig. 3, spend all of ε on its replace-one form, which has twice the noise",
		Measured:  "Adult at ε 0.1/1/3: 81.8/85.2/85.6 %; a delta of 1e-6 would give 84.7/85.6/85.7 %",
		Changes:   "a delta above 0 buys a better model at small epsilon",
	},
	{
		Name:      ruleThermometer,
		When:      fmt.Sprintf("classification, r from %d; 63 thresholds in place of 15 from r = %d", low, fineFrom),
		Advice:    "numeric columns as a thermometer of public thresholds, categories one-hot, every attribute a block of norm 1",
		Published: "Bao, Bauer and Bindschaedler, Fig. 4 and Table XVI: one-hot categories cost accuracy on Adult below ε 0.01–0.05 unless rows are scaled by blocks",
		Measured:  "Adult at ε 0.02/0.1/1: thermometer 83.2/84.6/85.6 %, one affine coordinate 82.2/84.5/84.8 %",
		Changes:   fmt.Sprintf("below r = %d numeric columns are encoded linearly", low),
	},
	{
		Name:      ruleAffine,
		When:      fmt.Sprintf("r below %d", low),
		Advice:    "each numeric column as one affine coordinate, with half of a row's squared norm in the intercept",
		Published: "Bao, Bauer and Bindschaedler, Sec. VI: fewer and coarser inputs at the smallest ε",
		Measured:  "caution, not accuracy: 40 splits, this encoding against a thermometer: Breast Cancer at r = 11/14 69.7/69.9 and 67.3/68.7 % (majority 69.9); WDBC at r = 11/14 63.8/63.4 and 76.2/79.7 % (majority 63.3)",
		Changes:   fmt.Sprintf("r of %d or more", low),
	},
	{
		Name:      ruleProducts,
		When:      fmt.Sprintf("regression, r from %d", productsFrom),
		Advice:    "numeric columns as thermometers of 7 thresholds, and their products with two-level columns",
		Published: nothingPublished,
		Measured:  "insurance at ε 1: error ratio .27 with products, .39 without (one data set)",
		Changes:   fmt.Sprintf("below r = %d one affine coordinate and no products", productsFrom),
	},
	{
		Name:      ruleNoProducts,
		When:      fmt.Sprintf("regression, r below %d", productsFrom),
		Advice:    "each numeric column as one affine coordinate, without products",
		Published: nothingPublished,
		Measured:  "insurance at ε 0.1: error ratio .53–.55 against .54",
		Changes:   fmt.Sprintf("r of %d or more", productsFrom),
	},
	{
		Name:      ruleAmount,
		When:      fmt.Sprintf("regression, bounds of the target %d or more apart, r from %d", amountFrom, productsFrom),
		Advice:    fmt.Sprintf("train on log(1+%dt) of the position t of the target within its bounds", amountBend),
		Published: nothingPublished,
		Measured:  "part of the mean predictor's error that the linear model removes, in %, bent against linear scale, 10 splits: telco TotalCharges at ε 0.3/1/3 71/79/84 against 66/74/78; kc_house sqft_above at ε 0.3/1 57/63 against 52/61, sqft_basement, where it loses, 31/42 against 34/45; insurance at ε 0.5/1/3 66/72/77 against 62/71/77. On a full logarithm insurance loses 1 to 2 points. Bounds less than 1,000 apart, weaker bend, ε 1: from −1.2 points (telco MonthlyCharges) to +4.9 (hours in Adult)",
		Changes:   "--target-scale linear or log; bounds closer together",
	},
	{
		Name:      ruleAll,
		When:      "no list of attributes was given",
		Advice:    "use all attributes; do not select any privately",
		Published: "Bao, Bauer and Bindschaedler, Figs. 3 and 4 and Table XVI, disagree: with objective perturbation, whose noise grows with the columns, six attributes are better on Adult below ε 10–20 and one on Breast Cancer below 60–70",
		Measured:  "with unit blocks noise does not grow with the columns, and selection from noisy label tables lost on every data set: Adult at ε 0.1 83.0 % with the top 6 against 84.8 %; WDBC at ε 1 91.2 against 94.2 %",
		Changes:   fmt.Sprintf("below r = %d a list of the most important attributes from domain knowledge helps (--features a,b,c)", namedBelow),
	},
	{
		Name:      ruleNamed,
		When:      fmt.Sprintf("the operator names attributes, which pays below r = %d", namedBelow),
		Advice:    "use the named attributes",
		Published: "Bao, Bauer and Bindschaedler, Sec. VI: subsets chosen from domain knowledge, which costs no budget",
		Measured:  "Adult at ε 0.005: five named attributes 81.1 %, all 79.0 %; at ε 0.1 a list loses 0.3–0.7 points",
		Changes:   "above r = 200 all attributes are usually better",
	},
	{
		Name:      ruleBag,
		When:      fmt.Sprintf("at least %d columns in which 0 means absence", bagFrom),
		Advice:    "these columns as one bag: an indicator for each that is not 0, scaled to norm 1",
		Published: nothingPublished,
		Measured:  "Enron mail (3,000 counts) at ε 1: 94.3 %, 73 % with a thermometer for each; location30 (446 places) at ε 3: 53.5 and 48.0 %, three splits",
		Changes:   "name fewer columns, or declare them numeric without heavy_tailed",
	},
	{
		Name:      ruleText,
		When:      "a column of texts",
		Advice:    "words hashed by a fixed rule: presence rather than counts, scaled to norm 1",
		Published: "Bao, Bauer and Bindschaedler, Table XIII: SMS spam 93.4 % at ε 7.2 with an LSTM and a vocabulary; the smaller LSTM is better",
		Measured:  "SMS spam at ε 1/7.2: 97.5/98.7 % with 16,384 buckets, 97.4/98.5 % with 4,096, 97.2/98.3 % with 1,000, five splits",
		Changes:   "buckets: in the schema",
	},
	{
		Name:      ruleVectors,
		When:      "a column of vectors of a public extractor",
		Advice:    "the vector of each row divided by its norm, as one block",
		Published: "Tramèr and Boneh, 2021: linear models on public features are the best private models of CIFAR-10 at ε ≤ 3",
		Measured:  "MobileNet features of CIFAR-10 at ε 1: 80 %, with or without scaling the numbers first",
		Changes:   "another extractor",
	},
	{
		Name:      ruleScatter,
		When:      fmt.Sprintf("images whose sides are multiples of 4 from 8 to 64, no public extractor, r from %d", scatterFrom),
		Advice:    whitenedScatter + ", with their released mean subtracted",
		Published: "Tramèr and Boneh, 2021, at ε 3: MNIST 98.7 %, Fashion-MNIST 89.7 % by a linear model on scattering features, CNNs 98.1 and 86.0 %; Bao, Bauer and Bindschaedler, Fig. 8: on pixels the CNN wins from ε 0.25–0.5",
		Measured:  "above every small CNN at equal ε on MNIST (98.4 against 97.8 % at 2.93), Fashion-MNIST (90.1 % at 2.7, δ 1e-5, thorough) and 10,000 images of CIFAR-10. Whitening, on training images left out: Fashion-MNIST 90.1 against 89.7 %, CIFAR-10 57.7 against 57.0",
		Changes:   "--model NAME for a network; pawl train has its flags. Published: 50,000 photographs at ε 3 gain 2 points by a small CNN on these features; on 10,000 it loses 2 (docs/ADVICE.md)",
	},
	{
		Name:      ruleMirror,
		When:      "scattering features, and mirror images have the same class: photographs in colour (--flip)",
		Advice:    "add the features of the mirror image",
		Published: "De et al., 2022: averages over mirrored variants raise CNNs on CIFAR-10",
		Measured:  "7,000 images of CIFAR-10 at ε 2.93, scored on 3,000 others, two runs: 61.7 against 57.7 %; Fashion-MNIST gains nothing (90.0 against 90.1 %), so grey images of built-in sets have none",
		Changes:   "images whose mirror image means something else: digits, signs",
	},
	{
		Name:      rulePooled,
		When:      fmt.Sprintf("scattering features of images with sides from %d to %d, r from %d to a %s of their number (28×28: 794, 32×32 in colour: 3,110)", poolSides, 2*poolSides, pooledFrom, perPooledWords),
		Advice:    "average each channel over squares of 3×3 positions, which leaves a fifth of the features",
		Published: nothingPublished,
		Measured:  "training images left out, ε 1, two runs, pooled against all features: at r = 268 MNIST 81.3/70.4 %, Fashion-MNIST 65.1/57.6, CIFAR-10 30.9/16.1; at 804 93.3/93.8, 78.2/77.8 and 47.6/40.8",
		Changes:   "r above the threshold: all features",
	},
	{
		Name:      ruleUncentred,
		When:      fmt.Sprintf("scattering features, r below %d, or below %d where sides are not from %d to %d", pooledFrom, centredFrom, poolSides, 2*poolSides),
		Advice:    "release no mean of the features",
		Published: nothingPublished,
		Measured:  "training images left out, ε 1, r = 80, two runs: without a mean MNIST 45.7 %, Fashion-MNIST 42.2; with it 20.1 and 18.8; pixels 36.9 and 40.2",
		Changes:   "r above the threshold",
	},
	{
		Name:      rulePixels,
		When:      fmt.Sprintf("images of another size, r below %d, or --features all", scatterFrom),
		Advice:    "softmax regression on the pixels, each image scaled to the same norm",
		Published: "Bao, Bauer and Bindschaedler, Fig. 8: better than the CNN up to ε 0.25–0.5",
		Measured:  "MNIST at ε 2.11: 92.5 % on pixels or their cosine transform, 98.2 % on scattering features. Few images at ε 1 (rules images-pooled, images-uncentred): 36.9 % at r = 80, 64.4 at 268, 80.3 at 804; Fashion-MNIST 40.2, 58.8, 70.9. Scaling images to the same norm gains 2 points on MNIST over raw pixels",
		Changes:   "--features scatter for sides that are multiples of 4 from 8 to 64; --model NAME for a network",
	},
	{
		Name:      ruleGuess,
		When:      fmt.Sprintf("images or features, r below %d", hopelessImages),
		Advice:    "expect no better than guessing; use more images or a larger epsilon",
		Published: "none",
		Measured:  "ten classes, two runs: MNIST 12 % and Fashion-MNIST 14 % at r = 8, 19 and 20 % at r = 24, 34 and 42 % at r = 71",
		Changes:   "r above the threshold; a public extractor",
	},
	{
		Name:      ruleFeatures,
		When:      "rows are vectors of features",
		Advice:    "softmax regression on the features, each row scaled to the same norm",
		Published: "Tramèr and Boneh, 2021: a linear model on public features, 79.6 to 92.4 % on CIFAR-10 at ε 2",
		Measured:  "MobileNet features of CIFAR-10 at ε 1: 81.8 %; subtracting a released mean changed nothing, so none is released",
		Changes:   "--model NAME",
	},
	{
		Name:      ruleTaught,
		When:      "public images of the same size and classes are named (--public)",
		Advice:    "train on them first, without noise, and continue from there",
		Published: "Tramèr and Boneh, 2021: public data buy more than any model without them",
		Measured:  "10,000 images of Fashion-MNIST after 1,000 others as public ones, two runs: 69.2 against 62.7 % at ε 0.1, 85.4 against 85.1 % at ε 1",
		Changes:   "public images that look different: leave out --public",
	},
	{
		Name:      ruleLots,
		When:      fmt.Sprintf("images or features: 10 epochs up to ε %g, 20 up to %g, 40 up to %g, 60 above", fewEpochsTo, someEpochsTo, float64(manyEpochsTo)),
		Advice:    "DP-SGD with momentum 0.9 on Poisson lots of 4,096, the learning rate by a data-free rule",
		Published: "Tramèr and Boneh, 2021: lots of 4,096 to 8,192; De et al., 2022: larger lots are better at a fixed ε",
		Measured:  "MNIST: equal accuracy from 10 epochs at ε 0.34, 20 at 1.09 and 40 at 2.93; 81.3 % on MobileNet features from 30 and from 60",
		Changes:   "--preset quick or thorough",
	},
	{
		Name:      ruleNoSearch,
		When:      fmt.Sprintf("r below %d", searchFrom),
		Advice:    "no hyperparameter search",
		Published: "Mohapatra et al., Fig. 6: trying 14 (n = 5,000) to 26 (n = 60,000) candidates by composition costs less than a private selection, and either costs several times as much as one training run; Bao, Bauer and Bindschaedler do not pay for their search",
		Measured:  "rule against search: Adult 84.8/83.2 % at ε 0.1 and 85.6/85.1 % at ε 1; WDBC 94.2/91.7 % at ε 1",
		Changes:   "r above 40,000 and candidates that differ in kind (--preset thorough); --search runs it in any case",
	},
	{
		Name:      ruleSearch,
		When:      fmt.Sprintf("tables, classification, r from %d, --preset thorough", kindsFrom),
		Advice:    "train a linear model and boosted shapes, and keep the one with the better noisy score; both are charged",
		Published: "Mohapatra et al., Fig. 6: composing a few candidates costs less than a private selection; no measurement of this choice",
		Measured:  "Adult, 5 seeds, against the linear rule at the same total ε: at ε 8 income 86.5 against 85.8 % and sex, where linear is best, 84.5 against 84.7; at ε 3 (r = 21,000) 86.1 against 85.8 and 84.35 against 84.6; at ε 1 both lose",
		Changes:   "--preset balanced, or --model NAME",
	},
}

var forAll = []Guideline{
	{
		Name:      ruleFixedNetwork,
		When:      "the network is given and cannot be chosen",
		Advice:    "train all layers with tanh and the data-free learning rate; use --train-last 2 (random weights) only for over a million parameters at small ε",
		Published: "Bao, Bauer and Bindschaedler, Fig. 10 and Table VII: training the last two layers alone is better below ε 0.6 (CNN) and 1.4 (FCN) with 60,000 rows; Fig. 12: widen before you deepen",
		Measured:  "MNIST at ε 0.34: random nets with linear outputs 90–94 %, a small trained net on cosine features 92.2 %, the scattering features 96.9 %: all above the 75 % of training only the last layers of a net of 1.36 million parameters",
		Changes:   "freedom to choose the model",
	},
	{
		Name:      ruleBanded,
		When:      "the network is given, for about 10 epochs or fewer and an ε of about 3 or more",
		Advice:    "pawl train --mechanism banded with small batches: each step cancels part of the noise of earlier steps",
		Published: "Choquette-Choo et al., 2023 (arXiv:2306.08153): at least as good as DP-SGD, most at large ε and few epochs",
		Measured:  "MNIST, ε 2.98, δ 1e-5, 9 epochs: mnist-paw-cnn 97.3 % on batches of 512, DP-SGD 96.5 % there and 96.2 % on 4,096; mnist-paw-fcn 96.1 against 95.2 and 95.5 %; the noise of the iterates is .60 of DP-SGD's on the same batches. At 60 epochs on 4,096, the default, it is .98 of it, and mnist-paw-cnn has 97.4 % either way",
		Changes:   "more epochs, for which larger batches are as good; iterate_noise_over_dp_sgd above 1 in the statement",
	},
	{
		Name:      ruleMoreRows,
		When:      "always",
		Advice:    "collect more rows: r is proportional to their number",
		Published: "Bao, Bauer and Bindschaedler, Fig. 6: the ε at which MNIST reaches 85 % falls like ln(1.1 + 8922/n)",
		Measured:  "one rule of r fits tables from 190 to 32,561 rows within about a point",
		Changes:   "several rows per unit: r counts units",
	},
	{
		Name:      ruleAfterTraining,
		When:      "always",
		Advice:    "score once, on held-out rows; audit what is released (pawl audit), and print the majority class's score next to the model's",
		Published: "Bao, Bauer and Bindschaedler report accuracy on test rows without paying for it",
		Measured:  "a score on held-out rows adds no cost to training: its scope is disjoint",
		Changes:   "a public test file: its score is exact",
	},
}
