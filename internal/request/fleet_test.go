package request

import (
	"errors"
	"strings"
	"testing"

	"pawl/internal/build"
	"pawl/search/fleet"
)

// A worker compares version and processor before it opens anything, and says both sides.
func TestPrepareRefusesOtherMachines(t *testing.T) {
	software, err := build.Software()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		order       fleet.Order
		words, hint string
	}{
		{fleet.Order{Name: "s", Software: "other", Kernel: machine()}, "runs with pawl other, and this worker has " + software, "same version"},
		{fleet.Order{Name: "s", Software: software, Kernel: "quantum"}, "runs with kernel quantum, and this worker has " + machine(), "vector instructions"},
		{fleet.Order{Name: "s", Software: software, Kernel: machine(), Job: []byte(`{"data":"adult","epsilon":8}`)}, `unknown field "epsilon"`, ""},
	} {
		_, err := (&Desk{}).Prepare(t.Context(), nil, c.order, Elsewhere{})
		var mismatch *fleet.MismatchError
		if err == nil || !strings.Contains(err.Error(), c.words) || c.hint != "" && (!errors.As(err, &mismatch) || !strings.Contains(mismatch.Hint(), c.hint)) {
			t.Errorf("%+v: %v", c.order, err)
		}
	}
}
