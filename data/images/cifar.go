package images

import "io"

const (
	cifarSide   = 32
	cifarPlane  = cifarSide * cifarSide
	cifarRecord = 1 + 3*cifarPlane
)

// CIFAR10Classes are the classes of CIFAR-10 in the order of its labels.
func CIFAR10Classes() []string {
	return []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}
}

// CIFAR10 reads records of 3,073 bytes: a label, then the red, the green and the
// blue plane of 32×32 pixels. Krizhevsky, "Learning Multiple Layers of Features
// from Tiny Images", 2009; the layout is described beside the files.
// Gzip is told by content. Errors are *FormatError, or of the underlying reader.
func CIFAR10(files ...Source) (*Set, error) {
	set := &Set{Shape: [3]int{cifarSide, cifarSide, 3}, Classes: CIFAR10Classes()}
	if len(files) == 0 {
		return nil, &FormatError{File: "CIFAR-10", Msg: "no file was named"}
	}
	for _, src := range files {
		if err := set.cifar(src); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func (set *Set) cifar(src Source) error {
	s, err := newStream(src)
	if err != nil {
		return err
	}
	var record [cifarRecord]byte
	for n := 1; ; n++ {
		// Only the end between two records is the end of the file.
		if _, err := io.ReadFull(s.r, record[:1]); err == io.EOF {
			if n == 1 {
				return &FormatError{File: src.Name, Msg: "the file is empty"}
			}
			return nil
		} else if err != nil {
			return s.fault(err, "")
		}
		if err := s.full(record[1:], "the file ends inside a record of 3,073 bytes"); err != nil {
			return err
		}
		l, err := label(src.Name, n, int64(record[0]), set.Classes)
		if err != nil {
			return err
		}
		if int64(len(set.Bytes))+cifarRecord > MaxBytes {
			return &FormatError{File: src.Name, Msg: "more images than pawl reads: 4 GiB in total"}
		}
		at := len(set.Bytes)
		set.Bytes = reserve(set.Bytes, 3*cifarPlane, maxInt)[:at+3*cifarPlane]
		set.Labels = append(set.Labels, l)
		for p := range cifarPlane {
			for c := range 3 {
				set.Bytes[at+3*p+c] = record[1+c*cifarPlane+p]
			}
		}
	}
}
