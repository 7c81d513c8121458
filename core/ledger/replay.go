package ledger

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"pawl/core/entropy"
)

// Replay names a computation that may be repeated, such as a training run with a checkpoint. The
// ledger derives its noise and its name from the Secret and from everything that determines the
// computation: data set, event, bytes, terms of the unit, and Of. A second reservation that agrees
// in all of them costs nothing and gets the same streams; one that differs in any is another
// computation, which is charged and has unrelated noise.
type Replay struct {
	Secret entropy.Secret
	// Of holds everything on which the output depends besides the event and the data: all settings,
	// the kernel, the version of the software. Two different computations with equal Of would share
	// their noise, and their difference would reveal what it hides.
	Of []byte
}

// origin returns the root of the permit's streams, and the key under which the ledger
// knows the computation: empty for one that cannot be run again.
func (q *Request) origin(event []byte) (key string, root *entropy.Source, err error) {
	switch {
	case q.Seed != nil:
		if q.Plan != "" {
			key = fmt.Sprintf("seed %d %s", *q.Seed, q.Plan)
		}
		return key, entropy.Seeded(*q.Seed), nil
	case q.Replay != nil:
		of := [][]byte{[]byte(q.Dataset), event, q.Digest, []byte(q.Relation.String()), []byte(q.Unit), []byte(q.UnitColumn), []byte(q.assignment("")),
			binary.LittleEndian.AppendUint64(nil, uint64(q.RowsPerUnit)), q.Replay.Of}
		name := q.Replay.Secret.Key("pawl replay", of...)
		return "replay " + hex.EncodeToString(name[:]), q.Replay.Secret.Source("pawl replay", of...), nil
	}
	root, err = entropy.New()
	return "", root, err
}
