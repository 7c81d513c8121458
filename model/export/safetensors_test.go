package export

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/compute/nn"
	"pawl/model"
)

// readSafetensors reads a file by the rules that readers check: the header is JSON of at
// most its stated length, tensors cover the rest without holes, each as long as its
// shape says, and metadata are texts.
func readSafetensors(t *testing.T, b []byte) (map[string]array, map[string]string) {
	t.Helper()
	n := binary.LittleEndian.Uint64(b)
	header, data := b[8:8+n], b[8+n:]
	if n%8 != 0 || header[0] != '{' {
		t.Fatalf("a header of %d bytes starts with %q", n, header[0])
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(header, &all); err != nil {
		t.Fatal(err)
	}
	metadata, tensors := map[string]string{}, map[string]array{}
	if err := json.Unmarshal(all["__metadata__"], &metadata); err != nil {
		t.Fatal(err)
	}
	delete(all, "__metadata__")
	var ranges [][2]int
	for name, raw := range all {
		var info struct {
			Type    string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw, &info); err != nil {
			t.Fatal(err)
		}
		width := map[string]int{"F32": 4, "F64": 8}[info.Type]
		a := array{dims: info.Shape}
		for at := info.Offsets[0]; at < info.Offsets[1]; at += width {
			if width == 4 {
				a.v = append(a.v, float64(math.Float32frombits(binary.LittleEndian.Uint32(data[at:]))))
			} else {
				a.v = append(a.v, math.Float64frombits(binary.LittleEndian.Uint64(data[at:])))
			}
		}
		if len(a.v) != size(info.Shape) {
			t.Fatalf("%s: %d numbers of shape %v", name, len(a.v), info.Shape)
		}
		ranges, tensors[name] = append(ranges, info.Offsets), a
	}
	slices.SortFunc(ranges, func(a, b [2]int) int { return a[0] - b[0] })
	end := 0
	for _, r := range ranges {
		if r[0] != end {
			t.Fatalf("a hole before %d", r[0])
		}
		end = r[1]
	}
	if end != len(data) {
		t.Fatalf("%d bytes behind the tensors", len(data)-end)
	}
	return tensors, metadata
}

func sorted(values []float64) []float64 {
	out := slices.Clone(values)
	slices.Sort(out)
	return out
}

// Every number of the model is there, once, whatever the layout. Standardized weights
// stand as they are used, and the one bias of an lstm has a second one of zeros.
func TestSafetensorsHoldAllNumbers(t *testing.T) {
	all := map[string]*model.Model{}
	for name, n := range nets() {
		if !slices.ContainsFunc(n.layers, func(l nn.Layer) bool { return l.StandardizeWeights }) {
			all["net "+name] = netModel(t, nn.Spec{Layers: n.layers, Loss: n.loss}, n.input, n.outputs)
		}
	}
	for name, m := range tableModels(t) {
		all[name] = m
	}
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			b, err := Safetensors(m, Facts{})
			if err != nil {
				t.Fatal(err)
			}
			tensors, metadata := readSafetensors(t, b)
			var got []float64
			for name, a := range tensors {
				if m.Kind == model.Network && strings.HasSuffix(name, ".bias_hh_l0") && slices.Max(a.v) == 0 && slices.Min(a.v) == 0 {
					continue
				}
				got = append(got, a.v...)
			}
			want := slices.Concat(m.Weights, m.Intercept, m.Counts)
			if m.Kind == model.Constant {
				want = []float64{m.Value}
			}
			if m.Kind == model.Network {
				for _, v := range slices.Concat(m.Parameters32, m.Net.Frozen()) {
					want = append(want, float64(v))
				}
			}
			if !slices.Equal(sorted(got), sorted(want)) {
				t.Errorf("%d numbers, the model has %d or others", len(got), len(want))
			}
			if metadata["target"] != m.Target || metadata["task"] != string(m.Task) || metadata["schema_sha256"] == "" {
				t.Errorf("metadata are %q", metadata)
			}
		})
	}
}

// The layout is that of PyTorch's modules: their equations on the tensors give the
// scores of the net.
func TestSafetensorsHavePyTorchsLayout(t *testing.T) {
	const length, e, h = 5, 3, 4
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	for _, kind := range []string{"lstm", "gru"} {
		t.Run(kind, func(t *testing.T) {
			m := netModel(t, nn.Spec{Layers: []nn.Layer{{Kind: "embedding", Vocabulary: 7, Units: e}, {Kind: kind, Units: h}, {Kind: "dense", Units: 3}}}, nn.Tokens(length), 3)
			b, err := Safetensors(m, Facts{})
			if err != nil {
				t.Fatal(err)
			}
			tensors, _ := readSafetensors(t, b)
			affine := func(layer, w, bias string, x []float64) []float64 {
				a, c := tensors["layers."+layer+"."+w], tensors["layers."+layer+"."+bias]
				y := slices.Clone(c.v)
				for i := range y {
					for j, v := range x {
						y[i] += a.v[i*len(x)+j] * v
					}
				}
				return y
			}
			state, cell, input := make([]float64, h), make([]float64, h), []float32{3, 6, 1, 4, 0, 0}
			for _, token := range input[1 : 1+int(input[0])] {
				p := affine("2", "weight_ih_l0", "bias_ih_l0", tensors["layers.1.weight"].v[int(token)*e:][:e])
				q := affine("2", "weight_hh_l0", "bias_hh_l0", state)
				for j := range h {
					if kind == "lstm" {
						i, f, g, o := sigmoid(p[j]+q[j]), sigmoid(p[h+j]+q[h+j]), math.Tanh(p[2*h+j]+q[2*h+j]), sigmoid(p[3*h+j]+q[3*h+j])
						cell[j] = f*cell[j] + i*g
						state[j] = o * math.Tanh(cell[j])
						continue
					}
					r, z := sigmoid(p[j]+q[j]), sigmoid(p[h+j]+q[h+j])
					state[j] = (1-z)*math.Tanh(p[2*h+j]+r*q[2*h+j]) + z*state[j]
				}
			}
			got := affine("3", "weight", "bias", state)
			for k, want := range m.Net.Predict(0, m.Parameters32, input) {
				if math.Abs(got[k]-float64(want)) > 1e-5 {
					t.Errorf("score %d is %g, want %g", k, got[k], want)
				}
			}
		})
	}
}

// Two terms of one name would make a file that readers refuse.
func TestTermsOfOneNameAreKeptApart(t *testing.T) {
	m := *tableModels(t)["ebm pairs sick"]
	terms, err := model.NewTerms(m.Schema, m.Target, m.Encoding, [][2]string{{"age", "label"}, {"age", "label"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var tables, counts [][]float64
	for _, term := range terms.List() {
		tables, counts = append(tables, make([]float64, term.Levels)), append(counts, make([]float64, term.Levels))
	}
	m.SetTables(terms, 1, tables, counts)
	b, err := Safetensors(&m, Facts{})
	if err != nil {
		t.Fatal(err)
	}
	if tensors, _ := readSafetensors(t, b); len(tensors) != 1+2*len(terms.List()) {
		t.Errorf("%d tensors for %d terms", len(tensors), len(terms.List()))
	}
}
