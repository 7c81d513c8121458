package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
)

func predictCommand(a *app) *cobra.Command {
	var out, threshold string
	var raw bool
	var s pawl.Source
	c := &cobra.Command{
		Use:   "predict MODEL FILE",
		Short: "Predict the target of each row, text or image",
		Long: `Predict with a model that pawl fit or pawl train wrote. MODEL is its output directory,
or the model folder in it. FILE (CSV, TSV, JSON lines, Parquet or Arrow; - reads
standard input) needs the columns that the model uses; other columns, including the target, are ignored. A model
trained with --embeddings needs vectors from the same extractor.

The answer is CSV, or Parquet if --output ends in .parquet, with one line per row of
FILE, in order: the prediction and, for a classifier, the probability of the second
class (two classes) or of every class.

For an image network, FILE is what pawl train reads: a built-in set of images (its test
set), a folder of PNG files with sub-folders, or an IDX or npy file.

Probabilities are calibrated if the score of the run determined a calibration;
--raw shows them uncalibrated. Labels follow from the threshold that fit chose,
or from --threshold. A category that the model does not know counts as unknown. Cells that
were changed (clipped, default, unknown, unseen) are counted in notes; --flags lists them
for each row in a column "flags".
Labels are spelled as the schema spells them (true and false for a boolean without
values). Predictions cost no privacy budget: a private model may be used any number of
times.`,
		Example: "  pawl predict out new-patients.csv > predictions.csv\n  pawl predict out new-patients.csv --keep id --threshold 0.12",
		Args:    exactArgs("MODEL", "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			return predictRows(c.Context(), a, args[0], args[1], out, threshold, raw, s)
		},
	}
	registerVectors(&s, c, " (default: the one used in training)")
	c.Flags().StringVar(&out, "output", "", "output file, Parquet if it ends in .parquet; an existing file is replaced (default: standard output)")
	c.Flags().StringSliceVar(&s.Keep, "keep", nil, "columns of FILE to copy before the prediction, such as id")
	c.Flags().StringVar(&threshold, "threshold", "", "two classes: smallest probability of the second class at which it is predicted (default: the one that fit chose)")
	c.Flags().BoolVar(&raw, "raw", false, "show probabilities without calibration, and labels as trained")
	c.Flags().BoolVar(&s.Strict, "strict", false, "refuse a category that the model does not know")
	c.Flags().BoolVar(&s.Flags, "flags", false, "add a column \"flags\" that names the cells of each row that were clipped, unknown, of an unseen category or replaced by a default")
	badRowsFlag(c.Flags(), &s.BadRows)
	return c
}

func predictRows(ctx context.Context, a *app, dir, file, out, threshold string, raw bool, s pawl.Source) error {
	m, err := pawl.LoadModel(dir)
	if err != nil {
		return err
	}
	if raw && threshold != "" {
		return mistake("--raw shows labels as trained, and --threshold chooses others", "give one of them; --threshold is a calibrated probability")
	}
	if raw {
		m = m.Raw()
	}
	if threshold != "" {
		t, err := strconv.ParseFloat(threshold, 64)
		if err != nil {
			return mistakef("example: --threshold 0.2", "--threshold %q is not a number", threshold)
		}
		if m, err = m.At(t); err != nil {
			return err
		}
		if known := m.Released(t); known != "" {
			a.note(known)
		}
	}
	s.Data, s.DataDir = file, a.dataDir
	p, err := m.Predict(s)
	if err != nil {
		return err
	}
	for _, note := range p.Notes() {
		a.note(note)
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
		if err := writeFile(out, true, func(w io.Writer) error { return write(until{ctx, w}) }); err != nil {
			return err
		}
		if a.json {
			return writeJSON(a.out, map[string]any{"output": out, "not_private": m.NotPrivate()})
		}
		return nil
	case a.json:
		return p.WriteJSON(a.out)
	}
	return p.WriteCSV(a.out)
}
