package scatter_test

import (
	"fmt"
	"math"

	"pawl/compute/scatter"
)

func Example() {
	t, err := scatter.New(28, 28, 1, scatter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	images := make([]float32, 2*t.Inputs()) // two: a black one, and one with a white square
	for i := 10; i < 18; i++ {
		for j := 10; j < 18; j++ {
			images[t.Inputs()+i*28+j] = 1
		}
	}
	features := make([]float32, 2*t.Dim())
	t.Apply(features, images, 2)
	t.Normalize(features)

	square := 0.0
	for _, v := range features[t.Dim():] {
		square += float64(v) * float64(v)
	}
	fmt.Println(t.Dim(), "features of", t.Inputs(), "pixels")
	fmt.Println("black:", features[0], features[t.Dim()-1])
	fmt.Printf("square: norm %.2f\n", math.Sqrt(square))

	_, err = scatter.New(27, 28, 1, scatter.Options{})
	fmt.Println(err)
	// Output:
	// 3969 features of 784 pixels
	// black: 0 0
	// square: norm 0.80
	// scatter: images of 27×28 pixels: sides must be multiples of 4 from 8 to 64
}
