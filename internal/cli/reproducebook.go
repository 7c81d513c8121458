package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"pawl/experiments"
	"pawl/experiments/book"
	"pawl/experiments/runners"
)

func reproduceShowCommand(a *app) *cobra.Command {
	var store, html, scale string
	c := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Print stored results, or write them as pages",
		Long: `Print stored results: one line for each, or all of NAME. Nothing is measured. The results
are those that this pawl was built with, or those in the directory --store.`,
		Example: `  pawl reproduce show
  pawl reproduce show --html pages`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return exactArgs("NAME")(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := book.Open(store)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				r, err := storedResult(b, args[0], scale)
				if err != nil {
					return err
				}
				return showResults(a, []*book.Result{r}, html, true)
			}
			all, err := b.Results()
			if err != nil {
				return err
			}
			return showResults(a, all, html, false)
		},
	}
	c.Flags().StringVar(&store, "store", "", "directory of stored results (default: those of this pawl)")
	c.Flags().StringVar(&html, "html", "", "directory to write pages to")
	c.Flags().StringVar(&scale, "scale", "", "scale of the result of NAME (default: quick, or else paper)")
	return c
}

// storedResult prefers the message about a name that nothing has to the one about a result that
// is not stored.
func storedResult(b *book.Book, name, scale string) (*book.Result, error) {
	if scale != "" && !slices.Contains(experiments.Scales, experiments.Scale(scale)) {
		return nil, mistakef("pawl reproduce show lists what is stored", "scale %q: want smoke, quick or paper", scale)
	}
	if _, err := lookupReplay(name); err != nil {
		return nil, err
	}
	return b.Result(name, experiments.Scale(scale))
}

func showResults(a *app, all []*book.Result, html string, whole bool) error {
	if html != "" {
		if err := os.MkdirAll(html, 0o755); err != nil {
			return mistakef("choose another directory", "--html: %v", err)
		}
		pages, err := book.Pages(all, runners.All().List())
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(pages)) {
			if err := writeFile(filepath.Join(html, name), true, func(w io.Writer) error {
				_, err := w.Write(pages[name])
				return err
			}); err != nil {
				return err
			}
		}
	}
	switch {
	case a.json && whole:
		return writeJSON(a.out, all[0])
	case a.json:
		return writeJSON(a.out, map[string]any{"results": all})
	case whole:
		return book.Text(a.out, all[0])
	}
	return book.List(a.out, all)
}

func reproduceCheckCommand(a *app) *cobra.Command {
	var store, cell, scale string
	c := &cobra.Command{
		Use:   "check NAME",
		Short: "Measure one stored cell again and compare it bit for bit",
		Long: `Measure one cell of a stored result again, by default the one that took the least time, and
compare its numbers, and the table that follows, bit for bit. It works on the kernel that
the result was stored with: sums differ in their last bits on others.`,
		Example: "  pawl reproduce check table-10\n  pawl reproduce check table-10 --cell 'split 3'",
		Args:    exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			b, err := book.Open(store)
			if err != nil {
				return err
			}
			return checkResult(c.Context(), a, b, args[0], scale, cell)
		},
	}
	c.Flags().StringVar(&store, "store", "", "directory of stored results (default: those of this pawl)")
	c.Flags().StringVar(&scale, "scale", "", "scale of the result (default: quick, or else paper)")
	c.Flags().StringVar(&cell, "cell", "", "part of the name of the cell (default: the quickest cell)")
	return c
}

func checkResult(ctx context.Context, a *app, b *book.Book, name, scale, cell string) error {
	r, err := storedResult(b, name, scale)
	if err != nil {
		return err
	}
	e, err := lookupReplay(name)
	if err != nil {
		return err
	}
	measured, err := r.Check(ctx, e, cell, a.dataDir, book.StandIn(name))
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"name": name, "cell": measured, "same": true})
	}
	if measured == "" {
		fmt.Fprintf(a.out, "%s: computed again, every row is the same\n", name)
		return nil
	}
	fmt.Fprintf(a.out, "%s: the same bits again in the cell “%s”, and the same table\n", name, measured)
	return nil
}
