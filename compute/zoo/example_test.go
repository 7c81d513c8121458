package zoo_test

import (
	"fmt"

	"pawl/compute/zoo"
)

func ExampleLookup() {
	spec, ok := zoo.Lookup("mnist-paw-cnn")
	if !ok {
		return
	}
	net, err := spec.Default().Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(spec.Title, "—", spec.Source)
	fmt.Println(net.Parameters(), "parameters,", spec.Defaults.Activation)
	// Output:
	// MNIST CNN of 2 blocks and 64 units, found privacy-aware — Bao, Bauer and Bindschaedler, Table XXVI
	// 56970 parameters, tanh
}
