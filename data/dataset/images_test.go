package dataset

import (
	"crypto/md5"
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/data/images"
)

// imageDir finds the folder with a data set's files.
func imageDir(t *testing.T, s *ImageSet) string {
	t.Helper()
	for _, dir := range []string{os.Getenv(DataDirVariable), "../../../shared/data"} {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, s.Files[0].Path)); err == nil {
			return dir
		}
	}
	t.Skipf("no folder with %s: set %s", s.Files[0].Path, DataDirVariable)
	return ""
}

func labelCounts(s *images.Set) []int {
	out := make([]int, len(s.Classes))
	for _, l := range s.Labels {
		out[l]++
	}
	return out
}

// alone hides the folders of whoever runs the tests.
func alone(t *testing.T) (data, cache string) {
	t.Helper()
	data, cache = t.TempDir(), t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv(DataDirVariable, "")
	return filepath.Join(data, "pawl", "data"), filepath.Join(cache, "pawl", "data")
}

// Published numbers of labels, and of CIFAR-10 those of the subset.
func TestPublishedLabels(t *testing.T) {
	equal := func(n int) []int { return []int{n, n, n, n, n, n, n, n, n, n} }
	for _, tt := range []struct {
		name        string
		train, test []int
	}{
		{"mnist", []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}, []int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}},
		{"fashion-mnist", equal(6000), equal(1000)},
		{"cifar10", []int{1006, 975, 1032, 1017, 1000, 937, 1034, 1001, 1017, 981}, []int{196, 199, 195, 199, 199, 186, 216, 193, 214, 203}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, ok := Images(tt.name)
			if !ok {
				t.Fatal("not found")
			}
			dir := imageDir(t, s)
			train, err := s.Train(dir)
			if err != nil {
				t.Fatal(err)
			}
			test, err := s.Test(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, split := range []struct {
				name string
				set  *images.Set
				want []int
				rows int
			}{{"train", train, tt.train, s.Rows}, {"test", test, tt.test, s.TestRows}} {
				if d := cmp.Diff(split.want, labelCounts(split.set)); d != "" {
					t.Errorf("%s: labels differ (-want +got):\n%s", split.name, d)
				}
				if split.set.Len() != split.rows || split.set.Shape != s.Shape || !cmp.Equal(split.set.Classes, s.Classes) {
					t.Errorf("%s: %d images, %v", split.name, split.set.Len(), split.set)
				}
			}
		})
	}
}

// The md5 sums that the authors publish are those of the files as they serve them.
func TestPublishedMD5(t *testing.T) {
	for name, sums := range map[string][]string{
		"mnist": {"f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432", "9fb629c4189551a2d022fa330f9573f3",
			"ec29112dd5afa0611ce80d1b7f02629c"},
		"fashion-mnist": {"8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe", "bef4ecab320f06d8554ea6380940ec79",
			"bb300cfdad3c16e7a12a480ee83cd310"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := Images(name)
			dir := imageDir(t, s)
			for i, f := range s.Files {
				raw, err := os.ReadFile(filepath.Join(dir, f.Path))
				if err != nil {
					t.Fatal(err)
				}
				if sum := md5.Sum(raw); hex.EncodeToString(sum[:]) != sums[i] {
					t.Errorf("%s: another md5", f.Path)
				}
			}
		})
	}
}

// Published mean of the training pixels: 0.4914 0.4822 0.4465 over all 50,000. It
// convicts channels in another order, or planes read as pixels.
func TestCIFARChannels(t *testing.T) {
	s, _ := Images("cifar10")
	set, err := s.Train(imageDir(t, s))
	if err != nil {
		t.Fatal(err)
	}
	var mean [3]float64
	pixels := make([]float32, set.Size())
	for i := range set.Len() {
		set.At(i, pixels)
		for k, v := range pixels {
			mean[k%3] += float64(v)
		}
	}
	for c, want := range []float64{0.4914, 0.4822, 0.4465} {
		got := mean[c] / float64(set.Len()*set.Size()/3)
		// A mean of one image has a standard deviation of about 0.13 (light and dark
		// photographs), so that of 10,000 has 0.0013; 0.006 is 4.6 of them.
		if got < want-0.006 || got > want+0.006 {
			t.Errorf("channel %d: mean %.4f, want about %.4f", c, got, want)
		}
	}
}

func TestPositions(t *testing.T) {
	s, _ := Images("cifar10")
	dir := imageDir(t, s)
	train, err := s.TrainPositions(dir)
	if err != nil {
		t.Fatal(err)
	}
	test, err := s.TestPositions(dir)
	if err != nil {
		t.Fatal(err)
	}
	if train[0] != 0 || train[len(train)-1] != 10009 || test[len(test)-1] != 2002 || len(train) != s.Rows || len(test) != s.TestRows {
		t.Errorf("train ends at %d, test at %d", train[len(train)-1], test[len(test)-1])
	}
	// Labels of the whole official split, beside the subset.
	labels, err := os.ReadFile(filepath.Join(dir, "cifar10", "labels_train_50000.u8"))
	if err != nil {
		t.Skip("no labels of the whole split")
	}
	set, err := s.Train(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range train {
		if int32(labels[at]) != set.Labels[i] {
			t.Fatalf("image %d is not the official image %d", i, at)
		}
	}
}

func TestWholeSetsHaveNoPositions(t *testing.T) {
	s, _ := Images("mnist")
	if at, err := s.TrainPositions(t.TempDir()); at != nil || err != nil {
		t.Errorf("got %v, %v", at, err)
	}
}

func TestParsePositions(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		good       bool
	}{
		{"rising", "0\n2\n10\n", true}, {"no last line end", "0\n2", true},
		{"empty", "", false}, {"equal", "1\n1\n", false}, {"falling", "2\n1\n", false}, {"negative", "-1\n", false}, {"text", "0\nx\n", false}, {"blank", "0\n\n1\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parsePositions([]byte(tt.text)); (err == nil) != tt.good {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestImageRegistry(t *testing.T) {
	for _, info := range ListImages() {
		t.Run(info.Name, func(t *testing.T) {
			s, ok := Images(info.Name)
			if !ok {
				t.Fatal("not found under its own name")
			}
			if _, ok := Lookup(info.Name); ok {
				t.Error("a table has the same name")
			}
			if !s.Public || s.Embedded || s.Task != Classification || s.Target == "" || len(s.Classes) != 10 || s.Rows == 0 || s.TestRows == 0 {
				t.Errorf("incomplete: %+v", s.Info)
			}
			if info.Licence == "" || info.Source == "" || info.Citation == "" || len(info.KnownProblems) == 0 {
				t.Error("licence, source, citation or known problems are not stated")
			}
			for _, f := range info.Files {
				// The labels of features are those of the images.
				folder := path.Dir(f.Path)
				if len(f.SHA256) != 64 || folder != info.Name && !(folder == "cifar10" && strings.HasPrefix(info.Name, folder)) {
					t.Errorf("file %s with SHA-256 %q", f.Path, f.SHA256)
				}
			}
			if (len(s.origin.bases) > 0) != info.fetched {
				t.Error("pawl data get is recommended, and the publisher's address is not known, or the other way round")
			}
		})
	}
	for _, alias := range []string{"CIFAR-10", "fmnist", "MNIST"} {
		if _, ok := Images(alias); !ok {
			t.Errorf("%s not found", alias)
		}
	}
	if _, ok := Images("adult"); ok {
		t.Error("a table was found")
	}
}
