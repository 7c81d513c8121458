package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"pawl"

	"github.com/spf13/cobra"
)

func (a *app) predictCommand() *cobra.Command {
	var out string
	var s pawl.Source
	c := &cobra.Command{
		Use:   "predict MODEL FILE",
		Short: "Predict the target of each row, text or image",
		Long: `Predict with a model that pawl fit or pawl train wrote. MODEL is its output directory,
or the model folder in it. FILE (CSV, TSV, JSON lines, Parquet or Arrow) needs the
columns that the model uses; other columns, including the target, are ignored. A model
trained with --embeddings needs vectors from the same extractor.

The answer is CSV, or Parquet if --output ends in .parquet, with one line per row of
FILE, in order: the prediction and, for a classifier, the probability of the second
class (two classes) or of every class.

For an image network, FILE is what pawl train reads: a built-in set of images (its test
set), a folder of PNG files with sub-folders, or an IDX or npy file.

Probabilities rank rows; noise leaves them uncalibrated. Predictions cost no privacy
budget: a private model may be used any number of times.`,
		Example: "  pawl predict out new-patients.csv > predictions.csv",
		Args:    exactArgs("MODEL", "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.predict(args[0], args[1], out, s)
		},
	}
	registerVectors(&s, c, " (default: the one used in training)")
	c.Flags().StringVar(&out, "output", "", "output file, Parquet if it ends in .parquet; an existing file is replaced (default: standard output)")
	c.Flags().StringVar(&s.BadRows, "bad-rows", "refuse", "refuse, or default: replace malformed cells by the default that their column declares")
	return c
}

func (a *app) predict(dir, file, out string, s pawl.Source) error {
	m, err := pawl.LoadModel(dir)
	if err != nil {
		return err
	}
	s.Data, s.DataDir = file, a.dataDir
	p, err := m.Predict(s)
	if err != nil {
		return err
	}
	if m.NotPrivate() {
		fmt.Fprintln(a.err, "NOT PRIVATE: this model has no privacy guarantee; its predictions may reveal the rows it was trained on")
	}
	switch {
	case out != "":
		write := p.WriteCSV
		if strings.EqualFold(filepath.Ext(out), ".parquet") {
			write = p.WriteParquet
		}
		if err := writeFile(out, true, write); err != nil {
			return err
		}
		if a.json {
			return writeJSON(a.out, map[string]any{"output": out, "not_private": m.NotPrivate()})
		}
		return nil
	case a.json:
		return p.WriteJSON(a.out)
	}
	var b bytes.Buffer
	if err := p.WriteCSV(&b); err != nil {
		return err
	}
	_, err = a.out.Write(b.Bytes())
	return err
}
