package identity

import "slices"

// Kept holds the stored prints and writings of one data set, as marshalled. An unreadable entry is an
// error, since the copies that it would recognise could go undetected.
type Kept [][]byte

func (k Kept) prints() (prints []*Print, err error) {
	for _, b := range k {
		if IsWritings(b) {
			continue
		}
		p, err := Unmarshal(b)
		if err != nil {
			return nil, err
		}
		prints = append(prints, p)
	}
	return prints, nil
}

// Alike returns the greatest likeness of a found print to a stored one.
func (k Kept) Alike(found []*Print) (most Likeness, err error) {
	known, err := k.prints()
	for _, p := range known {
		for _, f := range found {
			most = max(most, Alike(p, f))
		}
	}
	return most, err
}

// Recorded compares the first found print of a kind with the stored ones: same reports that it is one of
// them, others that there are stored prints and it is none of them.
func (k Kept) Recorded(found []*Print, kind Kind) (same, others bool, err error) {
	i := slices.IndexFunc(found, func(p *Print) bool { return p.Kind == kind })
	if i < 0 {
		return false, false, nil
	}
	known, err := k.prints()
	for _, p := range known {
		same, others = same || p.Kind == kind && p.Identity == found[i].Identity, others || p.Kind == kind
	}
	return same, others && !same, err
}

// Rewritten reports whether an identifier is written differently from the stored form. A unit whose identifier
// is written differently counts as another unit, in another place.
func (k Kept) Rewritten(w *Writings) (bool, error) {
	for _, b := range k {
		if !IsWritings(b) {
			continue
		}
		known, err := UnmarshalWritings(b)
		if err != nil {
			return false, err
		}
		if !known.Agree(w) {
			return true, nil
		}
	}
	return false, nil
}
