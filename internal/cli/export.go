package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"pawl/internal/build"
	"pawl/internal/request"
	"pawl/model"
	"pawl/model/export"
	"pawl/report"
	"pawl/workflow"
)

func exportCommand(a *app) *cobra.Command {
	var format, output string
	c := &cobra.Command{
		Use:   "export MODEL --format onnx|safetensors --output FILE",
		Short: "Export a model as ONNX or safetensors",
		Long: `Export a model for other programs. MODEL is the output directory of pawl fit or pawl
train, or the model folder in it.

onnx         the complete model, from the cells of a row or the pixels of an image to
             the answer. One input per column (float for a number, NaN if missing;
             string for a category, spelled as in the data), or one for images
             [N, height, width, channels] in [0, 1]. Outputs: label, probabilities and
             scores, or prediction. Runs in onnxruntime and others.
safetensors  the parameters alone, by layer or term, with the meaning of the coordinates.

Both formats carry the privacy guarantee in their metadata. The model card of the run is
written beside the file, as FILE.md. Exporting costs no privacy budget.`,
		Example: "  pawl export out --format onnx --output model.onnx",
		Args:    exactArgs("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			return exportModel(a, args[0], format, output)
		},
	}
	c.Flags().StringVar(&format, "format", "", "onnx or safetensors")
	c.Flags().StringVar(&output, "output", "", "output file, which must not exist")
	return c
}

func exportModel(a *app, dir, format, output string) error {
	switch {
	case format == "":
		return mistake("pawl export: missing --format", "use --format onnx or --format safetensors")
	case format != "onnx" && format != "safetensors":
		return mistakef("use --format onnx or --format safetensors", "unknown format %q", format)
	case output == "":
		return mistake("pawl export: missing --output", "give the file to write, such as --output model."+format)
	}
	card, err := cardOf(dir)
	if err != nil {
		return err
	}
	for _, path := range []string{output, output + cardEnding} {
		if _, err := os.Lstat(path); err == nil && (path == output || card != nil) {
			return mistake(path+" exists already", "choose another file with --output, or remove this one")
		}
	}
	m, err := request.LoadModel(dir)
	if err != nil {
		return err
	}
	facts, err := factsOf(dir)
	if err != nil {
		return err
	}
	answer := map[string]any{"output": output, "format": format, "not_private": m.NotPrivate}
	var content []byte
	if format == "onnx" {
		f, err := export.ONNX(m, facts)
		if err != nil {
			return cannotExport(dir, err)
		}
		content, answer["inputs"], answer["outputs"] = f.Bytes, f.Inputs, f.Outputs
	} else if content, err = export.Safetensors(m, facts); err != nil {
		return err
	}
	answer["bytes"] = len(content)
	if err := writeFile(output, false, func(w io.Writer) error { _, err := w.Write(content); return err }); err != nil {
		return err
	}
	if card != nil {
		answer["card"] = output + cardEnding
		if err := writeFile(output+cardEnding, false, func(w io.Writer) error { _, err := w.Write(card); return err }); err != nil {
			return err
		}
	}
	if m.NotPrivate {
		fmt.Fprintln(a.err, "NOT PRIVATE: this model has no privacy guarantee; the file may reveal the rows it was trained on")
	}
	if a.json {
		return writeJSON(a.out, answer)
	}
	fmt.Fprintf(a.out, "%s: %d bytes of %s\n", output, len(content), format)
	if card != nil {
		fmt.Fprintf(a.out, "%s: model card, with the guarantee and the measured quality\n", output+cardEnding)
	}
	for _, end := range []string{"inputs", "outputs"} {
		ports, _ := answer[end].([]export.Port)
		for _, p := range ports {
			fmt.Fprintf(a.out, "  %-7s %s: %s %s; %s\n", end[:len(end)-1], p.Name, p.Type, p.Shape, p.Meaning)
		}
	}
	return nil
}

// cardEnding is that of the model card beside an exported file.
const cardEnding = ".md"

// cardOf is the card that a run wrote beside its model, nil where there is none.
func cardOf(dir string) ([]byte, error) {
	if _, err := os.Stat(filepath.Join(dir, workflow.ModelDir)); err != nil {
		dir = filepath.Dir(filepath.Clean(dir))
	}
	if _, err := os.Stat(filepath.Join(dir, workflow.StatementFile)); err != nil {
		return nil, nil
	}
	card, err := os.ReadFile(filepath.Join(dir, workflow.CardFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return card, err
}

// cannotExport names the model beside the part of it that a format cannot express.
func cannotExport(dir string, err error) error {
	var part *export.Error
	if errors.As(err, &part) {
		return mistakef(part.Hint(), "%s: %s", dir, part)
	}
	return err
}

// factsOf reads the claim that the model was written with.
func factsOf(dir string) (export.Facts, error) {
	inner := filepath.Join(dir, workflow.ModelDir)
	if info, err := os.Stat(inner); err == nil && info.IsDir() {
		dir = inner
	}
	facts := export.Facts{Version: build.Version()}
	raw, err := model.Privacy(dir)
	if err != nil || raw == nil {
		return facts, err
	}
	var p report.Privacy
	if err := json.Unmarshal(raw, &p); err != nil {
		return facts, mistake(filepath.Join(dir, "model.json")+": the privacy section cannot be read", "MODEL is a directory that pawl fit or pawl train wrote")
	}
	number := func(v report.Number) string { return strconv.FormatFloat(float64(v), 'g', -1, 64) }
	facts.Epsilon, facts.Delta, facts.Relation, facts.Unit = number(p.Epsilon), number(p.Delta), p.Relation, p.Unit
	return facts, nil
}
