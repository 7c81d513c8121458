package table

import (
	"pawl/internal/usage"
	"pawl/reader"
)

func sheet(name, _ string, _ []byte) (reader.Part, error) {
	return reader.Part{}, usage.New(name+": a workbook", "save the sheet as CSV in UTF-8")
}
