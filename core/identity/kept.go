package identity

import "slices"

// Kept is what a store keeps of one data set: prints and writings, as they were marshalled. What cannot be
// read is an error: what it would recognise could pass unseen.
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

// Alike returns how much the closest of the found prints is like one that is kept.
func (k Kept) Alike(found []*Print) (most Likeness, err error) {
	known, err := k.prints()
	for _, p := range known {
		for _, f := range found {
			most = max(most, Alike(p, f))
		}
	}
	return most, err
}

// Recorded compares the first found print of a kind with those that are kept: same says that it is one of
// them, others that there are some and it is none.
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

// Rewritten reports whether an identifier is written differently from what is kept. A unit whose identifier is
// written differently counts as another unit, in another place.
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
