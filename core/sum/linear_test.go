package sum

import (
	"strings"
	"testing"
)

// A loss that nothing bounds opens no row.
func TestLinearOfAnUnknownLoss(t *testing.T) {
	for _, l := range []Linear{{Loss: "squared", Outputs: 1}, {Loss: Logistic, Outputs: 2}, {Loss: Softmax, Outputs: 1}} {
		if _, err := l.Open(nil, nil); err == nil || !strings.Contains(err.Error(), string(l.Loss)) {
			t.Errorf("%s of %d scores: %v", l.Loss, l.Outputs, err)
		}
	}
}
