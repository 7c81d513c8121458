package schema

// Found is one cell of a record as it stands in the file.
type Found struct {
	Text string
	// Null tells a cell that a typed file has not from one that holds an empty text.
	Null bool
}

// Record is a row as it was found, before the schema made numbers of it: what tells
// it from other rows must not change when bounds, types, the order of columns or a
// front end do.
type Record struct {
	// Unit is the text of the unit's column; empty where each row is a unit.
	Unit string
	// Columns are the names of the file's columns in the order of Cells, sorted, the
	// same slice for all records of a file.
	Columns []string
	// Cells may be overwritten by the next record.
	Cells []Found
	// Raw is what was found beside the cells, such as a digest of the vector behind a
	// key, or in their place, such as the pixels of an image in its own shape and the
	// name of its class. With neither, a row is its numbers: made-up rows were not
	// found anywhere.
	Raw []byte
}
