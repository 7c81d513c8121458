package images

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAt(t *testing.T) {
	bytes := &Set{Shape: [3]int{1, 2, 1}, Bytes: []uint8{0, 255, 51, 102}}
	floats := &Set{Shape: [3]int{1, 1, 2}, Floats: []float32{-3, 0.5, 7, 9}}
	for _, tt := range []struct {
		name string
		set  *Set
		i    int
		want []float32
	}{
		{"ends of the range are exact", bytes, 0, []float32{0, 1}},
		{"bytes", bytes, 1, []float32{0.2, 0.4}},
		{"floats", floats, 0, []float32{-3, 0.5}},
		{"later floats", floats, 1, []float32{7, 9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := make([]float32, 2)
			tt.set.At(tt.i, got)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("values differ (-want +got):\n%s", d)
			}
		})
	}
}

func TestAtPanics(t *testing.T) {
	set := &Set{Shape: [3]int{1, 2, 1}, Bytes: []uint8{0, 255}}
	for _, tt := range []struct{ name, index, values string }{{"short", "0", "1"}, {"long", "0", "3"}, {"past the end", "1", "2"}, {"negative", "-1", "2"}} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			var i, n int
			fmt.Sscan(tt.index+" "+tt.values, &i, &n)
			set.At(i, make([]float32, n))
		})
	}
}

func TestEmptySetHasNoImages(t *testing.T) {
	if n := (&Set{}).Len(); n != 0 {
		t.Errorf("length %d", n)
	}
}

// No verb, log or JSON prints pixels or labels.
func TestPrintsNoValues(t *testing.T) {
	set := Set{Shape: [3]int{1, 1, 2}, Floats: []float32{207, 207}, Labels: []int32{207}, Classes: []string{"a", "b"}}
	text, err := json.Marshal(map[string]any{"set": set, "pointer": &set})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{string(text), fmt.Sprint(set), fmt.Sprintf("%+v %#v %d %s", set, &set, set, &set)} {
		if strings.Contains(s, secret) || !strings.Contains(s, "1x1x2 in 2 classes") {
			t.Errorf("printed %q", s)
		}
	}
}
