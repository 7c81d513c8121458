package attack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// Pool is a part that records play in an attack with shadow models.
type Pool string

const (
	// TargetIn are the records that the target was trained on, TargetOut those on which
	// it is attacked beside them.
	TargetIn  Pool = "target_in"
	TargetOut Pool = "target_out"
	// ShadowIn and ShadowOut are the same of the shadow models.
	ShadowIn  Pool = "shadow_in"
	ShadowOut Pool = "shadow_out"
	// Population are the records that RMIA compares with.
	Population Pool = "population"
)

// Pools lists every pool.
func Pools() []Pool { return []Pool{TargetIn, TargetOut, ShadowIn, ShadowOut, Population} }

// Manifest keeps which record is in which pool, as keyed hashes, and refuses a record that
// is put into two: an attack model that has seen a record of the target with its
// membership, or a "non-member" that the target was trained on, makes success and failure
// meaningless.
//
// LiRA trains its shadow models on the very records under attack, by design: these are in
// TargetIn and TargetOut, and Shadows.In says which model saw which. ShadowIn and
// ShadowOut are for attack models that are trained on shadows.
type Manifest struct {
	key  [32]byte
	pool map[[sha256.Size]byte]Pool
}

// NewManifest starts a manifest. Who knows the key can tell whether a record is listed;
// without it, equal records are recognised and nothing else.
func NewManifest(key [32]byte) *Manifest {
	return &Manifest{key: key, pool: map[[sha256.Size]byte]Pool{}}
}

// Add puts records into a pool. A record is named by its index in the data set or by its
// bytes, as long as it is the same for all pools; with bytes, equal rows of two pools are
// found too. A record that is in another pool, or in this one already, is refused with
// ErrOverlap, and then none of these is added.
func (m *Manifest) Add(pool Pool, records ...[]byte) error {
	if !slices.Contains(Pools(), pool) {
		return invalid("no pool %q; there are %q", pool, Pools())
	}
	fresh := map[[sha256.Size]byte]bool{}
	for _, r := range records {
		h := m.hash(r)
		if other, ok := m.pool[h]; ok {
			return fmt.Errorf("%w: a record of %s is in %s too", ErrOverlap, pool, other)
		}
		if fresh[h] {
			return fmt.Errorf("%w: a record is in %s twice", ErrOverlap, pool)
		}
		fresh[h] = true
	}
	for h := range fresh {
		m.pool[h] = pool
	}
	return nil
}

func (m *Manifest) hash(record []byte) [sha256.Size]byte {
	mac := hmac.New(sha256.New, m.key[:])
	mac.Write([]byte("pawl attack manifest\x00"))
	mac.Write(record)
	return [sha256.Size]byte(mac.Sum(nil))
}

// Has reports whether a record is in a pool.
func (m *Manifest) Has(pool Pool, record []byte) bool { return m.pool[m.hash(record)] == pool }

// Sizes are the numbers of records in each pool.
func (m *Manifest) Sizes() map[Pool]int {
	sizes := map[Pool]int{}
	for _, p := range m.pool {
		sizes[p]++
	}
	return sizes
}

// Hashes lists the keyed hashes of a pool in hexadecimal, sorted: the order of records is
// not kept.
func (m *Manifest) Hashes(pool Pool) []string {
	var all []string
	for h, p := range m.pool {
		if p == pool {
			all = append(all, hex.EncodeToString(h[:]))
		}
	}
	slices.Sort(all)
	return all
}

// MarshalJSON writes the hashes by pool, without the key.
func (m *Manifest) MarshalJSON() ([]byte, error) {
	by := map[Pool][]string{}
	for _, p := range Pools() {
		if h := m.Hashes(p); len(h) > 0 {
			by[p] = h
		}
	}
	return json.Marshal(by)
}
