package crossover

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/evidence/lab"
	mistake "pawl/internal/usage"
	"pawl/model"
	"pawl/search/feature"
	"pawl/workflow"
)

// Data is public data to compare on: a table or images.
type Data struct {
	// Name and Key say which rows; Key differs wherever the rows do.
	Name, Key string
	Table     *lab.Table
	Images    *lab.Images
	// Purse, where not nil, pays for every run on sensitive rows: Table then declares them
	// and holds none, and of Images only shape and classes are used.
	Purse *Purse
	// By is what runs are compared by, "" for accuracy or mean absolute error.
	By workflow.Metric
}

// heldOut is the share of rows that a split keeps from training where there is no test set.
const heldOut = 0.2

// Official says that the test rows are the publisher's and the same for every seed.
func (d *Data) Official() bool {
	if d.Images != nil {
		return d.Images.Test != nil
	}
	return d.Table.Test != nil
}

// Paid says that the rows are sensitive and every run is paid for.
func (d *Data) Paid() bool { return d.Purse != nil }

// given are the rows that are not an official test set's.
func (d *Data) given() int {
	if d.Images != nil {
		return d.Images.Train.Len()
	}
	return len(d.Table.Rows)
}

// Rows is the number of rows that train, Tests of those that score. Of sensitive rows it
// is the number that is public, or 0.
func (d *Data) Rows() int {
	switch {
	case d.Paid():
		return int(d.Purse.Input.Rows)
	case d.Official():
		return d.given()
	}
	return d.given() - d.Tests()
}

// Tests is the number of rows that a run is scored on, 0 where it is not public.
func (d *Data) Tests() int {
	switch {
	case d.Paid():
		return len(d.Purse.Env.Test)
	case !d.Official():
		return int(heldOut * float64(d.given()))
	case d.Images != nil:
		return d.Images.Test.Len()
	}
	return len(d.Table.Test)
}

// Numeric says that the target is a number.
func (d *Data) Numeric() bool {
	if d.Images != nil {
		return false
	}
	c := d.Table.Schema.Columns[d.Table.Schema.Column(d.Table.Target)]
	return c.Type == schema.Numeric || c.Type == schema.Integer
}

// Metric is what is measured; more of it is better.
func (d *Data) Metric() string {
	switch d.by() {
	case workflow.ByAccuracy:
		return "accuracy"
	case workflow.ByAbsoluteError:
		return "minus mean absolute error"
	case workflow.ByBalancedAccuracy:
		return "balanced accuracy"
	case workflow.BySquaredError:
		return "minus root mean square error"
	}
	return "minus " + string(d.By)
}

func (d *Data) task() model.Task {
	if d.Numeric() {
		return model.Regression
	}
	return model.Classification
}

// by is the metric, the task's own where none is given.
func (d *Data) by() workflow.Metric { return cmp.Or(d.By, workflow.Metrics(d.task())[0]) }

// table is what one seed trains and tests on: rows of them, chosen by the seed unless
// they are all.
func (d *Data) table(seed uint64, rows int) *lab.Table {
	t := d.Table
	if d.Paid() {
		return t
	}
	if !d.Official() {
		t = t.Split(d.Rows(), seed)
	}
	return fewer(t, rows, seed)
}

// fewer keeps so many training rows, drawn without replacement, and all test rows.
func fewer(t *lab.Table, rows int, seed uint64) *lab.Table {
	if rows >= len(t.Rows) {
		return t
	}
	s := *t
	s.Rows = t.Split(rows, seed).Rows
	return &s
}

// images is what one seed trains and tests on, as table.
func (d *Data) images(seed uint64, rows int) *lab.Images {
	if d.Paid() || d.Official() && rows >= d.Rows() {
		return d.Images
	}
	s := *d.Images
	if !d.Official() {
		order := rand.New(rand.NewPCG(seed, 2)).Perm(s.Train.Len())
		s.Train, s.Test = d.Images.Train.Some(order[:d.Rows()]), d.Images.Train.Some(order[d.Rows():])
	}
	if rows < d.Rows() {
		s.Train = s.Train.Some(rand.New(rand.NewPCG(seed, 0)).Perm(d.Rows())[:rows])
	}
	return &s
}

// validation makes a part of the training rows the test rows: tuning never sees the
// others.
func (d *Data) validation(seed uint64) *Data {
	v := *d
	rows := d.Rows()
	if d.Images != nil {
		order := rand.New(rand.NewPCG(seed, 1)).Perm(rows)
		cut := rows - rows/6
		set := *d.images(seed, rows)
		set.Train, set.Test = set.Train.Some(order[:cut]), set.Train.Some(order[cut:])
		v.Images = &set
		return &v
	}
	t := d.table(seed, rows)
	v.Table = t.Split(rows-rows/6, seed+1)
	return &v
}

// Check refuses a configuration that does not fit the data; delta may be empty where the
// number of rows is public. Errors are *workflow.UsageError or those of the network.
func (d *Data) Check(s Spec, delta string) error {
	if err := d.checkPaid(s); err != nil {
		return err
	}
	if d.Images == nil {
		return d.checkTable(s, delta)
	}
	const hint = "terms for images: a network, logistic, linear, features:scatter, rwt, as-drawn, an optimizer, lr=, clip=, batch=, epochs="
	if word := cmp.Or(mistake.Given(s.Standard, "stw"), mistake.Given(s.Encoding != "", "encoding:"), mistake.Given(s.Count > 0, "a number of features"),
		mistake.Given(s.Features != nil, "a list of columns"), mistake.Given(s.Model != "" && s.Model != string(advise.Descent), "model:"+s.Model)); word != "" {
		return usage(hint, "%s: %s is for tables, and %s holds images", s.Text, word, d.Name)
	}
	if s.Scatter && s.Network != "" {
		return usage("features:scatter, or "+s.Network, "%s: features:scatter go with the linear model, and %s takes pixels", s.Text, s.Network)
	}
	_, err := d.network(s, nil)
	return err
}

func (d *Data) checkTable(s Spec, delta string) error {
	const hint = "terms for tables: logistic, linear, model:NAME, features:, columns:, encoding:, stw, lr=, clip=, and fully connected networks such as fcn-64"
	if s.Scatter {
		return usage(hint, "%s: features:scatter is for images, and %s is a table", s.Text, d.Name)
	}
	f := newTableFit(d, s)
	f.delta = delta
	if s.Count > 0 {
		if n := f.columns(); s.Level == feature.AttributeLevel && s.Count > n {
			return usage(fmt.Sprintf("features:%d, or features:all", n), "%s: %s has %d columns beside the target", s.Text, d.Name, n)
		}
	}
	if s.Network == "logistic" && d.Numeric() {
		return usage("linear", "%s: logistic regression is for classes, and the target of %s is a number", s.Text, d.Name)
	}
	if s.ofTable() {
		return d.checkNetwork(s, f)
	}
	if word := cmp.Or(mistake.Given(s.TrainLast > 0, "rwt"), mistake.Given(s.AsDrawn, "as-drawn"), s.Optimizer, mistake.Given(s.Batch > 0, "batch="), mistake.Given(s.Epochs > 0, "epochs=")); word != "" {
		return usage(hint, "%s: %s is for networks", s.Text, word)
	}
	if s.Standard && (s.LearningRate > 0 || s.ClippingNorm > 0) {
		return usage("leave them out", "%s: stw chooses learning rate and clipping norm itself", s.Text)
	}
	if learner := s.learner(); (s.LearningRate > 0 || s.ClippingNorm > 0) && learner != "" && learner != advise.Descent {
		return usage("leave them out", "%s: lr= and clip= are those of the linear model", s.Text)
	}
	_, err := f.plan(d.Table, s.Features, "1", 1)
	return err
}

// checkNetwork refuses a network that does not take rows of the table.
func (d *Data) checkNetwork(s Spec, f *tableFit) error {
	if _, err := s.find(); err != nil {
		return err
	}
	if s.Count > 0 || s.Encoding == "numeric" {
		return usage("features:a,b,c", "%s: a network takes all columns, or a list of them", s.Text)
	}
	if _, err := f.network(d.Table, cell{epsilon: 1, seed: 1}); err != nil {
		hint := "fully connected networks of pawl models list, such as fcn-64"
		var mistake *workflow.UsageError
		if errors.As(err, &mistake) && mistake.Advice != "" {
			hint = mistake.Advice
		}
		return usage(hint, "%s does not fit %s, a table: %v", s.Text, d.Name, err)
	}
	return nil
}

// ofTable says that a network is to be trained on the rows of a table.
func (s Spec) ofTable() bool { return s.Network != "" && s.Network != "logistic" }

// learner is the model of tables that s names, or "" for the rule's.
func (s Spec) learner() advise.Learner {
	if s.Network == "logistic" {
		return advise.Descent
	}
	return advise.Learner(s.Model)
}

// network is the network that s means on images; at an epsilon, with the lots and passes
// of the rule.
func (d *Data) network(s Spec, epsilon *float64) (zoo.Spec, error) {
	shape := d.Images.Train.Shape
	name := s.Network
	if name == "logistic" && !s.AsDrawn {
		// Rows of one norm: better at every ε that was measured, and it looks at no row.
		name = "features-linear"
	}
	if name == "" {
		r, err := d.recipe(s, epsilon)
		if err != nil {
			return zoo.Spec{}, err
		}
		name = r.Model
	}
	s.Network = name
	spec, err := s.find()
	if err != nil {
		return spec, err
	}
	spec, err = spec.For(nn.Shape{Height: shape[0], Width: shape[1], Channels: shape[2]}, len(d.Images.Train.Classes))
	if err != nil {
		return spec, usage("pawl models list shows what networks take", "%s does not fit %s: %v", s.Text, d.Name, err)
	}
	return spec, nil
}

// find opens the network and changes what the words say.
func (s Spec) find() (spec zoo.Spec, err error) {
	if s.loaded != nil {
		spec = *s.loaded
	} else {
		var ok bool
		if spec, ok = zoo.Lookup(s.Network); !ok {
			return spec, usage("pawl models list", "%s: there is no network %q", s.Text, s.Network)
		}
	}
	if !s.AsDrawn {
		spec = spec.Default()
	}
	if s.TrainLast > 0 {
		if n := spec.LayersWithWeights(); s.TrainLast > n {
			return spec, usage(fmt.Sprintf("rwt=1 to rwt=%d", n), "%s: %s has %d layers with weights", s.Text, s.Network, n)
		}
		spec = spec.TrainLast(s.TrainLast)
	}
	return spec, nil
}

// recipe is the advice for images: a model where none is named, lots and passes.
func (d *Data) recipe(s Spec, epsilon *float64) (advise.ImageRecipe, error) {
	shape := d.Images.Train.Shape
	f := advise.ImageFacts{Height: shape[0], Width: shape[1], Channels: shape[2], Rows: float64(d.Rows()), Epsilon: 1}
	if epsilon != nil {
		f.Epsilon = *epsilon
	}
	if s.Scatter {
		f.Features = "scatter"
	} else if s.Pixels {
		f.Features = "all"
	}
	r, err := advise.ChooseImages(f)
	if err != nil {
		return r, usage("features:all", "%s: %v", s.Text, err)
	}
	return r, nil
}
