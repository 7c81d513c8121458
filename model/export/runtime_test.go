package export

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pawl/compute/nn"
	"pawl/model"
)

var (
	runtimeFolder = flag.String("onnxruntime", "", "folder with check.mjs and onnxruntime installed, to run the exported models in")
	runtimeRows   = flag.Int("rows", 1000, "rows of each model in onnxruntime")
)

// port of a case as check.mjs reads it.
type fed struct {
	Type    string     `json:"type"`
	Dims    []int      `json:"dims"`
	Texts   []string   `json:"texts,omitempty"`
	Numbers []*float64 `json:"numbers,omitempty"` // nil is NaN
}

func writeCase(t *testing.T, folder, name string, f *File, in map[string]array, want answers, rows int) {
	t.Helper()
	inputs := map[string]fed{}
	for _, p := range f.Inputs {
		a := in[p.Name]
		one := fed{Type: map[string]string{"float": "float32", "int64": "int64", "string": "string"}[p.Type], Dims: a.dims, Texts: a.texts}
		for i, v := range a.v {
			if v != v {
				one.Numbers = append(one.Numbers, nil)
				continue
			}
			one.Numbers = append(one.Numbers, &a.v[i])
		}
		inputs[p.Name] = one
	}
	c := map[string]any{"name": name, "rows": rows, "inputs": inputs, "numbers": want.numbers, "span": want.span, "numbersOf": f.Outputs[0].Name}
	if want.labels != nil {
		c["labels"], c["labelsOf"], c["numbersOf"] = want.labels, f.Outputs[0].Name, f.Outputs[1].Name
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(folder, name)
	for path, content := range map[string][]byte{at + ".json": b, at + ".onnx": f.Bytes} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOnnxruntime(t *testing.T) {
	if *runtimeFolder == "" {
		t.Skip("needs -onnxruntime FOLDER: see check/README.md")
	}
	folder := t.TempDir()
	for name, m := range tableModels(t) {
		f, err := ONNX(m, Facts{})
		if err != nil {
			t.Fatal(err)
		}
		raw, cells := rows(t, m.Schema, *runtimeRows, rand.New(rand.NewPCG(15, 16)))
		writeCase(t, folder, "table "+name, f, feed(m.Schema, f.Inputs, raw, cells), answersOf(m, cells), len(cells))
	}
	networks := map[string]*model.Model{}
	for name, m := range zooModels(t) {
		networks["zoo "+name] = m
	}
	for name, n := range nets() {
		networks["net "+name] = netModel(t, nn.Spec{Layers: n.layers, Loss: n.loss}, n.input, n.outputs)
	}
	for name, m := range networks {
		f, err := ONNX(m, Facts{})
		if err != nil {
			t.Fatal(err)
		}
		own, in := examples(m, f, *runtimeRows)
		writeCase(t, folder, name, f, in, networkAnswers(m, own), *runtimeRows)
	}
	out, err := exec.Command("node", filepath.Join(*runtimeFolder, "check.mjs"), folder).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
