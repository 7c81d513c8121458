package dataset

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Entry is one number of a sparse row.
type Entry struct {
	Feature int32
	Value   float32
}

// Sparse is a table of numbers of which nearly all are zero, with two classes.
type Sparse struct {
	// Features is the number of columns: the largest index that a file declares, plus one.
	Features int
	// Labels are 0 or 1, Rows in rising order of features.
	Labels []int32
	Rows   [][]Entry
}

// sparses describes the built-in sparse tables.
func sparses() []Info {
	return []Info{{
		Name: "rcv1-small", Title: "RCV1, a sample (news stories as words)", Task: Classification, Target: "label",
		Licence:  "for research; the files are part of a program under BSD-3-Clause",
		Source:   "https://github.com/VowpalWabbit/vowpal_wabbit",
		Citation: "Lewis, D., Yang, Y., Rose, T. and Li, F. (2004). RCV1: A New Benchmark Collection for Text Categorization Research. JMLR 5.",
		KnownProblems: []string{
			"a sample of 1,500 of more than 800,000 stories; which, and which topic the label stands for, is not documented",
			"rows were scaled to norm 1 by their publisher",
		},
		Rows: 1000, TestRows: 500,
		Files: []File{
			{"rcv1-small/rcv1_small.dat.gz", "348d59a15f8161852b817fedd45a0a9efa5e2602ea86d9e920ba7079f633e084"},
			{"rcv1-small/rcv1_small_test.data.gz", "c0f5f4a00497c5cec53b47c0ebb8428cc7c364d436ac10f64b5be33d90bfe293"},
		},
	}}
}

// rcv1Features is one more than the largest index in use.
const rcv1Features = 47237

// LoadSparse reads a built-in sparse table: rcv1-small. Contents are checked against
// their SHA-256.
func LoadSparse(name, dataDir string) (train, test *Sparse, err error) {
	for _, info := range sparses() {
		if !strings.EqualFold(info.Name, name) {
			continue
		}
		var parts [2]*Sparse
		for i, want := range []int{info.Rows, info.TestRows} {
			content, err := info.content(info.Files[i], dataDir)
			if err != nil {
				return nil, nil, err
			}
			if parts[i], err = ReadSparse(info.Files[i].Path, bytes.NewReader(content), rcv1Features); err != nil {
				return nil, nil, err
			}
			if len(parts[i].Rows) != want {
				return nil, nil, fmt.Errorf("data set %q: the file does not hold %d rows", info.Name, want)
			}
		}
		return parts[0], parts[1], nil
	}
	return nil, nil, fmt.Errorf("data set %q: not a built-in sparse table", name)
}

// ReadSparse reads one row a line: its class, -1 or 1, a word that begins with a bar,
// and blank-separated pairs index:value, indices below features and rising. Errors name the line and
// repeat nothing of it.
func ReadSparse(name string, r io.Reader, features int) (*Sparse, error) {
	s := &Sparse{Features: features}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<16), maxText)
	for line := 1; lines.Scan(); line++ {
		label, row, err := sparseRow(lines.Text(), features)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		s.Labels, s.Rows = append(s.Labels, label), append(s.Rows, row)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func sparseRow(line string, features int) (label int32, row []Entry, err error) {
	words := strings.Fields(line)
	if len(words) < 2 || !strings.HasPrefix(words[1], "|") {
		return 0, nil, fmt.Errorf("no class and bar at the beginning")
	}
	switch words[0] {
	case "1", "+1":
		label = 1
	case "-1":
	default:
		return 0, nil, fmt.Errorf("the class is neither 1 nor -1")
	}
	last := -1
	for k, word := range words[2:] {
		index, value, ok := strings.Cut(word, ":")
		i, errIndex := strconv.Atoi(index)
		v, errValue := strconv.ParseFloat(value, 32)
		switch {
		case !ok || errIndex != nil || errValue != nil || math.IsNaN(v) || math.IsInf(v, 0):
			return 0, nil, fmt.Errorf("pair %d is no index and finite number", k+1)
		case i <= last || i >= features:
			return 0, nil, fmt.Errorf("pair %d: the index is not above the one before and below %d", k+1, features)
		}
		row, last = append(row, Entry{int32(i), float32(v)}), i
	}
	return label, row, nil
}
