// Command pawl-broker keeps the queues of studies that run on several machines, for teams that
// have no NATS server. It is a program of its own so that pawl stays small.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"pawl/internal/build"
	"pawl/internal/usage"
	"pawl/search/fleet/broker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o broker.Options
	root := &cobra.Command{
		Use:   "pawl-broker",
		Short: "Keep the queues of studies that run on several machines",
		Long: `Run a NATS server with JetStream in memory: pawl search --nats publishes training runs,
pawl worker --nats takes them. It listens on one port and writes nothing to disk. When it is
restarted, running studies publish again what is missing.

On addresses that other machines can reach, it requires a certificate and a list of keys.
docs/CLUSTER.md describes a setup of three machines and what each of them can see.`,
		Example: `  pawl-broker
  pawl-broker key worker1.key
  pawl-broker --listen 0.0.0.0:4222 --tls-cert broker.pem --tls-key broker-key.pem --keys keys.txt`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := broker.Start(o)
			if err != nil {
				return err
			}
			defer b.Stop()
			fmt.Fprintf(stderr, "pawl-broker listens on port %d; press Ctrl-C to stop\n", b.Port())
			<-c.Context().Done()
			return nil
		},
	}
	f := root.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:4222", "address to listen on, HOST:PORT")
	f.StringVar(&o.Certificate, "tls-cert", "", "certificate file, PEM")
	f.StringVar(&o.CertificateKey, "tls-key", "", "private key file of the certificate, PEM")
	f.StringVar(&o.Keys, "keys", "", "file of the public keys that may connect, one per line")
	root.AddCommand(&cobra.Command{
		Use: "key FILE", Short: "Make a key for one machine and print its public part",
		Long: `Write a new key to FILE, which only you can read, and print its public part for the list that
pawl-broker --keys reads. If FILE contains a key already, it is not changed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			public, _, err := broker.MakeKey(args[0])
			if err == nil {
				_, err = fmt.Fprintln(stdout, public)
			}
			return err
		},
	}, &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		_, err := fmt.Fprintln(stdout, build.Version())
		return err
	}})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usage.New(err.Error(), "pawl-broker --help lists the flags")
	})
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "error: %v\n", err)
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		fmt.Fprintf(stderr, "hint: %s\n", h.Hint())
	}
	return usage.Status
}
