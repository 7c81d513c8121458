package ledger

import (
	"encoding/json"
	"errors"
	"testing"
)

// Whatever bytes stand in a record of a whole chain, replay says yes or fails
// closed; it never panics and never counts less than it did.
func FuzzReplay(f *testing.F) {
	for _, kind := range []Kind{KindCreate, KindRegister, KindSelfGrant, KindGrant, KindUpdateDigest, KindReserve, KindReplay, KindCommit, KindCancel, KindDeclarePublic,
		KindShare, KindFreeze, KindUnfreeze, KindApprove, KindBook, KindDifferent} {
		f.Add(string(kind), []byte(`{}`))
		f.Add(string(kind), []byte(`null`))
	}
	f.Add("reserve", []byte(`{"id":"b","plan":"p","event":null,"stages":null,"rows_per_unit":1,"delta":"0","not_private":false,"replay_key":""}`))
	f.Add("reserve", []byte(`{"id":"b","plan":"p","event":{"version":1,"kind":"pure","epsilon":-1},"stages":[],"rows_per_unit":1,"delta":"0","not_private":false,"replay_key":""}`))
	f.Add("book", []byte(`{"id":"b","by":"ann","event":{"version":1,"kind":"non_private"},"reason":"r","after_the_fact":true}`))
	f.Add("share", []byte(`{"analyst":"","epsilon":"1","delta":"0","reason":"r"}`))
	f.Add("approve", []byte(`{"id":"a","reason":"r"}`))
	f.Add("grant", []byte(`{"epsilon":"0.5","delta":"0","reason":""}`))
	f.Add("cancel", []byte(`{"id":"a"}`))
	f.Add("create", []byte(`{"epsilon":"1e999","delta":"0","relation":"add_or_remove_one"}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		s := newState("d")
		add := func(kind Kind, body []byte) error {
			r := Record{Version: Version, Seq: s.head.Seq + 1, Dataset: "d", Kind: kind, Time: "2027-01-10T12:00:00Z", Body: json.RawMessage(body), Prev: s.head.Hash}
			r.Hash = r.Sum()
			return s.apply(&r)
		}
		if err := add(KindReserve, []byte(`{"id":"a","plan":"p","event":{"version":1,"kind":"pure","epsilon":1},"stages":[],"rows_per_unit":1,"delta":"0","not_private":false,"replay_key":""}`)); err != nil {
			t.Fatal(err)
		}
		err := add(Kind(kind), body)
		switch {
		case err != nil && !errors.Is(err, ErrBroken) && !errors.Is(err, ErrNewer):
			t.Errorf("%s %s: %v is no error of a log", kind, body, err)
		case err == nil && (&purse{}).empty(s) && Kind(kind) != KindCancel:
			t.Errorf("%s %s: a charge vanished", kind, body)
		}
		for _, e := range s.entries {
			if e.event == nil || e.event.Validate() != nil {
				t.Errorf("%s %s: an entry without a valid event", kind, body)
			}
		}
	})
}
