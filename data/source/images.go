package source

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pawl/core/identity"
	"pawl/core/intake"
	"pawl/data/dataset"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/internal/usage"
	"pawl/reader"
)

// Images is a set of images, or of texts as numbers of their tokens, with what is public
// about it.
type Images struct {
	Name, Target, Licence string
	// Unit is "" for image; Assumed says that the schema declares none.
	Unit    string
	Assumed bool
	// Public is the data set's own word; Own says: sensitive images, each of them a unit.
	Public, Own bool
	// Mirrored says that the mirror image of an image has its class, where that is known of a built-in set.
	Mirrored bool
	// Train holds the examples, Test those of a public test set, or nil.
	Train, Test *images.Set
	Rows        schema.RowCount
	// Texts is nil but for texts of one's own.
	Texts *OwnTexts
	// Mine says that the set is not built in.
	Mine   bool
	Prints []*identity.Print

	builtin *dataset.ImageSet // still to be loaded from dataDir, or nil
	dataDir string
	content *reader.Content // of a file of texts, for its keyed digest
	records []schema.Record // that texts come from, in order
}

// Inputs are what a network is given of a set of images.
type Inputs interface {
	// HasPrefix says that a front end stands before the network.
	HasPrefix() bool
	// ShortInputs says that what the front end makes lies between −1 and 1, and may be kept in
	// two bytes a number.
	ShortInputs() bool
	// Inputs visits what the front end makes of each image.
	Inputs(set *images.Set, visit func(i int, input []float32) error) error
}

// builtinImages are a built-in set whose files are not read yet.
func builtinImages(b *dataset.ImageSet, dataDir string) *Images {
	return &Images{Name: b.Name, Target: b.Target, Licence: b.Licence, Public: b.Public, Mirrored: b.Mirrored, builtin: b, dataDir: dataDir,
		Rows: schema.RowCount{Kind: schema.RowsDeclared, N: int64(b.Rows)}}
}

// Load reads the files of a built-in set, once.
func (p *Images) Load() (err error) {
	if p.builtin == nil {
		return nil
	}
	if p.Train, err = p.builtin.Train(p.dataDir); err != nil {
		return err
	}
	if p.Test, err = p.builtin.Test(p.dataDir); err != nil {
		return err
	}
	p.Rows.N, p.builtin = int64(p.Train.Len()), nil
	return nil
}

// Shape is height, width and channels of an image.
func (p *Images) Shape() [3]int {
	if p.builtin != nil {
		return p.builtin.Shape
	}
	return p.Train.Shape
}

// OpenImages opens a built-in set of images, found in dataDir, or images of one's own: a
// folder, or a file with one of labels. rows says what is public about their number.
func OpenImages(data, dataDir, labels, classes, rows string) (*Images, error) {
	info, statErr := os.Stat(data)
	if b, ok := dataset.Images(data); ok && (statErr != nil || info.IsDir() && classes == "" && rows == "") {
		if labels != "" || classes != "" || rows != "" {
			return nil, usage.New(fmt.Sprintf("labels, classes and a number of rows are for images of your own, and %s is a built-in data set", data), "leave them out, or name your own images")
		}
		p := builtinImages(b, dataDir)
		return p, p.Load()
	}
	if statErr != nil {
		var names []string
		for _, i := range dataset.ListImages() {
			names = append(names, i.Name)
		}
		return nil, usage.New(fmt.Sprintf("%s is neither a set of images nor a built-in data set of images", data), "built-in: "+strings.Join(names, ", "))
	}
	p, err := OpenOwnImages(data, labels, classes)
	if err != nil {
		return nil, err
	}
	return p, p.DeclareRows("--rows", rows)
}

// OpenOwnImages opens a folder of images, or a file of images with one of labels, whose
// number is still to be declared.
func OpenOwnImages(data, labels, classNames string) (*Images, error) {
	info, err := os.Stat(data)
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(data) // "." has the name of its folder
	if err != nil {
		return nil, err
	}
	p := &Images{Name: filepath.Base(path), Target: "class", Own: true, Mine: true}
	if !info.IsDir() {
		p.Name = strings.TrimSuffix(p.Name, filepath.Ext(p.Name))
	}
	if err := OwnName(data, p.Name, "rename the file or folder: the budget belongs to the name"); err != nil {
		return nil, err
	}
	var classes []string
	if classNames != "" {
		classes = strings.Split(classNames, ",")
	}
	switch {
	case info.IsDir():
		p.Train, err = images.OpenFolder(data, classes)
	case labels == "":
		return nil, usage.New(fmt.Sprintf("%s: missing --labels", data), "add --labels FILE, and --classes with the class names in order")
	case strings.HasSuffix(data, ".npy"):
		p.Train, err = images.OpenNPY(images.Pair{Images: data, Labels: labels}, classes)
	default:
		p.Train, err = images.OpenIDX(images.Pair{Images: data, Labels: labels}, classes)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// imageFile reports whether a file begins as npy or IDX files of bytes do. Without labels
// nothing else tells a file of images from a table.
func imageFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 4)
	if _, err := io.ReadFull(f, start); err != nil {
		return false
	}
	return string(start) == "\x93NUM" || string(start[:3]) == "\x00\x00\x08"
}

// DeclareRows reads how the number of images is declared: public, N or about-N. flag
// is where the operator says it.
func (p *Images) DeclareRows(flag, text string) error {
	switch number, about := strings.CutPrefix(text, "about-"); {
	case text == "":
		return usage.New("missing declaration of the number of images", fmt.Sprintf("use %[1]s public, %[1]s N or %[1]s about-N", flag))
	case text == "public":
		p.Rows = schema.RowCount{Kind: schema.RowsDeclared, N: int64(p.Train.Len())}
	default:
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 {
			return usage.New(fmt.Sprintf("%s %q: want public, N or about-N", flag, text), fmt.Sprintf("example: %s about-5000", flag))
		}
		p.Rows = schema.RowCount{Kind: schema.RowsDeclared, N: n}
		if about {
			p.Rows.Kind = schema.RowsAbout
		}
	}
	return nil
}

// PerImage is what a guarantee for images of one's own does not say.
const PerImage = "the guarantee is for one image: a person with k images has it for each of them, and k times epsilon for all of them"

// Schema declares the label; the images lie beside it.
func (p *Images) Schema() *schema.Schema {
	s := p.declared()
	if p.Own {
		s.Warnings = append(s.Warnings, PerImage)
	}
	return s
}

func (p *Images) declared() *schema.Schema {
	return &schema.Schema{
		Version: schema.Version, Dataset: p.Name, Public: p.Public, Rows: p.Rows, NA: schema.DefaultNA,
		Unit:    schema.Unit{Name: cmp.Or(p.Unit, "image"), MaxRows: 1, Assumed: p.Assumed},
		Columns: p.columns(),
	}
}

// Seal seals bytes as they are, or what the model's data-free front end makes of
// them. The rows bring the prints that RecogniseImages made before.
func (p *Images) Seal(ctx context.Context, plan Inputs, s *schema.Schema, key *intake.Key) (*intake.Rows, error) {
	b := intake.NewBuilder(key, s)
	b.Print(p.Prints...)
	if p.Train.Bytes != nil && !plan.HasPrefix() {
		size := p.Train.Size()
		for i := range p.Train.Len() {
			if err := b.AddBytes(p.label(i), p.Train.Bytes[i*size:(i+1)*size], p.found(i)); err != nil {
				return nil, err
			}
		}
		return b.Seal(), nil
	}
	add := b.AddFloats
	if plan.ShortInputs() {
		add = b.AddShorts
	}
	err := plan.Inputs(p.Train, func(i int, input []float32) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return add(p.label(i), input, p.found(i))
	})
	if err != nil {
		return nil, err
	}
	return b.Seal(), nil
}

// Digested is what names the bytes of a data set.
func (p *Images) Digested() io.Reader {
	if p.content != nil {
		return p.content.Reader()
	}
	return p.Train.Reader()
}

// columns declares the label and, of texts, the column that they came from: nothing of it
// is kept with the rows but the numbers of the tokens.
func (p *Images) columns() []schema.Column {
	all := []schema.Column{{Name: p.Target, Type: schema.Categorical, Categories: p.Train.Classes, Missing: schema.MissingRefuse}}
	if p.Texts != nil {
		all[0].Missing = schema.MissingUnknown
		all = append(all, schema.Column{Name: p.Texts.Column, Type: schema.Ignore, Why: "texts"})
	}
	return all
}

// found is the record that an example comes from: of images their values, of texts the
// row of the table, whatever numbers the tokens have.
func (p *Images) found(i int) schema.Record {
	if p.records != nil {
		return p.records[i]
	}
	return p.Train.Found(i)
}

// label is the row of an example in columns.
func (p *Images) label(i int) []float64 {
	y := math.NaN()
	if k := p.Train.Labels[i]; k >= 0 {
		y = float64(k)
	}
	if p.Texts != nil {
		return []float64{y, math.NaN()}
	}
	return []float64{y}
}
