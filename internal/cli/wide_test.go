package cli

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// writeWide makes notes.csv, in which two words decide, photos.csv with photos.npy, in
// which one direction decides, and vectors with faults.
func writeWide(dir string, rows int) error {
	rng := rand.New(rand.NewPCG(12, uint64(rows)))
	words := strings.Fields("the and today patient room was seen again later with doctor asked for some water")
	var notes, photos, keys bytes.Buffer
	notes.WriteString("note,urgent\n")
	photos.WriteString("photo,age,ill\n")
	var vectors [][]float32
	for i := range rows {
		urgent, note := "no", "all well, thank you"
		if rng.IntN(2) == 0 {
			urgent, note = "yes", "pain, blood!"
		}
		for range 5 {
			note += " " + words[rng.IntN(len(words))]
		}
		fmt.Fprintf(&notes, "\"%s\",%s\n", note, urgent)
		v := make([]float32, 4)
		for j := range v {
			v[j] = float32(rng.NormFloat64())
		}
		ill := "no"
		if v[2] > 0 {
			ill = "yes"
		}
		vectors = append(vectors, v)
		fmt.Fprintf(&photos, "p%d,%d,%s\n", i, rng.IntN(100), ill)
		fmt.Fprintf(&keys, "p%d\n", i)
	}
	nan := [][]float32{{1, 2, 3, 4}, {1, float32(math.NaN()), 3, 4}}
	for name, content := range map[string][]byte{
		"notes.csv": notes.Bytes(), "photos.csv": photos.Bytes(),
		"photos.npy": npy(vectors), "photos.keys": keys.Bytes(),
		"nan.npy": npy(nan), "nan.keys": []byte("p1\np2\n"),
		"twice.npy": npy(vectors[:2]), "twice.keys": []byte("p1\np1\n"),
		"other.npy": npy([][]float32{{1, 2, 3}}), "other.keys": []byte("p1\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func npy(rows [][]float32) []byte {
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", len(rows), len(rows[0]))
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	b := []byte("\x93NUMPY\x01\x00")
	b = append(binary.LittleEndian.AppendUint16(b, uint16(len(head))), head...)
	for _, v := range rows {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return b
}
