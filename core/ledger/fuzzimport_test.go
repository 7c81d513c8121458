package ledger_test

import (
	"bytes"
	"context"
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/store/memory"
)

// Whatever stands in a file, Import books it whole or says why not, and what it
// booked verifies.
func FuzzImport(f *testing.F) {
	from := ledger.New(memory.New(), nil, ledger.Options{User: "ann"})
	if err := from.Create(context.Background(), ledger.Budget{Dataset: "d", Epsilon: "1", Delta: "0", Relation: dp.AddOrRemoveOne}); err != nil {
		f.Fatal(err)
	}
	for _, secret := range []bool{false, true} {
		var b bytes.Buffer
		if _, err := from.Export(context.Background(), &b, ledger.Export{Datasets: []string{"d"}, WithSecret: secret}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"pawl_ledger_export":1,"key_id":"","heads":{}}`))
	f.Add([]byte(`{"pawl_ledger_export":1,"key_id":"","heads":{"d":{"seq":0,"hash":""}}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		ctx := context.Background()
		l := ledger.New(memory.New(), nil, ledger.Options{User: "ann"})
		got, err := l.Import(ctx, bytes.NewReader(file))
		names, listErr := l.Names(ctx)
		if listErr != nil {
			t.Fatal(listErr)
		}
		if err != nil && len(names) > 0 {
			t.Errorf("%v, and yet %v was booked", err, names)
		}
		for _, d := range got {
			if err := l.Verify(ctx, d.Name, d.Head.String()); err != nil {
				t.Error(err)
			}
		}
	})
}
