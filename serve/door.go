package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"
)

// The bounds of the door.
const (
	sessionTime  = 12 * time.Hour
	mostSessions = 1000
	mostForms    = 256 // of one session that were shown and not sent
)

// key is the digest of a secret: what is kept cannot be used to ask.
type key [sha256.Size]byte

func keyOf(secret string) key { return sha256.Sum256([]byte(secret)) }

// newSecret has 256 bits.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails: it aborts the program instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// door lets people in: a link works once and is exchanged for a session. All of it is in memory,
// and gone when the server ends.
type door struct {
	clock func() time.Time

	mu       sync.Mutex
	links    map[key]Person
	sessions map[key]*session
	behind   map[Person]*session // of a proxy, which says who asks each time
}

type session struct {
	Person
	until time.Time
	forms map[key]string // paths by number
	order []key
}

func newDoor(clock func() time.Time) *door {
	return &door{clock: clock, links: map[key]Person{}, sessions: map[key]*session{}, behind: map[Person]*session{}}
}

// link makes a secret that lets a person in once.
func (d *door) link(p Person) string {
	secret := newSecret()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.links[keyOf(secret)] = p
	return secret
}

// enter exchanges a link for a session.
func (d *door) enter(secret string) (session string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := keyOf(secret)
	p, ok := d.links[k]
	if !ok {
		return "", false
	}
	delete(d.links, k)
	session = newSecret()
	d.sweep(mostSessions)
	d.sessions[keyOf(session)] = d.begin(p)
	return session, true
}

func (d *door) begin(p Person) *session {
	return &session{Person: p, until: d.clock().Add(sessionTime), forms: map[key]string{}}
}

// sweep removes what has ended, and the oldest where there are too many.
func (d *door) sweep(most int) {
	now := d.clock()
	oldest, at := time.Time{}, key{}
	for k, s := range d.sessions {
		if now.After(s.until) {
			delete(d.sessions, k)
		} else if oldest.IsZero() || s.until.Before(oldest) {
			oldest, at = s.until, k
		}
	}
	if len(d.sessions) >= most {
		delete(d.sessions, at)
	}
}

// find returns the session of a cookie.
func (d *door) find(cookie string) *session {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sessions[keyOf(cookie)]
	if s == nil || d.clock().After(s.until) {
		return nil
	}
	return s
}

// leave ends a session.
func (d *door) leave(cookie string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.sessions[keyOf(cookie)]; s != nil {
		s.until = time.Time{} // for what streams
		delete(d.sessions, keyOf(cookie))
	}
}

// alive says that a session has not ended.
func (d *door) alive(s *session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.clock().After(s.until)
}

// named returns the session of whom a proxy has identified.
func (d *door) named(p Person) *session {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.behind[p]
	if s == nil || d.clock().After(s.until) {
		if len(d.behind) >= mostPersons {
			clear(d.behind)
		}
		s = d.begin(p)
		d.behind[p] = s
	}
	return s
}

// form makes the number of a form that is sent to path.
func (d *door) form(s *session, path string) string {
	secret := newSecret()
	d.mu.Lock()
	defer d.mu.Unlock()
	k := keyOf(secret)
	if s.forms[k], s.order = path, append(s.order, k); len(s.order) > mostForms {
		delete(s.forms, s.order[0])
		s.order = s.order[1:]
	}
	return secret
}

// sent uses the number of a form up.
func (d *door) sent(s *session, secret, path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := keyOf(secret)
	if s.forms[k] != path {
		return false
	}
	delete(s.forms, k)
	return true
}
