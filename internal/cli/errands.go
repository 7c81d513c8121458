package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pawl"
	"pawl/core/ledger"
	"pawl/evidence/advise"
	"pawl/evidence/menu"
	"pawl/experiments"
	"pawl/internal/request"
	"pawl/search/fleet"
)

// Kinds of errands that workers do beside the training runs of searches.
const (
	menuErrands   = "menu"
	replayErrands = "replay"
)

// menuJob and replayJob are what errands of a kind have in common.
type (
	menuJob struct {
		Scale  experiments.Scale `json:"scale"`
		Preset advise.Preset     `json:"preset"`
	}
	replayJob struct {
		Name  string            `json:"name"`
		Scale experiments.Scale `json:"scale"`
	}
	replayCell struct {
		Values  []float64 `json:"values"`
		Seconds float64   `json:"seconds"`
	}
)

// prepareTry makes a worker's Try of an order.
func prepareTry(ctx context.Context, a *app, l *ledger.Ledger, courier *ledger.Courier, o fleet.Order, here request.Elsewhere) (fleet.Try, error) {
	switch o.Kind {
	case "":
		return a.desk(l).Prepare(ctx, courier, o, here)
	case menuErrands:
		return request.DoErrands(o, func(ctx context.Context, j menuJob, c menu.Cell) (advise.MenuCell, error) {
			return menu.Job{Scale: j.Scale, Preset: j.Preset, DataDir: a.dataDir}.One(ctx, c)
		})
	case replayErrands:
		return request.DoErrands(o, func(ctx context.Context, j replayJob, name string) (cell replayCell, err error) {
			e, err := lookupReplay(j.Name)
			if err != nil {
				return cell, err
			}
			r, err := experiments.NewRun(e.Name, j.Scale, "", "")
			if err != nil {
				return cell, err
			}
			r.DataDir = a.dataDir
			start := time.Now()
			cell.Values, err = experiments.Measure(ctx, e, r, name)
			cell.Seconds = time.Since(start).Seconds()
			return cell, err
		})
	}
	return nil, fmt.Errorf("errands of kind %q are unknown", o.Kind)
}

// openErrands opens a queue of errands, and the ledger whose secret closes them.
func openErrands(ctx context.Context, a *app, b pawl.Broker, kind string, job any) (*request.Errands, error) {
	address := brokerAddress(b)
	if err := address.Check(); err != nil {
		return nil, err
	}
	l, err := a.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	return request.SendErrands(ctx, l, address, kind, job, func(line string) { fmt.Fprintln(a.err, line) })
}

// measureElsewhere has workers measure the cells of a replay that can be told beforehand. What they cannot measure is left
// to the replay.
func measureElsewhere(ctx context.Context, a *app, b pawl.Broker, e experiments.Experiment, r *experiments.Run) error {
	if err := brokerAddress(b).Check(); err != nil {
		return err
	}
	names := experiments.Pending(ctx, e, r)
	if len(names) == 0 {
		return ctx.Err()
	}
	errands, err := openErrands(ctx, a, b, replayErrands, replayJob{e.Name, r.Scale})
	if err != nil {
		return err
	}
	defer errands.Close()
	var side sync.WaitGroup
	var mu sync.Mutex
	for _, name := range names {
		side.Go(func() {
			var cell replayCell
			fault := errands.Do(ctx, name, &cell)
			if errors.Is(fault, request.ErrErrand) {
				return
			}
			if fault == nil {
				fault = r.Keep(name, cell.Values, cell.Seconds)
			}
			mu.Lock()
			defer mu.Unlock()
			if fault == nil && r.Progress != nil {
				r.Progress(name)
			}
			if err == nil {
				err = fault
			}
		})
	}
	side.Wait()
	return err
}
