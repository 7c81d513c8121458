package serve

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pawl/search/study"
)

// The bounds of a stream.
const (
	mostStreams = 64
	look        = time.Second      // between two looks
	breath      = 15 * time.Second // between two signs of life
)

// live tells a page, by server-sent events, that what it shows has changed. An event says nothing
// else: the page is read again, and shows what it may.
func (v *visit) live() error {
	if v.s.streams.Add(1) > mostStreams {
		v.s.streams.Add(-1)
		return errBusy
	}
	defer v.s.streams.Add(-1)
	of := v.query("of")
	before, err := v.s.standing(of, v.query("name"))
	if err != nil {
		return err
	}
	c := http.NewResponseController(v.w)
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) error {
		if err := c.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
			return err
		}
		if _, err := fmt.Fprint(v.w, text); err != nil {
			return err
		}
		return c.Flush()
	}
	every := time.NewTicker(look)
	defer every.Stop()
	for last := (time.Time{}); ; {
		if now := time.Now(); now.Sub(last) >= breath {
			if send(": here\n\n") != nil {
				return nil
			}
			last = now
		}
		select {
		case <-v.r.Context().Done():
			return nil
		case <-every.C:
		}
		if !v.s.door.alive(v.session) {
			return nil
		}
		now, err := v.s.standing(of, v.query("name"))
		if err != nil {
			return nil // it is gone: the page says so when it is read again
		}
		if now != before {
			if before = now; send("event: change\ndata: look\n\n") != nil {
				return nil
			}
		}
	}
}

// standing is a digest of what a page shows, and of nothing else: a stream tells no more than the
// page.
func (s *Server) standing(of, name string) (sum [sha256.Size]byte, err error) {
	var what any
	switch of {
	case "studies":
		all, err := study.Records(s.o.Studies)
		if err != nil {
			return sum, err
		}
		for _, r := range all {
			r.Trials, r.Outcome = nil, nil
		}
		what = all
	case "study":
		r, err := s.studyRecord(name)
		if err != nil {
			return sum, err
		}
		what = []any{r, len(s.trials(r))}
	case "jobs":
		what = s.jobs.list()
	default:
		return sum, refuse(http.StatusNotFound, "This stream does not exist", "This server has nothing at this address.", "")
	}
	text, err := json.Marshal(what)
	return sha256.Sum256(text), err
}
