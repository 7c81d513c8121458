package entropy

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// TestStreamsMatchOutsideComputation pins every stream to words that another
// implementation of AES and HMAC computed. Do NOT edit the outputs.
func TestStreamsMatchOutsideComputation(t *testing.T) {
	data, err := os.ReadFile("testdata/streams.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Name  string
			Skip  int
			Words []string
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	var key [32]byte
	for i := range key {
		key[i] = byte(i)
	}
	sources := map[string]*Source{
		"seeded 0":                          Seeded(0),
		"seeded 1":                          Seeded(1),
		"seeded 1, past two buffers":        Seeded(1),
		"seeded max":                        Seeded(1<<64 - 1),
		"seeded 1 split noise":              Seeded(1).Split("noise"),
		"seeded 1 split noise 3 7":          Seeded(1).Split("noise", 3, 7),
		"seeded 1 split lot 3 split step 7": Seeded(1).Split("lot", 3).Split("step", 7),
		"key 00..1f":                        fromKey(key),
		"key 00..1f derive trial (study, 12)": fromKey(Derive(key, "trial",
			[]byte("study"), binary.LittleEndian.AppendUint64(nil, 12))),
	}
	if len(golden.Cases) != len(sources) {
		t.Fatalf("%d golden cases, %d sources", len(golden.Cases), len(sources))
	}
	for _, c := range golden.Cases {
		t.Run(c.Name, func(t *testing.T) {
			src := sources[c.Name]
			if src == nil {
				t.Fatal("no such source")
			}
			for range c.Skip {
				src.Uint64()
			}
			for i, want := range c.Words {
				if got := fmt.Sprintf("%016x", src.Uint64()); got != want {
					t.Errorf("word %d: got %s, want %s", c.Skip+i, got, want)
				}
			}
		})
	}
}
