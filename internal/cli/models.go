package cli

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/internal/request"
)

func modelsCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "models",
		Short: "List and show networks",
		Long:  "List and show networks.\n\nA network is a YAML file with a list of layers. The kinds of layers and their keys:\n\n" + layerKinds(),
	}
	c.AddCommand(&cobra.Command{
		Use: "list", Short: "List the named networks", Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error { return listModels(a) },
	}, &cobra.Command{
		Use: "show NAME", Short: "Show a network's layers and parameter counts, or check your own YAML file",
		Example: "  pawl models show mnist-paw-cnn", Args: exactArgs("NAME"),
		RunE: func(_ *cobra.Command, args []string) error { return showModel(a, args[0]) },
	})
	return c
}

// layerKinds lists the kinds of layers, one a line.
func layerKinds() string {
	var b strings.Builder
	for _, name := range nn.Kinds() {
		k := nn.KindOf(name)
		fmt.Fprintf(&b, "  %-16s  %s", name, k.Help)
		if len(k.Keys) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(k.Keys, ", "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// modelView is a network as --json prints it.
type modelView struct {
	Name       string      `json:"name"`
	Title      string      `json:"title"`
	Source     string      `json:"source"`
	Note       string      `json:"note,omitempty"`
	Input      string      `json:"input"`
	Outputs    int         `json:"outputs"`
	Parameters int         `json:"parameters"`
	Trainable  int         `json:"trainable"`
	Layers     []layerView `json:"layers,omitempty"`
	// UnderNoise is what pawl train changes by default.
	UnderNoise string `json:"under_noise,omitempty"`
}

type layerView struct {
	Kind       string `json:"kind"`
	Output     string `json:"output"`
	Parameters int    `json:"parameters"`
	Trainable  int    `json:"trainable"`
}

func view(s zoo.Spec, layers bool) (modelView, error) {
	v := modelView{Name: s.Name, Title: s.Title, Source: s.Source, Note: s.Note, Input: "as the data", Outputs: s.Outputs,
		Parameters: s.Parameters, Trainable: s.Trainable}
	if s.Defaults.Activation != "" {
		v.UnderNoise = s.Defaults.Activation + " in place of the activations"
		if !s.Defaults.Dropout {
			v.UnderNoise += ", no dropout"
		}
	}
	if s.Input == (nn.Shape{}) || s.Outputs == 0 {
		return v, nil
	}
	net, err := s.Compile()
	if err != nil {
		return v, err
	}
	v.Input, v.Parameters, v.Trainable = s.Input.String(), net.AllParameters(), net.Parameters()
	if layers {
		for _, l := range net.Layers() {
			v.Layers = append(v.Layers, layerView{l.Kind, l.Output.String(), l.Parameters, l.Trainable})
		}
	}
	return v, nil
}

func listModels(a *app) error {
	var all []modelView
	for _, s := range zoo.List() {
		v, err := view(s, false)
		if err != nil {
			return err
		}
		all = append(all, v)
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"models": all})
	}
	t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "name\tinput\tparameters\ttitle")
	for _, v := range all {
		parameters := strconv.Itoa(v.Parameters)
		if v.Parameters == 0 {
			parameters = "–" // they follow from the data
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", v.Name, v.Input, parameters, v.Title)
	}
	return t.Flush()
}

func showModel(a *app, name string) error {
	s, err := request.FindModel(name)
	if err != nil {
		return err
	}
	v, err := view(s, true)
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, v)
	}
	fmt.Fprintf(a.out, "%s: %s\n", v.Name, v.Title)
	for _, line := range []struct{ name, text string }{{"source", v.Source}, {"note", v.Note}, {"input", v.Input}, {"under noise", v.UnderNoise}} {
		if line.text != "" {
			fmt.Fprintf(a.out, "%-12s %s\n", line.name, line.text)
		}
	}
	t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "layer\toutput\tparameters\ttrained")
	for _, l := range v.Layers {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\n", l.Kind, l.Output, l.Parameters, l.Trainable)
	}
	fmt.Fprintf(t, "total\t\t%d\t%d\n", v.Parameters, v.Trainable)
	return t.Flush()
}
