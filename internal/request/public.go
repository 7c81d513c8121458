package request

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"pawl/compute/nn"
	"pawl/data/source"
	"pawl/internal/usage"
	"pawl/workflow"
)

// publicImages are images that are used without noise, and the words that named them.
type publicImages struct {
	*source.Images
	given string // "--public FILE", "--search-on NAME"
}

// set names them in a plan.
func (o *publicImages) set() (*workflow.PublicSet, error) {
	hash := sha256.New()
	if _, err := io.Copy(hash, o.Digested()); err != nil {
		return nil, err
	}
	return &workflow.PublicSet{Name: o.Name, SHA256: hex.EncodeToString(hash.Sum(nil)), Rows: int64(o.Train.Len())}, nil
}

// teacher opens the public images on which a network is trained first, nil for none.
func (d *Desk) teacher(ctx context.Context, f *Train, dataDir string, p *source.Images) (*publicImages, error) {
	name := f.Public
	switch {
	case name == "" && f.PublicLabels != "":
		return nil, usage.New("--public-labels goes with --public", "name the public images: --public FILE")
	case name == "":
		return nil, nil
	case source.IsImages(name) && f.PublicLabels != "":
		return nil, usage.New(fmt.Sprintf("--public-labels is for images of your own, and %s is a built-in data set", name), "leave it out")
	case f.NonPrivate:
		return nil, usage.New("--public and --non-private exclude each other", "leave out one of them")
	case name == p.Name:
		return nil, usage.New(fmt.Sprintf("--public %s: these are the protected data themselves", name), "name other, public images")
	}
	open := func() (*source.Images, error) {
		if source.IsImages(name) {
			return source.OpenImages(name, dataDir, "", "", "")
		}
		o, err := source.OpenOwnImages(name, f.PublicLabels, strings.Join(p.Train.Classes, ","))
		if err == nil {
			o.Public, o.Own = true, false
			err = o.DeclareRows("--public", "public")
		}
		return o, err
	}
	o, err := open()
	if err != nil {
		return nil, fmt.Errorf("--public: %w", err)
	}
	declared := o.Schema()
	if err := source.EffectivePublic(ctx, d.Ledger, o.Name, declared); err != nil {
		return nil, err
	}
	a, b := o.Train, p.Train
	switch {
	case !declared.Public:
		return nil, usage.New(fmt.Sprintf("--public %s: the ledger lists a sensitive data set of this name", name), "name other, public images, or rename the file where it holds others")
	case a.Shape != b.Shape:
		return nil, usage.New(fmt.Sprintf("--public %s: its images are %s, those of %s are %s", name, shapeOf(a.Shape), p.Name, shapeOf(b.Shape)), "name public images of the same size")
	case !slices.Equal(a.Classes, b.Classes):
		return nil, usage.New(fmt.Sprintf("--public %s: its classes are %s, those of %s are %s", name, classWords(a.Classes), p.Name, classWords(b.Classes)), "name public images of the same classes")
	case a.Len() == 0:
		return nil, usage.New(fmt.Sprintf("--public %s: it has no images", name), "name other, public images")
	}
	return &publicImages{o, "--public " + name}, nil
}

// shapeOf is the shape of images: height, width and channels.
func shapeOf(s [3]int) nn.Shape { return nn.Shape{Height: s[0], Width: s[1], Channels: s[2]} }

// classWords are the first classes, and how many there are.
func classWords(c []string) string {
	if len(c) > 4 {
		return fmt.Sprintf("%s, … (%d)", strings.Join(c[:4], ", "), len(c))
	}
	return strings.Join(c, ", ")
}
