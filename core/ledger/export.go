package ledger

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// exportVersion is the version of the export format written here.
const exportVersion = 1

// exportHeader is the first line of an export. The heads are there so that a file
// that was cut short is noticed.
type exportHeader struct {
	Version int `json:"pawl_ledger_export"`
	// KeyID tells whether two ledgers have the same secret, and nothing about it.
	KeyID string `json:"key_id"`
	// Secret is there only when it was asked for.
	Secret string          `json:"secret,omitempty"`
	Heads  map[string]Head `json:"heads"`
}

// Export selects what to write.
type Export struct {
	Datasets []string
	// WithSecret includes the ledger's secret key. Anybody who has it can determine the scope of a
	// person's rows and guess small tables from their digests, so the file must be protected like the
	// data.
	WithSecret bool
}

// Export writes the verified logs of data sets as JSON lines: a header, then each
// record as it was hashed. It returns the heads of the logs.
//
// The secret key of the ledger decides which scope each unit is in. Without it, records can be
// checked and priced anywhere, but an account with scopes continues only in a ledger with the same
// secret.
func (l *Ledger) Export(ctx context.Context, w io.Writer, what Export) (map[string]Head, error) {
	secret, err := l.secret(ctx)
	if err != nil {
		return nil, err
	}
	heads := map[string]Head{}
	header := exportHeader{Version: exportVersion, KeyID: keyID(secret), Heads: heads}
	if what.WithSecret {
		header.Secret = hex.EncodeToString(secret)
	}
	var all []Record
	for _, name := range what.Datasets {
		if _, twice := heads[name]; twice {
			return nil, invalid("data set %q is named twice", name)
		}
		records, err := l.Records(ctx, name)
		if err != nil {
			return nil, err
		}
		last := records[len(records)-1]
		heads[name] = Head{Seq: last.Seq, Hash: last.Hash}
		all = append(all, records...)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false) // the hash of a body is over its bytes
	if err := out.Encode(header); err != nil {
		return nil, err
	}
	for i := range all {
		line := exportLine{Record: all[i], Body: string(all[i].Body)}
		if err := out.Encode(line); err != nil {
			return nil, fmt.Errorf("writing record %d of %q: %w", all[i].Seq, all[i].Dataset, err)
		}
	}
	return heads, nil
}

// exportLine is a record whose body is text and not JSON within JSON, so that no
// reader or writer between reformats what was hashed.
type exportLine struct {
	Record
	Body string `json:"body"`
}

// keyID is a public name of a secret.
func keyID(secret []byte) string {
	key := derive(secret, "pawl ledger key id", "")
	return hex.EncodeToString(key[:8])
}
