package request

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/nats-io/nats.go"

	"pawl/compute/kernel"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/data/source"
	"pawl/internal/build"
	"pawl/internal/usage"
	"pawl/search/fleet"
	"pawl/workflow"
)

// order is what a worker must know to make the trainings of a search.
type order struct {
	Data    string         `json:"data"`
	Options source.Options `json:"options"`
	Search  Search         `json:"search"`
	// Granted is the budget that the search was planned under.
	Granted string `json:"granted"`
}

// gather opens the queue of a search at its broker, for workers; the returned function closes it
// and tells them whether the study has ended.
func (j *Job) gather(ctx context.Context, nc *nats.Conn, env *workflow.Env, name string, cargo []byte, say func(string)) (disband func(ended bool), err error) {
	s := j.study
	courier, err := env.Ledger.Courier(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := env.Study.Secret()
	if err != nil {
		return nil, err
	}
	// Another study under this name has another secret, so nobody takes its results for this one's.
	wire := secret.Key("name on the wire")
	o := fleet.Order{Study: hex.EncodeToString(wire[:12]), Name: name, Software: env.Software, Kernel: machine(), Say: say}
	if o.Spec, err = j.fleetSpec(*env); err != nil {
		return nil, err
	}
	asked := order{Data: s.data.Argument, Options: s.data.Options, Search: *s.search, Granted: j.Plan.Granted()}
	// Wherever a worker was started, it is the same file.
	for _, path := range []*string{&asked.Data, &asked.Options.DataDir, &asked.Options.Schema, &asked.Options.Labels, &asked.Options.Test,
		&asked.Options.Vectors.File, &asked.Search.Space, &asked.Search.Model} {
		if err := absolute(path); err != nil {
			return nil, err
		}
	}
	if o.Job, err = json.Marshal(asked); err != nil {
		return nil, fmt.Errorf("the search cannot be described to workers: %w", err)
	}
	o.Cargo = cargo
	c, err := fleet.Coordinate(ctx, nc, courier, o, fleet.Pace{})
	if err != nil {
		return nil, usage.Newf("start the broker with pawl-broker, or nats-server -js", "--nats %s: %v", s.search.Broker.URL, err)
	}
	env.Fleet = &fleet.Remote{Courier: courier, Pool: c, Study: o.Study}
	return func(ended bool) {
		_ = c.Close(ended) // the broker forgets an old queue when the study begins again
		_ = nc.Flush()
	}, nil
}

// machine names what decides the last bits of a computation: the portable kernel is that of
// several architectures, whose compilers round differently.
func machine() string { return kernel.Name() + " " + runtime.GOARCH }

// fleetSpec names the computation of a search with what it is charged for, to the last bit of its noise.
func (j *Job) fleetSpec(env workflow.Env) (string, error) {
	event, err := dp.EncodeEvent(j.Plan.Event)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(event)
	return j.Plan.Spec(env) + " " + hex.EncodeToString(sum[:]), nil
}

// absolute makes the path of an existing file or folder absolute; anything else is a name.
func absolute(path *string) error {
	if *path == "" {
		return nil
	}
	if _, err := os.Stat(*path); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			return nil
		}
		return err
	}
	full, err := filepath.Abs(*path)
	if err == nil {
		*path = full
	}
	return err
}

// Elsewhere replaces paths of an order by those of a worker's machine; empty ones stay.
type Elsewhere struct{ Data, Schema, Test, DataDir string }

// alike refuses an order of another version, or of a machine that computes other bits, and returns
// the name of this version.
func alike(o fleet.Order) (software string, err error) {
	software, err = build.Software()
	switch {
	case err != nil:
		return "", err
	case o.Software != software:
		return "", &fleet.MismatchError{What: "pawl", Study: o.Name, There: o.Software, Here: software}
	case o.Kernel != machine():
		return "", &fleet.MismatchError{What: "kernel", Study: o.Name, There: o.Kernel, Here: machine()}
	}
	return software, nil
}

// Prepare opens the data of an order, or has it sent, and makes its trainings, as a worker does. It refuses an
// order that this program, processor or data would not answer with the same bits
// (*fleet.MismatchError).
func (d *Desk) Prepare(ctx context.Context, courier *ledger.Courier, o fleet.Order, here Elsewhere) (fleet.Try, error) {
	software, err := alike(o)
	if err != nil {
		return nil, err
	}
	var asked order
	in := json.NewDecoder(bytes.NewReader(o.Job))
	in.DisallowUnknownFields()
	if err := in.Decode(&asked); err != nil {
		return nil, fmt.Errorf("study %s: %w", o.Name, err)
	}
	for _, r := range []struct{ to, from *string }{{&asked.Data, &here.Data}, {&asked.Options.Schema, &here.Schema}, {&asked.Options.Test, &here.Test}, {&asked.Options.DataDir, &here.DataDir}} {
		if *r.from != "" {
			*r.to = *r.from
		}
	}
	open := func() (*source.Data, error) { return source.Open(asked.Data, asked.Options) }
	if o.Rows != nil && here.Data == "" {
		open = func() (*source.Data, error) {
			cargo, err := o.Fetch(ctx)
			if err != nil {
				return nil, err
			}
			return source.Received(cargo, asked.Options)
		}
	}
	data, err := open()
	if err != nil {
		return nil, err
	}
	job, err := d.Search(ctx, data, &asked.Search)
	if err != nil {
		return nil, err
	}
	if err := job.asGranted(&asked.Granted); err != nil {
		return nil, err
	}
	env, err := job.seal(ctx)
	if err != nil {
		return nil, err
	}
	env.Software = software
	spec, err := job.fleetSpec(env)
	if err != nil {
		return nil, err
	}
	if spec != o.Spec {
		return nil, &fleet.MismatchError{What: "other data, or another schema, budget or ledger", Study: o.Name}
	}
	return job.Plan.Trying(env, courier, o.Study)
}
