package crossover

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"pawl/compute/zoo"
	"pawl/data/schema"
	"pawl/evidence/advise"
	mistake "pawl/internal/usage"
	"pawl/learn"
	"pawl/search/feature"
)

// Spec is a whole configuration, as its words say. Zero fields are left to the rules.
type Spec struct {
	// Text is the configuration as it was written.
	Text string
	// Network is a name of the zoo or a file; Model a learner of tables.
	Network, Model string
	// Features are columns, or nil. Count asks for that many, chosen from noisy tables that
	// take a share of ε, or Unpaid from exact ones; Level says of what.
	Features []string
	Count    int
	Level    feature.Level
	Unpaid   bool
	// Scatter asks for scattering features of images, Pixels for the images as they are.
	Scatter, Pixels bool
	// Encoding is "" or a name of Encodings.
	Encoding string
	// TrainLast layers are trained, the others stay random; 0 trains all.
	TrainLast int
	// AsDrawn keeps a network's own activations and dropout.
	AsDrawn bool
	// Standard chooses among candidates without thinking of the noise (workflow.STW).
	Standard                           bool
	Optimizer                          string
	LearningRate, ClippingNorm, Epochs float64
	Batch                              int

	// loaded is the network of a file, read once, and digest that of its text: another
	// network under the same name has other scores.
	loaded *zoo.Spec
	digest string
}

// Word is one word of the grammar.
type Word struct{ Form, What string }

// Words is the grammar: a configuration is words with + between them.
var Words = []Word{
	{"logistic", "logistic (softmax) regression; on images: on pixels, each image scaled to the same norm (as-drawn: not scaled)"},
	{"linear", "the linear model that pawl fit would use (on images: on scattering features)"},
	{"NETWORK", "a network from pawl models list (mnist-paw-cnn; on tables: fcn-64), or a file NET.yaml"},
	{"model:NAME", "tables: a learner: " + strings.Join(learn.Names(), ", ")},
	{"features:all", "all columns, or unchanged images"},
	{"features:a,b,c", "these columns or levels (column=level)"},
	{"features:K", "tables: the K columns with the most information about the target, from noisy tables that take a fifth of the budget (in ρ)"},
	{"columns:K", "the same for columns of the encoding, one per category"},
	{"unpaid", "features:K or columns:K from exact tables, without charge: as published, no guarantee"},
	{"features:scatter", "images: linear model on scattering features"},
	{"encoding:NAME", "tables: one-hot (default), integer (categories by number), numeric (without categories), linear or thermometer (for numbers)"},
	{"rwt, rwt=K", "random-weights training: train only the last 2 (or K) layers"},
	{"as-drawn", "the network's own activations and dropout instead of the private defaults"},
	{"stw", "tables: the standard workflow, with choices as if there were no noise"},
	{"OPTIMIZER", "networks: sgd, momentum (default), adam, adam-wosm or adadp"},
	{"lr=, clip=", "learning rate and clipping norm instead of the rule's"},
	{"batch=, epochs=", "networks: expected batch size and epochs instead of the rule's"},
}

// Encodings are the names that encoding: takes.
var Encodings = []string{"one-hot", "integer", "numeric", "linear", "thermometer"}

var optimizers = []string{"sgd", "momentum", "adam", "adam-wosm", "adadp"}

func usage(hint, format string, args ...any) error {
	return mistake.Newf(hint, format, args...)
}

// ParseSpec reads a configuration. Errors are *workflow.UsageError and name the word at
// fault. Whether it fits some data is not used: see Data.Check.
func ParseSpec(text string) (Spec, error) {
	s := Spec{Text: strings.TrimSpace(text)}
	if s.Text == "" {
		return s, usage("example: --a logistic --b mnist-paw-cnn", "an empty configuration")
	}
	for _, word := range strings.Split(s.Text, "+") {
		if err := s.word(strings.TrimSpace(word)); err != nil {
			return s, err
		}
	}
	switch {
	case s.Network != "" && s.Model != "":
		return s, usage("leave out one of them", "%s: a network and model:%s exclude each other", s.Text, s.Model)
	case s.Unpaid && s.Count == 0:
		return s, usage("example: features:6+unpaid", "%s: unpaid goes with features:K or columns:K", s.Text)
	case s.Standard && (s.Network != "" || s.Model != "" && s.Model != "linear"):
		return s, usage("leave out one of them", "%s: stw chooses the model itself", s.Text)
	}
	return s, nil
}

func (s *Spec) word(word string) error {
	if key, value, ok := strings.Cut(word, "="); ok && !strings.Contains(key, ":") {
		return s.number(word, key, value)
	}
	if kind, value, ok := strings.Cut(word, ":"); ok {
		return s.named(word, kind, value)
	}
	switch {
	case word == "rwt" || word == "random-weights":
		s.TrainLast = 2
	case word == "unpaid":
		s.Unpaid = true
	case word == "as-drawn":
		s.AsDrawn = true
	case word == "stw":
		s.Standard = true
	case slices.Contains(optimizers, word):
		return s.set(&s.Optimizer, word, word)
	case slices.Contains(advise.Learners, advise.Learner(word)):
		return s.set(&s.Model, word, word)
	case isFile(word):
		return s.set(&s.Network, word, word)
	default:
		if _, ok := zoo.Lookup(word); !ok {
			return s.unknown(word)
		}
		return s.set(&s.Network, word, word)
	}
	return nil
}

// set refuses a second word of the same kind.
func (s *Spec) set(field *string, value, word string) error {
	if *field != "" {
		return usage("leave out one of them", "%s: %q after %q", s.Text, word, *field)
	}
	*field = value
	return nil
}

func (s *Spec) unknown(word string) error {
	names := []string{"rwt", "random-weights", "unpaid", "as-drawn", "stw", "features:", "columns:", "encoding:", "model:", "optimizer:"}
	names = append(names, optimizers...)
	names = append(names, mistake.Words(advise.Learners)...)
	for _, n := range zoo.List() {
		names = append(names, n.Name)
	}
	return usage(schema.Meant(word, names, "pawl crossover --help lists the terms"), "%s: unknown term %q in a configuration", s.Text, word)
}

func (s *Spec) named(word, kind, value string) error {
	switch kind {
	case "model":
		if slices.Contains(advise.Learners, advise.Learner(value)) {
			return s.set(&s.Model, value, word)
		}
		if _, ok := zoo.Lookup(value); !ok {
			return s.unknown(value)
		}
		return s.set(&s.Network, value, word)
	case "optimizer":
		if !slices.Contains(optimizers, value) {
			return usage("optimizers: "+strings.Join(optimizers, ", "), "%s: unknown optimizer %q", s.Text, value)
		}
		return s.set(&s.Optimizer, value, word)
	case "encoding":
		if !slices.Contains(Encodings, value) {
			return usage("encodings: "+strings.Join(Encodings, ", "), "%s: unknown encoding %q", s.Text, value)
		}
		return s.set(&s.Encoding, value, word)
	case "columns":
		s.Level = feature.ColumnLevel
		return s.count(word, value)
	case "features":
		return s.features(word, value)
	}
	return s.unknown(word)
}

func (s *Spec) features(word, value string) error {
	switch _, err := strconv.Atoi(value); {
	case s.Features != nil || s.Count > 0 || s.Scatter || s.Pixels:
		return usage("leave out one of them", "%s: features are named twice", s.Text)
	case value == "all" || value == "pixels":
		s.Pixels = true
	case value == "scatter":
		s.Scatter = true
	case err == nil:
		s.Level = feature.AttributeLevel
		return s.count(word, value)
	case value == "":
		return usage("example: features:age,hours-per-week", "%s: features: names nothing", s.Text)
	default:
		for _, name := range strings.Split(value, ",") {
			s.Features = append(s.Features, strings.TrimSpace(name))
		}
	}
	return nil
}

func (s *Spec) count(word, value string) error {
	k, err := strconv.Atoi(value)
	if err != nil || k < 1 {
		return usage("example: features:6", "%s: %q wants a number of features from 1", s.Text, word)
	}
	s.Count = k
	return nil
}

func (s *Spec) number(word, key, value string) error {
	if key == "rwt" || key == "batch" {
		k, err := strconv.Atoi(value)
		if err != nil || k < 1 {
			return usage("example: "+key+"=2", "%s: %q wants a whole number from 1", s.Text, word)
		}
		if key == "rwt" {
			s.TrainLast = k
		} else {
			s.Batch = k
		}
		return nil
	}
	field := map[string]*float64{
		"lr": &s.LearningRate, "learning-rate": &s.LearningRate, "clip": &s.ClippingNorm, "clipping-norm": &s.ClippingNorm, "epochs": &s.Epochs,
	}[key]
	if field == nil {
		return usage("options: lr=, clip=, batch=, epochs=, rwt=", "%s: unknown option %q", s.Text, key)
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return usage("example: "+key+"=0.5", "%s: %q wants a finite number above 0", s.Text, word)
	}
	if v < 1e-6 || v > 1e6 {
		return usage("example: "+key+"=0.5", "%s: %q is out of the range from 1e-6 to 1e6", s.Text, word)
	}
	*field = v
	return nil
}

// isFile says that a network stands in a file.
func isFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// load reads the network of a file, if s has one that was not read.
func (s *Spec) load() error {
	if s.loaded != nil || !isFile(s.Network) {
		return nil
	}
	content, err := os.ReadFile(s.Network)
	if err != nil {
		return usage("name a YAML file of a network, or one of pawl models list", "%s: %v", s.Text, err)
	}
	spec, err := zoo.Load(s.Network)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	s.loaded, s.digest = &spec, fmt.Sprintf("%x", sum[:6])
	return nil
}

// key is the configuration with what stands in its file.
func (s Spec) key() string {
	if s.loaded == nil {
		return s.Text
	}
	return fmt.Sprintf("%s (%s)", s.Text, s.digest)
}
