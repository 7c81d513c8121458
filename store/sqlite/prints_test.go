package sqlite

import (
	"database/sql"
	"testing"

	"pawl/core/ledger"
)

// A file of before has no table of prints. It gets one, and stays readable for the version that made it.
func TestFilesOfBeforeGetPrints(t *testing.T) {
	path := spent(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`DROP TABLE ledger_prints`); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s := open(t, path)
		err := s.Update(ctx, func(tx ledger.Tx) error { return tx.KeepPrint("d", [32]byte{1}, []byte("print")) })
		if err == nil {
			err = s.View(ctx, func(tx ledger.Tx) error {
				kept, err := tx.Prints("d")
				if len(kept) != 1 || string(kept[0]) != "print" {
					t.Errorf("kept %q", kept)
				}
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var version int
	if err := db.QueryRow(`SELECT version FROM ledger_version`).Scan(&version); err != nil || version != 1 {
		t.Errorf("version %d, %v", version, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
