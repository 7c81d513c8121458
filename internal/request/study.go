package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"

	"pawl/data/source"
	"pawl/internal/build"
	"pawl/internal/usage"
	"pawl/report"
	"pawl/search/fleet"
	"pawl/search/study"
	"pawl/store"
	"pawl/workflow"
)

// Studies is the folder of the user's studies, beside his ledger.
func Studies() (string, error) {
	own, err := store.Own()
	return filepath.Join(filepath.Dir(own), "studies"), err
}

// findStudy is the folder of the study that the command is, or would be, and its record,
// nil where there is none yet. A study that is finished, or another search, is refused.
func (j *Job) findStudy(env workflow.Env) (folder, name string, r *study.Record, err error) {
	root, err := Studies()
	if err != nil {
		return "", "", nil, err
	}
	name = j.study.name
	spec := j.Plan.Spec(env)
	if name == "" {
		if name, err = freeName(root, fmt.Sprintf("%s-%s-%s", j.Dataset, j.Plan.Space().Name(), j.study.kind), spec); err != nil {
			return "", "", nil, err
		}
	}
	if err := study.CheckName(name); err != nil {
		return "", "", nil, usage.New(err.Error(), "--study NAME")
	}
	folder = filepath.Join(root, name)
	r, err = study.LoadRecord(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return folder, name, nil, nil
	case err != nil:
		return "", "", nil, usage.New(err.Error(), "name another study with --study NAME")
	case r.Running() && study.Earlier(folder):
		return "", "", nil, usage.New(fmt.Sprintf("study %q was started by an earlier version of pawl and cannot be continued by this one", name), "start a new study with another --study NAME, which is charged again; earlier charges remain")
	case r.Spec != spec:
		return "", "", nil, usage.New(fmt.Sprintf("study %q is a different search", name), "give this search another --study NAME, or repeat the command of that study")
	case !r.Running():
		if err := study.Clean(folder); err != nil { // a crash may have left its secrets
			return "", "", nil, err
		}
		return "", "", nil, usage.New(fmt.Sprintf("study %q is finished", name), fmt.Sprintf("pawl study show %s; for a new search, use another --study NAME, which is charged again", name))
	}
	return folder, name, r, nil
}

// ofStudy is what keeps a search that may be interrupted.
type ofStudy struct {
	name, kind string
	workers    int
	// search and data are what was asked, for workers elsewhere.
	search *Search
	data   *source.Data
}

// runStudy opens or makes the folder of a study and runs the plan in it.
func (j *Job) runStudy(ctx context.Context, env workflow.Env, how Running) (done *Done, err error) {
	if env.Software, err = build.Software(); err != nil {
		return nil, err
	}
	far := j.study.search.Broker.Given()
	if env.Workers = j.study.workers; env.Workers <= 0 {
		if env.Workers = runtime.GOMAXPROCS(0); far {
			env.Workers = fleet.Ahead
		}
	}
	folder, name, r, err := j.findStudy(env)
	if err != nil {
		return nil, err
	}
	var nc *nats.Conn
	var cargo []byte
	if far {
		// Before anything is recorded: data too large to ship, or a broker out of reach, leaves no study behind.
		if j.study.search.ShipData {
			if cargo, err = j.study.data.Ship(); err != nil {
				return nil, err
			}
			if len(cargo) > fleet.MostRows {
				return nil, usage.Newf("copy the file to the workers and leave out --ship-data", "%s is larger than 2 GiB, too much to ship", j.study.data.Table.Path)
			}
		}
		if nc, err = fleet.Dial(ctx, j.study.search.Broker, "pawl search"); err != nil {
			return nil, err
		}
		defer nc.Close()
	}
	if r != nil {
		if err := j.asGranted(r.Granted); err != nil {
			return nil, err
		}
	} else {
		if how.Write { // nor does a place that cannot be written
			if err := Writable(how.Dir, how.Replace); err != nil {
				return nil, err
			}
		}
		granted := j.Plan.Granted()
		r = &study.Record{Name: name, Granted: &granted, Dataset: j.Dataset, Public: j.Plan.Public(), Space: j.Plan.Space().Name(), Strategy: j.study.kind, Spec: j.Plan.Spec(env), Started: time.Now().UTC(),
			Expected: j.Plan.Expected().Seconds()}
		if err := r.Save(folder); err != nil {
			return nil, usage.New(fmt.Sprintf("%s cannot be written, and nothing was charged: %v", folder, usage.WithoutPath(err)), "set XDG_DATA_HOME to a folder that can be written")
		}
	}
	if env.Study, err = openStudy(folder); err != nil {
		return nil, err
	}
	defer env.Study.Close()
	if n := len(env.Study.Lines()); n > 0 {
		// That there are trials is said by the time that has passed; how many is not.
		how.say("study " + name + " continues: finished trials are reused, and nothing is charged again")
	} else {
		how.say("study " + name)
	}
	if far {
		disband, err := j.gather(ctx, nc, &env, name, cargo, how.say)
		if err != nil {
			return nil, err
		}
		defer func() { disband(err == nil) }()
	}
	var recording error
	how.released = func(s *report.Statement) { recording = finishStudy(r, j.Plan, folder, env.Study, s) }
	done, err = j.run(ctx, env, how)
	if (ctx.Err() != nil || errors.Is(err, study.ErrUnrecorded)) && err != nil {
		return nil, fmt.Errorf("%w; run the same command to continue study %s", err, name)
	}
	if errors.Is(err, study.ErrNothing) {
		// Charged, and nothing came of it: the same trials would fail again.
		r.Finish(time.Now())
		recording = errors.Join(r.Save(folder), env.Study.Erase())
	}
	return done, errors.Join(err, recording)
}

// finishStudy records what a study released, as soon as its files are written, and
// erases what it does not.
func finishStudy(r *study.Record, plan *workflow.Plan, folder string, kept *study.Folder, s *report.Statement) (err error) {
	r.Finish(time.Now())
	if r.Outcome, err = json.Marshal(s); err != nil {
		return err
	}
	if r.Public && plan.Public() {
		r.Trials = kept.Lines()
		for i := range r.Trials {
			t := &r.Trials[i]
			// A size that cannot be told leaves a gap in a plot.
			t.Parameters, _ = plan.CandidateParameters(t.Candidate)
		}
	}
	return errors.Join(r.Save(folder), kept.Erase())
}

// freeName is base, or base with a number, so that it names no finished or other study.
func freeName(root, base, spec string) (string, error) {
	for i := 1; i < 10_000; i++ {
		name := base
		if i > 1 {
			name = fmt.Sprintf("%s-%d", base, i)
		}
		r, err := study.LoadRecord(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && r.Running() && r.Spec == spec && !study.Earlier(filepath.Join(root, name)) {
			return name, nil
		}
		if err != nil && !errors.Is(err, study.ErrEdited) {
			return "", err
		}
	}
	return "", usage.New("there are too many studies with this name", "--study NAME")
}

// resume opens the study that the same command has begun, if there is one.
func (j *Job) resume(env *workflow.Env) (err error) {
	if env.Software, err = build.Software(); err != nil {
		return err
	}
	folder, _, r, err := j.findStudy(*env)
	if err != nil || r == nil {
		return err
	}
	if err := j.asGranted(r.Granted); err != nil {
		return err
	}
	env.Study, err = openStudy(folder)
	return err
}

// asGranted makes the plan that the search had under the budget of its beginning, where it has another now; nil
// stands for a study that did not record it.
func (j *Job) asGranted(granted *string) (err error) {
	if granted != nil && *granted != j.Plan.Granted() {
		j.Plan, err = j.replan(*granted)
	}
	return err
}

func openStudy(folder string) (*study.Folder, error) {
	s, _, err := study.Open(folder)
	if errors.Is(err, study.ErrRuns) {
		return nil, usage.New(fmt.Sprintf("study %q is running in another process", filepath.Base(folder)), "wait for it (pawl study watch), or stop it and run the command again; another --study NAME is charged again")
	}
	if err != nil {
		return nil, usage.New(err.Error(), "choose another study with --study NAME; charges remain")
	}
	return s, nil
}
