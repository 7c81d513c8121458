package arms

import (
	"strings"
	"testing"

	"pawl/experiments"
)

const small = `
name: table-0
title: a title
source: a source
unit: "%"
quick_seconds: 1
data:
  mnist:
    scales:
      smoke: {rows: 1, test: 1, batch: 1, epochs: 1, runs: 1}
      quick: {rows: 1, test: 1, batch: 1, epochs: 1, runs: 1}
      paper: {rows: 1, test: 1, batch: 1, epochs: 1, runs: 1}
nets:
  a: {name: A, net: lenet-5}
  b: {name: B, net: mnist-paw-cnn}
settings:
- id: dp
  name: with noise
  data: mnist
  epsilon: "1"
  arms:
  - {net: a, published: 90, against: b}
  - {net: b, published: 95, against: a}
- id: sgd
  name: SGD
  data: mnist
  arms: [{net: a}, {net: b}]
claims:
- {claim: "{setting}: B is better", each: [dp, sgd], better: b, than: a}
- {claim: "A loses little to privacy", better: dp/a, than: sgd/a, within: 2}
`

// A file that contradicts itself is refused with what is wrong, before anything is trained.
func TestDecodeRefuses(t *testing.T) {
	if _, err := Decode("x.yaml", []byte(small)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to, want string }{
		{"unknown key", "unit:", "units:", "units"},
		{"no title", "title: a title", "title: ''", "want a name, title"},
		{"unknown net", "lenet-5", "lenet-6", `no net "lenet-6"`},
		{"missing scale", "      paper: {rows: 1", "      papers: {rows: 1", "scale paper"},
		{"unknown data", "data: mnist\n  epsilon", "data: mmist\n  epsilon", `no data "mmist"`},
		{"unknown arm", "{net: a, published: 90, against: b}", "{net: c, published: 90}", `no net "c"`},
		{"one arm twice", "arms: [{net: a}, {net: b}]", "arms: [{net: a}, {net: a}]", "two arms are called sgd/a"},
		{"unknown neighbour", "against: b", "against: c", `no net "c" to set beside it`},
		{"unknown arm of a claim", "than: sgd/a", "than: sgd/c", `no arm "sgd/c"`},
		{"honest without noise", `"A loses little to privacy", better: dp/a, than: sgd/a, within: 2`, "as the library trains them, better: dp/a, than: sgd/a, honest: true", "sgd/a has no noise"},
		{"honest claim as the paper's", "within: 2", "honest: true", "as it is not the paper's"},
	} {
		changed := strings.Replace(small, c.from, c.to, 1)
		if _, err := Decode("x.yaml", []byte(changed)); changed == small || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// A claim for each of several settings names them, and compares its own arms, in its own column.
func TestClaims(t *testing.T) {
	f := &file{
		Settings: []setting{{ID: "dp", Name: "with noise"}, {ID: "sgd", Name: "SGD"}},
		Claims: []claim{
			{Claim: "{setting}: B is better", Each: []string{"dp", "sgd"}, Better: "b", Than: "a"},
			{Claim: "honest", Better: "dp/b", Than: "dp/a", Honest: true},
			{Claim: "within", Better: "dp/a", Than: "dp/b", Within: experiments.Value(9)},
		},
	}
	values := map[string]measured{
		"dp/a": {published: []float64{80, 81, 82}, honest: []float64{90, 91, 92}}, "dp/b": {published: []float64{88, 89, 90}, honest: []float64{80, 81, 82}},
		"sgd/a": {published: []float64{99, 98, 99}}, "sgd/b": {published: []float64{98, 97, 98}},
	}
	var got []string
	for _, c := range f.claims() {
		v := c.judge(values)
		got = append(got, v.Statement+" | "+string(v.Verdict))
	}
	want := "with noise: B is better | reproduced; SGD: B is better | not; honest | not; within | reproduced"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}
