package table

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// workbook is a file that fill has written into.
func workbook(t *testing.T, fill func(f *excelize.File) error) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	if err := fill(f); err != nil {
		t.Fatal(err)
	}
	b, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lines fills a sheet from its first row on.
func lines(f *excelize.File, sheet string, rows ...[]any) error {
	for i, row := range rows {
		at, err := excelize.CoordinatesToCellName(1, i+1)
		if err == nil {
			err = f.SetSheetRow(sheet, at, &row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The cells of a sheet are the texts of a CSV of it: numbers with all digits whatever their
// format, dates by ISO 8601.
func TestSheetIsTheTableOfItsTexts(t *testing.T) {
	book := workbook(t, func(f *excelize.File) error {
		if _, err := f.NewSheet("wards"); err != nil {
			return err
		}
		day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
		if err := lines(f, "Sheet1", []any{"age", "share", "id", "day", "at", "ill"},
			[]any{31, 0.123456789012, "007", day, day.Add(90 * time.Minute), true},
			[]any{62, 12, "a, b", nil, nil, false}); err != nil {
			return err
		}
		percent, err := f.NewStyle(&excelize.Style{NumFmt: 9})
		if err != nil {
			return err
		}
		if err := f.SetCellStyle("Sheet1", "B2", "B3", percent); err != nil {
			return err
		}
		return lines(f, "wards", []any{"ward"}, []any{"a"})
	})
	in(t, map[string][]byte{"visits.xlsx": book})
	got, err := cells(t, "visits.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(got, "\n")
	if rows[0] != "age,share,id,day,at,ill" {
		t.Errorf("header %q", rows[0])
	}
	for _, want := range []string{"31,0.123456789012,007,2024-02-29,2024-02-29 01:30:00,TRUE", "62,12,a, b,,,FALSE"} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no row %q in %q", want, got)
		}
	}
	if got, err := cells(t, "visits.xlsx#wards"); err != nil || got != "ward\na\n" {
		t.Errorf("the other sheet: %q, %v", got, err)
	}
	refused(t, "visits.xlsx#beds", `no sheet "beds"`)
}

// What a sheet has beyond a table is refused in one line that shows no cell.
func TestSheetsThatAreNoTables(t *testing.T) {
	header := []any{"age", "ward"}
	books := map[string]func(f *excelize.File) error{
		"the cells A1:B1 are merged": func(f *excelize.File) error {
			if err := lines(f, "Sheet1", header, []any{31, "secret"}); err != nil {
				return err
			}
			return f.MergeCell("Sheet1", "A1", "B1")
		},
		"cell B2 has a formula without its result": func(f *excelize.File) error {
			if err := lines(f, "Sheet1", header, []any{31}); err != nil {
				return err
			}
			return f.SetCellFormula("Sheet1", "B2", "=A2*2")
		},
		"column B has no name": func(f *excelize.File) error {
			return lines(f, "Sheet1", []any{"age", nil, "ward"}, []any{31, 1, "secret"})
		},
		"column B repeats the name of another column": func(f *excelize.File) error { return lines(f, "Sheet1", []any{"age", "age"}, []any{31, "secret"}) },
		"row 3 is blank": func(f *excelize.File) error {
			return lines(f, "Sheet1", header, []any{31, "secret"}, []any{}, []any{32, "b"})
		},
		"row 2 has a cell in column C": func(f *excelize.File) error { return lines(f, "Sheet1", header, []any{31, "secret", 4}) },
		"the sheet is empty":           func(*excelize.File) error { return nil },
	}
	for want, fill := range books {
		in(t, map[string][]byte{"book.xlsx": workbook(t, fill)})
		refused(t, "book.xlsx", want)
		if _, err := cells(t, "book.xlsx"); err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("shows a cell: %v", err)
		}
	}
	whole := workbook(t, func(f *excelize.File) error { return lines(f, "Sheet1", header, []any{31, "a"}) })
	in(t, map[string][]byte{"cut.xlsx": whole[:len(whole)/2], "old.xls": append([]byte{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1}, make([]byte, 600)...)})
	refused(t, "cut.xlsx", "cut.xlsx")
	refused(t, "old.xls", "a password, or of an old format")
}

// Nothing of a large sheet is written in the clear beside the process: the library would
// spill it to the temporary folder.
func TestSheetsSpillNothing(t *testing.T) {
	book := workbook(t, func(f *excelize.File) error {
		w, err := f.NewStreamWriter("Sheet1")
		if err != nil {
			return err
		}
		if err := w.SetRow("A1", []any{"a", "b"}); err != nil {
			return err
		}
		long := strings.Repeat("x", 1<<10)
		for i := range 20_000 { // above the library's 16 MB
			at, _ := excelize.CoordinatesToCellName(1, i+2)
			if err := w.SetRow(at, []any{i, long}); err != nil {
				return err
			}
		}
		return w.Flush()
	})
	in(t, map[string][]byte{"large.xlsx": book, "tmp/keep": nil})
	t.Setenv("TMPDIR", "tmp")
	if _, err := cells(t, "large.xlsx"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir("tmp"); err != nil || len(left) != 1 {
		t.Errorf("the temporary folder holds %v, %v", left, err)
	}
}
