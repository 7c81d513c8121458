package dataset

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The subset of CIFAR-10: the first images in the official order, without a few.
const (
	cifarRecord = 3073
	cifarBatch  = 10000
	cifarTrain  = 10010
	cifarTest   = 2003
)

// maxArchive bounds the publisher's archive after decompression, which has 184 MB.
const maxArchive = 512 << 20

// unpackCIFAR makes the four files of the subset from the publisher's archive. What
// it makes is compared with the checksums of Info.Files by the caller.
func unpackCIFAR(archive io.Reader) ([][]byte, error) {
	z, err := gzip.NewReader(archive)
	if err != nil {
		return nil, fmt.Errorf("not a gzip file: %w", err)
	}
	// The training images begin in the first batch and end in the second.
	want := map[string]int{"data_batch_1.bin": cifarBatch, "data_batch_2.bin": cifarTrain - cifarBatch, "test_batch.bin": cifarTest}
	got := map[string][]byte{}
	for t := tar.NewReader(io.LimitReader(z, maxArchive)); len(got) < len(want); {
		head, err := t.Next()
		if err == io.EOF {
			return nil, errors.New("the archive lacks a batch")
		}
		if err != nil {
			return nil, fmt.Errorf("a damaged archive: %w", err)
		}
		name := path.Base(head.Name)
		records, ok := want[name]
		if !ok || got[name] != nil {
			continue
		}
		content := make([]byte, records*cifarRecord)
		if _, err := io.ReadFull(t, content); err != nil {
			return nil, fmt.Errorf("%s is truncated: %w", name, err)
		}
		got[name] = content
	}
	train, trainAt := without(append(got["data_batch_1.bin"], got["data_batch_2.bin"]...), []int{4298, 5949, 7066, 7237, 7248, 7630, 8006, 8831, 8968, 9415})
	test, testAt := without(got["test_batch.bin"], []int{1259, 1369, 1422})
	return [][]byte{train, trainAt, test, testAt}, nil
}

// without drops records and lists the positions of those that stay, one a line.
func without(records []byte, leftOut []int) (kept, positions []byte) {
	for i := range len(records) / cifarRecord {
		if !slices.Contains(leftOut, i) {
			kept = append(kept, records[i*cifarRecord:(i+1)*cifarRecord]...)
			positions = append(strconv.AppendInt(positions, int64(i), 10), '\n')
		}
	}
	return kept, positions
}

// parsePositions reads rising numbers, one a line.
func parsePositions(text []byte) ([]int, error) {
	var out []int
	for i, line := range strings.Split(string(bytes.TrimSuffix(text, []byte("\n"))), "\n") {
		n, err := strconv.Atoi(line)
		if err != nil || n < 0 || i > 0 && n <= out[i-1] {
			return nil, fmt.Errorf("line %d of the positions is not a number above the one before", i+1)
		}
		out = append(out, n)
	}
	return out, nil
}
