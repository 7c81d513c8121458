package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/data/encode"
	"pawl/evidence/advise"
	"pawl/model"
)

// encodeTable makes the rows of a table the inputs of the network: what it is given
// follows from the schema.
func (n *training) encodeTable() error {
	if n.Encoding == nil {
		return nil
	}
	p := &problem{Input: n.Input}
	p.Preset, p.Workflow = cmp.Or(p.Preset, advise.Balanced), cmp.Or(p.Workflow, PAW)
	if err := p.checkTarget(); err != nil {
		return err
	}
	if err := p.checkChoices(); err != nil {
		return err
	}
	if err := unheld(p.Schema, p.Target, "a network"); err != nil {
		return err
	}
	if err := checkLoss(p.task, n.Layers.Loss.Kind); err != nil {
		return err
	}
	o := *n.Encoding
	o.Attributes = n.Features
	var err error
	if n.encoding, err = encode.New(n.Schema, n.Target, o); err != nil {
		return usage("see the schema's columns", "%v", err)
	}
	if n.encoding.Inputs() == 0 {
		return usage("declare columns besides the target", "the schema has no column other than the target, and a network needs inputs")
	}
	n.Shape = nn.Shape{Height: 1, Width: 1, Channels: n.encoding.Inputs()}
	return nil
}

// checkLoss refuses a loss that is not of the target's kind.
func checkLoss(task model.Task, loss nn.LossKind) error {
	classes := loss == "" || loss == nn.Softmax || loss == nn.Logistic
	switch {
	case loss != "" && !slices.Contains(nn.LossKinds(), loss):
		return usage("losses: softmax, logistic, squared, absolute, huber", "no loss is called %q", loss)
	case task == model.Regression && classes:
		return usage("take a network with loss: squared, absolute or huber and one output, such as medical-2x10",
			"the target is a number, and the network's loss is for classes")
	case task == model.Classification && !classes:
		return usage("take a network with loss: softmax", "the target has classes, and the network's loss (%s) is for numbers", loss)
	}
	return nil
}

// checkTable refuses layers that wait for a release about dense inputs.
func (n *training) checkTable() error {
	if n.encoding == nil {
		return nil
	}
	if _, ok := n.whole.Released(); ok || n.whole.Centred() > 0 {
		return usage("take a network without a centre or dp_pca layer", "%s needs a release about dense inputs, and these are rows of a table", n.Name)
	}
	if _, k := n.whole.Components(); k > 0 {
		return usage("take a network without a pca layer", "principal components are offered for images, and these are rows of a table")
	}
	return nil
}

// encode is the map of rows to inputs for core, nil where rows bring their own.
func (n *training) encode() func(input []float32, cells []float64) {
	if n.encoding == nil {
		return nil
	}
	pool := sync.Pool{New: func() any { x := make([]float64, n.encoding.Dim); return &x }}
	return func(input []float32, cells []float64) {
		x := pool.Get().(*[]float64)
		n.encoding.Input(input, cells, *x)
		pool.Put(x)
	}
}

// truth maps a row to what the network's loss is of: a class, or a number on the scale
// of the model.
func (n *training) truth() func(cells []float64) float64 {
	column, scale := n.problem.targetColumn, n.problem.scale
	if n.problem.task == model.Regression {
		return func(cells []float64) float64 { return scale.Scale(cells[column]) }
	}
	return func(cells []float64) float64 { return cells[column] }
}

// inputWords says what the network is given.
func (n *training) inputWords() (features []string, encoding string) {
	if n.encoding == nil {
		return []string{"input " + n.whole.Input().String()}, ""
	}
	o := n.encoding.Options
	words := fmt.Sprintf("thermometer of %d bins, categories one-hot", o.Bins)
	if o.Linear {
		words = "numeric columns affine, categories one-hot"
	}
	return n.encoding.Features(), fmt.Sprintf("%s, %d inputs; ", words, n.encoding.Inputs())
}

// Table sets the network of a file for rows of in's schema, which Encoding encodes.
func (in *TrainInput) Table(spec zoo.Spec) error {
	n := &training{TrainInput: *in}
	n.Layers = spec.Network
	if err := n.encodeTable(); err != nil {
		return err
	}
	outputs := 1
	if l := spec.Network.Loss.Kind; l == "" || l == nn.Softmax {
		outputs = len(in.Schema.Columns[in.Schema.Column(in.Target)].Levels())
	}
	spec, err := spec.For(n.Shape, outputs)
	if err != nil {
		return usage("pawl models list shows the shapes", "%v", err)
	}
	return in.Network(spec)
}

// Network fills in the network of a specification whose shapes are known, and the clipping norm that it
// recommends if none was chosen.
func (in *TrainInput) Network(spec zoo.Spec) (err error) {
	if in.Radius, err = spec.Radius(); err != nil {
		return err
	}
	in.Name, in.Layers, in.Shape, in.Outputs, in.Kappa = spec.Name, spec.Network, spec.Input, spec.Outputs, spec.Defaults.Kappa
	if in.ClippingNorm == 0 {
		in.ClippingNorm = spec.Defaults.ClippingNorm
	}
	return nil
}
