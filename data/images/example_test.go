package images_test

import (
	"bytes"
	"fmt"

	"pawl/data/images"
)

func ExampleIDX() {
	// Two images of 1×2 pixels, and their labels.
	pixels := []byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 51, 255, 102}
	labels := []byte{0, 0, 8, 1, 0, 0, 0, 2, 1, 0}
	set, err := images.IDX(images.Source{Name: "images.idx", Reader: bytes.NewReader(pixels)},
		images.Source{Name: "labels.idx", Reader: bytes.NewReader(labels)}, []string{"off", "on"})
	if err != nil {
		panic(err)
	}
	row := make([]float32, set.Size())
	set.At(1, row)
	fmt.Println(set, set.Len(), set.Classes[set.Labels[1]], row)
	// Output: images of 1x2x1 in 2 classes 2 off [1 0.4]
}
