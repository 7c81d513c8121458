package sealed

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
)

var fleetKey = [32]byte{7}

func trialOf(t *testing.T, p *Permit, n uint64) *Permit {
	t.Helper()
	c, err := p.Child("trial", n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A trial elsewhere has the noise that it would have had here, also when its token is
// redeemed twice, and what pays for it is used up here.
func TestTravellingPermitsKeepTheirNoise(t *testing.T) {
	g, half := dp.Gaussian{NoiseMultiplier: 2}, dp.Scope{Lower: 0, Upper: 0.5}
	event := dp.Compose{Events: []dp.Event{g, dp.Scoped{Scope: half, Event: g}}}
	here := trialOf(t, streamPermit(t, 1), 5)
	want := []uint64{noiseOf(t, here, dp.WholeScope, g), noiseOf(t, here, half, g), here.Randomness("x").Uint64()}

	p := streamPermit(t, 1)
	for range 7 { // all but one of the eight gaussians are somebody else's
		noiseOf(t, p, dp.WholeScope, g)
	}
	sent := trialOf(t, p, 5)
	token, err := Travel(sent, fleetKey, event, "s", "5")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		there, err := Arrive(token, fleetKey, "s", "5")
		if err != nil {
			t.Fatal(err)
		}
		if got := []uint64{noiseOf(t, there, dp.WholeScope, g), noiseOf(t, there, half, g), there.Randomness("x").Uint64()}; !slices.Equal(got, want) {
			t.Errorf("noise elsewhere %x, here %x", got, want)
		}
		if !there.Seeded() {
			t.Error("the taint of a seed was lost on the way")
		}
		if _, err := Open(rows(t), there, dp.WholeScope, g); !errors.Is(err, ErrNotReserved) {
			t.Errorf("a second release by one token: %v", err)
		}
		if _, err := Open(rows(t), there, dp.WholeScope, dp.DiscreteLaplace{NoiseMultiplier: 2}); !errors.Is(err, ErrNotReserved) {
			t.Errorf("a release that the token does not hold: %v", err)
		}
	}
	if _, err := Open(rows(t), p, dp.WholeScope, g); !errors.Is(err, ErrNotReserved) {
		t.Errorf("the last gaussian was sent away and is here still: %v", err)
	}
	if _, err := Open(rows(t), sent, half, g); err == nil {
		t.Error("a permit that was sent away releases here")
	}
	if !p.Opened() {
		t.Error("rows may have been opened elsewhere, and the reservation could be cancelled")
	}
}

// What a permit does not hold, or has used, does not travel, and nothing is lost by asking.
func TestOnlyWhatIsReservedTravels(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 2}
	p := streamPermit(t, 1)
	over := make([]dp.Event, 9)
	for i := range over {
		over[i] = g
	}
	for name, event := range map[string]dp.Event{
		"less noise": dp.Gaussian{NoiseMultiplier: 1}, "more of them": dp.Compose{Events: over},
		"another scope": dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: 0.4}, Event: g}, "invalid": dp.Gaussian{},
	} {
		if _, err := Travel(trialOf(t, p, uint64(len(name))), fleetKey, event, "s", "1"); err == nil {
			t.Errorf("%s travelled", name)
		}
	}
	used := trialOf(t, p, 100)
	noiseOf(t, used, dp.WholeScope, g)
	if _, err := Travel(used, fleetKey, g, "s", "1"); err == nil {
		t.Error("a permit that has drawn noise here travelled with the same stream")
	}
	parent := trialOf(t, p, 101)
	trialOf(t, parent, 1)
	if _, err := Travel(parent, fleetKey, g, "s", "1"); err == nil {
		t.Error("a permit travelled whose part draws noise here, and could be handed out there again")
	}
	for range 7 {
		noiseOf(t, p, dp.WholeScope, g)
	}
	closed := trialOf(t, streamPermit(t, 1), 1)
	closed.Close()
	for _, q := range []*Permit{nil, {}, closed} {
		if _, err := Travel(q, fleetKey, g, "s", "1"); err == nil {
			t.Error("an empty or closed permit travelled")
		}
	}
}

// A token is good for its own study and trial, under its key, as it was made.
func TestForeignTokensAreRefused(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 2}
	token, err := Travel(trialOf(t, streamPermit(t, 1), 1), fleetKey, g, "s", "1")
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, made []byte, key [32]byte, study, trial string) {
		t.Helper()
		if _, err := Arrive(made, key, study, trial); !errors.Is(err, ErrToken) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("another key", token, [32]byte{8}, "s", "1")
	refused("another study", token, fleetKey, "t", "1")
	refused("another trial", token, fleetKey, "s", "2")
	refused("nothing", nil, fleetKey, "s", "1")
	for field, value := range map[string]any{"id": "other", "dataset": "other", "max_rows": 9, "relation": dp.ReplaceOne, "key": "k", "rule": "r",
		"event": json.RawMessage(mustEncode(t, dp.Gaussian{NoiseMultiplier: 0.1})), "stream": []byte("short")} {
		var all map[string]any
		if err := json.Unmarshal(token, &all); err != nil {
			t.Fatal(err)
		}
		all[field] = value
		edited, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		refused("edited "+field, edited, fleetKey, "s", "1")
	}
	var all map[string]any
	if err := json.Unmarshal(token, &all); err != nil {
		t.Fatal(err)
	}
	all["study"] = "t" // and shown as such
	edited, _ := json.Marshal(all)
	refused("renamed", edited, fleetKey, "t", "1")
}

func mustEncode(t *testing.T, e dp.Event) []byte {
	t.Helper()
	b, err := dp.EncodeEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealedStreams(t *testing.T) {
	src, err := entropy.New()
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := src.Seal(fleetKey, []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	back, err := entropy.Unseal(fleetKey, []byte("a"), sealed)
	if err != nil || back.Uint64() != src.Uint64() || back.Seeded() {
		t.Errorf("another stream came back (%v)", err)
	}
	again, err := src.Seal(fleetKey, []byte("a"))
	if err != nil || bytes.Equal(again, sealed) {
		t.Error("two sealings show that they hold one stream")
	}
	if _, err := entropy.Unseal(fleetKey, []byte("b"), sealed); !errors.Is(err, entropy.ErrTravel) {
		t.Errorf("another binding: %v", err)
	}
}
