package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/compute/kernel"
	"pawl/internal/build"
)

// versionCommand names the program exactly, for reports of faults and for records of runs.
func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the revision it was built from, and the kernel in use",
		Long:    "Print the version of pawl, the revision and time of the sources it was built from, the Go\nversion, and the kernel that this processor runs. In JSON, a field that the build did not\nrecord is empty.",
		Example: "  pawl version --json",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version  string `json:"version"`
				Revision string `json:"revision"`
				Time     string `json:"time"`
				Modified bool   `json:"modified"`
				Go       string `json:"go"`
				Kernel   string `json:"kernel"`
			}{Version: build.Version(), Go: runtime.Version(), Kernel: kernel.Name()}
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					switch s.Key {
					case "vcs.revision":
						v.Revision = s.Value
					case "vcs.time":
						v.Time = s.Value
					case "vcs.modified":
						v.Modified = s.Value == "true"
					}
				}
			}
			if a.json {
				return writeJSON(a.out, v)
			}
			revision := "not recorded by the build"
			if v.Revision != "" {
				revision = v.Revision + " of " + v.Time
				if v.Modified {
					revision += ", with local changes"
				}
			}
			t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			fmt.Fprintf(t, "version\t%s\nrevision\t%s\ngo\t%s\nkernel\t%s\n", v.Version, revision, v.Go, v.Kernel)
			return t.Flush()
		},
	}
}
