package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pawl/data/schema"
	"pawl/data/table"
)

// importSmartNoise writes a schema template from the metadata of SmartNoise SQL.
func importSmartNoise(a *app, f initFlags) error {
	file := f.smartNoise
	if f.guessTypes || f.bought.infer || f.bought.bounds || f.bought.given(a.ledger.total) != "" {
		return mistake("--from-smartnoise excludes the flags about data", "leave them out")
	}
	if err := f.place(file, filepath.Join(filepath.Dir(file), table.BaseName(file)+".schema.yaml")); err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	table, text, notes, err := schema.FromSmartNoise(file, data)
	if err != nil {
		return err
	}
	if err := writeFile(f.out, f.force, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(a.err, "note: %s\n", n)
	}
	fmt.Fprintf(a.err, "next: fill in the blanks in %s; its columns must match the header of the data\n", shell(f.out))
	return a.wrote(f.out, map[string]any{"schema": f.out, "table": table, "notes": notes})
}
