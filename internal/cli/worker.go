package cli

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/internal/request"
	"pawl/search/fleet"
)

// brokerFlags say where the broker is.
func brokerFlags(c *cobra.Command, b *pawl.Broker) {
	f := c.Flags()
	f.StringVar(&b.URL, "nats", "", "NATS server for training runs on other machines: nats://127.0.0.1:4222, or tls://HOST:PORT elsewhere")
	f.StringVar(&b.KeyFile, "nats-key", "", "key to show to the server, made by pawl-broker key; required for another machine")
	f.StringVar(&b.CAFile, "nats-ca", "", "certificates to check the server's against, PEM (default: the system's)")
}

func brokerAddress(b pawl.Broker) fleet.Address {
	return fleet.Address{URL: b.URL, Key: b.KeyFile, CA: b.CAFile}
}

type workerFlags struct {
	pawl.Broker
	here     request.Elsewhere
	parallel int
	limit    time.Duration
}

func workerCommand(a *app) *cobra.Command {
	var f workerFlags
	c := &cobra.Command{
		Use:   "worker --nats URL",
		Short: "Train candidates for searches on other machines",
		Long: `Train candidates for pawl search --nats, and measure cells for pawl reproduce and pawl
advise measure, until interrupted. A worker uses the same ledger as the search (PAWL_LEDGER or
--ledger): the ledger's secret encrypts every message. It opens the data by --path and
--schema, or else by the path that the search used; a search with --ship-data sends the
rows, which stay in memory. It checks that version, processor kernel, data and plan are
the same; otherwise it does not join. It returns only scores, and charges nothing.

Workers may join and leave at any time: an interrupted run is given to another worker and
gives the same result. docs/CLUSTER.md describes a setup of three machines.`,
		Example: `  pawl worker --nats nats://127.0.0.1:4222
  pawl worker --nats tls://broker.example:4222 --nats-key worker1.key --path /srv/patients.csv --schema /srv/patients.yaml`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return work(c.Context(), a, f) },
	}
	brokerFlags(c, &f.Broker)
	s := c.Flags()
	s.StringVar(&f.here.Data, "path", "", "data file on this machine (default: the path that the search used)")
	s.StringVar(&f.here.Schema, "schema", "", "schema file on this machine, YAML (default: the path that the search used)")
	s.StringVar(&f.here.Test, "test", "", "file of public test rows on this machine (default: the path that the search used)")
	s.IntVar(&f.parallel, "parallel", 0, "parallel training runs (default: number of processors)")
	s.DurationVar(&f.limit, "trial-limit", 0, "give a training run back after this time, such as 2h (default: no limit)")
	return c
}

func work(ctx context.Context, a *app, f workerFlags) error {
	address := brokerAddress(f.Broker)
	switch {
	case !address.Given():
		return mistake("pawl worker: missing --nats", "example: --nats nats://127.0.0.1:4222")
	case f.parallel < 0:
		return mistakef("leave it out for one training run per processor", "--parallel %d: must be at least 1", f.parallel)
	case f.limit < 0:
		return mistakef("leave it out for no limit", "--trial-limit %s: must be above 0", f.limit)
	}
	if err := address.Check(); err != nil {
		return err
	}
	l, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	courier, err := l.Courier(ctx)
	if err != nil {
		return err
	}
	nc, err := fleet.Dial(ctx, address, "pawl worker")
	if err != nil {
		return err
	}
	defer nc.Close()
	if f.parallel == 0 {
		f.parallel = runtime.GOMAXPROCS(0)
	}
	f.here.DataDir = a.dataDir
	say := func(line string) { fmt.Fprintln(a.err, line) }
	say(fmt.Sprintf("waiting for searches that use ledger %s; press Ctrl-C to stop", courier.Name()))
	return fleet.Worker{Courier: courier, Parallel: f.parallel, Limit: f.limit, Say: say,
		Prepare: func(ctx context.Context, o fleet.Order) (fleet.Try, error) {
			return prepareTry(ctx, a, l, courier, o, f.here)
		}}.Run(ctx, nc)
}
