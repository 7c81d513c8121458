package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/core/ledger"
	"pawl/internal/request"
	"pawl/internal/whole"
)

// The states of a job. From charging on it may have been charged.
const (
	waiting     = "waiting"
	running     = "running"
	charging    = "charging"
	finished    = "finished"
	failed      = "failed"
	interrupted = "interrupted"
)

// jobRecord is what is kept of a job. It is written before the job begins, under a name that
// follows from its key, and never removed: a key names one job for ever, so that a request which
// is sent again, or a server that is started again, charges nothing again.
type jobRecord struct {
	ID    string `json:"id"`
	By    string `json:"by"`
	Asked asked  `json:"asked"`
	State string `json:"state"`
	// Entry is that of the charge, Report the folder of what was released; "" before.
	Entry  string `json:"entry,omitempty"`
	Report string `json:"report,omitempty"`
	// Why says why it failed, in words that hold nothing of a row.
	Why string `json:"why,omitempty"`
	// Day is when it was started. How long a job takes is not kept.
	Day string `json:"day"`
	// Server is the run of the program that has it in hand.
	Server string `json:"server"`
}

// Words say how it stands.
func (j *jobRecord) Words() string {
	switch j.State {
	case waiting:
		return "waiting for another job"
	case running, charging:
		return "running"
	case interrupted:
		if j.Asked.Search {
			return "interrupted: the charge stays; continuing costs nothing more"
		}
		return "interrupted: if it was charged, its entry is in the history; a new job would be charged again"
	case failed:
		return "failed: " + j.Why
	}
	return j.State
}

// Resumable says that it can be gone on with at no further cost.
func (j *jobRecord) Resumable() bool { return j.State == interrupted && j.Asked.Search }

// jobs runs one job at a time.
type jobs struct {
	s     *Server
	run   string // of the program
	queue chan *jobRecord

	mu sync.Mutex
}

const mostWaiting = 16

func newJobs(s *Server) *jobs {
	return &jobs{s: s, run: newSecret()[:16], queue: make(chan *jobRecord, mostWaiting)}
}

// Its length is checked apart: a pattern that counts to 200 takes milliseconds to compile, at every start.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (j *jobs) path(id string) string { return filepath.Join(j.s.o.Jobs, id+".json") }

// read returns a record, nil where there is none. One that a crash left half written counts: its
// key is used.
func (j *jobs) read(id string) (*jobRecord, error) {
	text, err := os.ReadFile(j.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &jobRecord{ID: id, State: interrupted}
	if json.Unmarshal(text, r) == nil && r.Server != j.run && r.State != finished && r.State != failed {
		r.State = interrupted // whoever had it in hand is gone
	}
	return r, nil
}

func (j *jobs) save(r *jobRecord) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return whole.Write(j.path(r.ID), append(text, '\n'), 0o600)
}

// list returns all jobs, the newest first.
func (j *jobs) list() (all []*jobRecord) {
	entries, err := os.ReadDir(j.s.o.Jobs)
	if err != nil {
		return nil
	}
	type dated struct {
		*jobRecord
		at time.Time
	}
	var some []dated
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		info, err := e.Info()
		if !ok || err != nil {
			continue
		}
		if r, err := j.read(id); err == nil && r != nil {
			some = append(some, dated{r, info.ModTime()})
		}
	}
	slices.SortFunc(some, func(a, b dated) int { return b.at.Compare(a.at) })
	for _, d := range some {
		all = append(all, d.jobRecord)
	}
	return all
}

// start takes a job, or finds the one that its key has named before.
func (j *jobs) start(by, key string, a asked) (r *jobRecord, err error) {
	switch {
	case !j.s.o.AllowJobs:
		return nil, refuse(http.StatusForbidden, "This server does not start jobs", "It only shows budgets, plans and reports.", "Run the command that the page Plan shows, or start the server with pawl serve --allow-jobs.")
	case len(key) < 16 || len(key) > 200 || !plainKey.MatchString(key):
		return nil, refuse(http.StatusBadRequest, "The job has no key", "A key has 16 to 200 letters, digits, hyphens or underscores.", "Send it as the header "+idempotency+", new for each job.")
	}
	sum := sha256.Sum256([]byte("pawl job\x00" + key))
	id := hex.EncodeToString(sum[:8])
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := os.MkdirAll(j.s.o.Jobs, 0o700); err != nil {
		return nil, err
	}
	if r, err = j.read(id); err != nil {
		return nil, err
	}
	if r != nil {
		if r.Asked != a || r.By != by {
			return nil, refuse(http.StatusConflict, "This key belongs to another job", "A key belongs to one job permanently.", "Send a new key for a new job.")
		}
		return r, nil
	}
	// Found wanting before anything is written down.
	if _, err := j.s.open(a.Data); err != nil {
		return nil, err
	}
	r = &jobRecord{ID: id, By: by, Asked: a, State: waiting, Day: j.s.o.Clock().UTC().Format(time.DateOnly), Server: j.run}
	// The file is made once, even by two servers at the same moment.
	f, err := os.OpenFile(j.path(id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return j.read(id)
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Close(), j.save(r)); err != nil {
		return nil, err
	}
	return r, j.enqueue(r)
}

func (j *jobs) enqueue(r *jobRecord) error {
	copied := *r
	select {
	case j.queue <- &copied:
		return nil
	default:
		r.State, r.Why = failed, "too many jobs were waiting; nothing was charged"
		return errors.Join(j.save(r), errBusy)
	}
}

// again takes a job that was interrupted. Its search goes on where it was.
func (j *jobs) again(by, id string) (*jobRecord, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !jobID.MatchString(id) {
		id = "none"
	}
	r, err := j.read(id)
	switch {
	case err != nil:
		return nil, err
	case r == nil || r.By != by:
		return nil, refuse(http.StatusNotFound, "You have no such job", "Only the person who started a job can continue it.", "The page Jobs lists them.")
	case !r.Resumable() || !j.s.o.AllowJobs:
		return nil, refuse(http.StatusConflict, "This job cannot be continued", r.Words(), "Start a new job, which is charged.")
	}
	r.State, r.Server = waiting, j.run
	if err := j.save(r); err != nil {
		return nil, err
	}
	return r, j.enqueue(r)
}

var jobID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// work runs what waits until ctx ends.
func (j *jobs) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-j.queue:
			j.do(ctx, r)
		}
	}
}

// do runs one job and writes down how it ended.
func (j *jobs) do(ctx context.Context, r *jobRecord) {
	told := func(state string) error {
		r.State = state
		return j.save(r)
	}
	err := told(running)
	var res *request.Done
	if err == nil {
		res, err = j.fit(ctx, r, func() error { return told(charging) })
	}
	switch {
	case err == nil:
		r.Entry, r.Report, r.State = res.Statement.Budget.Entry, filepath.Base(res.Dir), finished
	case ctx.Err() != nil:
		r.State = interrupted
	default:
		r.State, r.Why = failed, j.why(err)
	}
	if err := j.save(r); err != nil {
		j.s.o.Log("the record of a job could not be written")
	}
}

func (j *jobs) fit(ctx context.Context, r *jobRecord, ready func() error) (*request.Done, error) {
	job, err := j.s.prepare(ctx, r.By, r.Asked, false)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(j.s.o.Reports, 0o755); err != nil {
		return nil, err
	}
	name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(fmt.Sprintf("%s-eps%s-%s", r.Asked.Data, r.Asked.Epsilon, r.ID), "-"), "-.")
	return job.Run(ctx, request.Running{Write: true, Dir: filepath.Join(j.s.o.Reports, name), Ready: ready})
}

// why is the reason of a failure as far as it is public: what the ledger says, and what was asked.
// An error about rows is for the operator, who runs pawl check.
func (j *jobs) why(err error) string {
	e := pawl.AsError(err)
	switch {
	case errors.Is(err, ledger.ErrRefused), errors.Is(err, pawl.ErrHopeless):
		return strings.TrimSuffix(e.Error()+"; "+e.Hint(), "; ")
	case errors.Is(err, ledger.ErrUnavailable):
		return "the ledger did not answer; the history shows whether the job was charged"
	}
	return "the data do not match their declaration, or the run failed; the operator can see why with pawl check"
}

func (v *visit) start() error {
	a := asked{v.field("data"), v.field("target"), v.field("epsilon"), v.field("delta"), v.field("search") == "yes"}.trimmed()
	if _, err := v.s.jobs.start(v.person().Name, v.field("key"), a); err != nil {
		return err
	}
	return v.goTo("/jobs")
}

func (v *visit) resume() error {
	if _, err := v.s.jobs.again(v.person().Name, v.field("id")); err != nil {
		return err
	}
	return v.goTo("/jobs")
}

func (v *visit) jobList() error {
	all := v.s.jobs.list()
	p := v.newPager("jobs", len(all), linesOnPage)
	return v.page("jobs", "Jobs", map[string]any{"All": all[p.From:p.To], "Pager": p, "Me": v.person().Name})
}

func (v *visit) apiJobs() error {
	all := v.s.jobs.list()
	if all == nil {
		all = []*jobRecord{}
	}
	return v.json(http.StatusOK, all)
}

func (v *visit) apiStart() error {
	var a asked
	if err := v.body(&a); err != nil {
		return err
	}
	r, err := v.s.jobs.start(v.person().Name, v.r.Header.Get(idempotency), a.trimmed())
	if err != nil {
		return err
	}
	return v.json(http.StatusAccepted, r)
}
