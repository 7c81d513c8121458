package workflow

import "cmp"

// Sound refuses what is wrong whatever the ledger says of the data set, so that a mistake is
// found before the ledger is asked. What is sound may still be refused when it is planned.
func (in Input) Sound() error {
	p, err := in.supposed().check()
	if err != nil {
		return err
	}
	_, err = p.classWeights()
	return err
}

// supposed is the input as the most generous ledger, and rows that are counted later, would complete it.
func (in Input) supposed() Input {
	in.Public, in.AllowLargeDelta = true, true
	if in.Delta == "" && in.Rows < 1 {
		in.Delta = "1e-6"
	}
	in.Rows = cmp.Or(in.Rows, 1_000_000)
	return in
}

// Sound is that of Input, for the training of a network.
func (in TrainInput) Sound() error {
	in.Input = in.supposed()
	_, err := newTraining(in)
	return err
}

// Sound is that of Input, for a selection.
func (in SelectInput) Sound() error {
	given := in.Delta
	if in.Input = in.supposed(); in.AsPublished {
		in.Delta = given // the procedure has its own
	}
	for _, check := range []func() error{in.checkMethod, in.checkUnsearched, in.checkMode} {
		if err := check(); err != nil {
			return err
		}
	}
	_, err := in.checkInput()
	return err
}
