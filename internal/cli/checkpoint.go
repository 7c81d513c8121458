package cli

import (
	"time"

	"github.com/spf13/cobra"

	"pawl"
)

// checkpointFlags keep a training that may be interrupted.
type checkpointFlags struct {
	create, resume string
	every          time.Duration
}

func (f *checkpointFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.create, "checkpoint", "", "save the run in this new private file (outside --out), to resume it after an interruption")
	s.StringVar(&f.resume, "resume", "", "resume the run of this checkpoint at no cost: repeat the command with --resume instead of --checkpoint")
	s.DurationVar(&f.every, "checkpoint-every", 30*time.Second, "time between two saves; 0s saves after every step")
}

// checkpoint is what the flags say, the zero value for none.
func (f *checkpointFlags) checkpoint(to outDir) (pawl.Checkpoint, error) {
	if f.create != "" && f.resume != "" {
		return pawl.Checkpoint{}, mistake("--checkpoint and --resume exclude each other", "give --resume FILE alone; the run continues to save into it")
	}
	return pawl.Checkpoint{File: f.create + f.resume, Resume: f.resume != "", Every: f.every, Outside: to.root()}, nil
}
