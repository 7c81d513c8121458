// Package query turns public facts, as typed or asked for, into advice.
package query

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"pawl/core/accountant"
	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/data/table"
	"pawl/evidence/advise"
	"pawl/internal/usage"
	"pawl/model"
	"pawl/workflow"
)

// Facts are public facts as typed.
type Facts struct {
	Rows, Attributes, Classes, Numeric, Vectors int64
	Task, Images, Target, Epsilon, Delta        string
	Model, Preset, Features                     string
	Text, PublicTest                            bool
	mirrored                                    bool // of a built-in set of images
	// Given names the flags that were typed.
	Given map[string]bool
}

// Flags are the flags that say something of data; those of DATA itself come last.
var Flags = []string{"rows", "attributes", "classes", "task", "numeric", "text", "images", "vectors", "public-test", "epsilon", "target", "features"}

// Answer turns facts into advice. For tables it makes the plan that `pawl fit` would
// make and reads its recipe; for images it asks the rule that fit asks.
func (f *Facts) Answer(args []string) (*advise.Answer, error) {
	if err := f.check(args); err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return f.ofNumbers()
	}
	data := args[0]
	info, statErr := os.Stat(data)
	isFile := statErr == nil && !info.IsDir()
	if b, ok := dataset.Images(data); ok && !isFile {
		f.mirrored = b.Mirrored
		return f.ofImages(advise.Question{Data: b.Name, Rows: float64(b.Rows), Training: float64(b.Rows), Classes: len(b.Classes)}, b.Shape,
			fmt.Sprintf("pawl fit %s --epsilon %s", b.Name, f.Epsilon))
	}
	if b, ok := dataset.Lookup(data); ok && !isFile {
		s := b.Schema()
		if f.Target == "" {
			f.Target = b.Target
		}
		test := workflow.HeldOut
		if b.HasTest() {
			test = workflow.Official
		}
		return f.ofTable(s, b.Name, int64(b.Rows), test, fmt.Sprintf("pawl fit %s --target %s --epsilon %s%s", b.Name, usage.Shell(f.Target), f.Epsilon, f.asked()))
	}
	switch {
	case statErr != nil && errors.Is(statErr, os.ErrNotExist):
		return nil, usage.New(fmt.Sprintf("%s is neither a schema file nor a built-in data set", data), source.NamesAdvice(data, source.TableNames()))
	case statErr != nil:
		return nil, statErr
	}
	if lower := strings.ToLower(data); !strings.HasSuffix(lower, ".yaml") && !strings.HasSuffix(lower, ".yml") {
		return nil, usage.New(fmt.Sprintf("%s is not a YAML file: advise reads a schema, never rows", data), fmt.Sprintf("give its schema file; pawl init %s writes a template", usage.Shell(data)))
	}
	return f.ofSchema(data)
}

// check refuses what contradicts itself and says what is missing.
func (f *Facts) check(args []string) error {
	bad := usage.New
	g := f.Given
	if len(args) == 1 {
		names := []string{"attributes", "classes", "task", "numeric", "text", "images", "vectors"}
		if _, err := os.Stat(args[0]); err != nil {
			names = append(names, "rows") // a built-in's number is known
		}
		for _, name := range names {
			if g[name] {
				return bad(fmt.Sprintf("--%s and DATA exclude each other: DATA defines it", name), "leave out one of them")
			}
		}
	} else {
		for _, name := range []string{"target", "features"} {
			if g[name] {
				return bad(fmt.Sprintf("--%s names columns, so it needs DATA", name), "give a data set or a schema")
			}
		}
		var missing []string
		for _, name := range []string{"rows", "attributes", "task", "epsilon"} {
			if !g[name] && !(name == "attributes" && (f.Images != "" || f.Text || g["vectors"])) && !(name == "task" && f.Images != "") {
				missing = append(missing, "--"+name)
			}
		}
		if missing != nil {
			return bad("missing: "+strings.Join(missing, ", "), "example: pawl advise --rows 22750 --attributes 14 --task classification --epsilon 0.1; on a terminal, pawl advise without arguments asks")
		}
	}
	if f.Epsilon == "" {
		return bad("missing --epsilon", "example: --epsilon 1")
	}
	if g["rows"] && !(f.Rows >= 1 && f.Rows <= 1e12) {
		return bad("--rows must be a whole number of at least 1", "it is the number of rows of the data set")
	}
	if len(args) == 1 {
		return nil
	}
	kinds := 0
	for _, name := range []string{"text", "images", "vectors"} {
		if g[name] {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		return bad("--text, --images and --vectors exclude each other", "give the one that fits the data")
	case g["images"] && (g["attributes"] || g["numeric"]):
		return bad("--images excludes --attributes and --numeric", "leave out --attributes and --numeric")
	case f.Images != "" && f.Task == "":
		f.Task = "classification"
	}
	switch {
	case f.Task != "classification" && f.Task != "regression":
		return bad(fmt.Sprintf("unknown task %q", f.Task), "use --task classification or --task regression")
	case f.Task == "regression" && g["classes"]:
		return bad("--classes and --task regression exclude each other", "leave out one of them")
	case f.Task == "regression" && g["images"]:
		return bad("regression on images is not supported", "--task classification")
	case f.Task == "classification" && g["classes"] && f.Classes > f.Rows:
		return bad(fmt.Sprintf("--classes %d is larger than --rows %d", f.Classes, f.Rows), "it is the number of classes of the target")
	case f.Classes < 2 || f.Classes > 10000:
		return bad("--classes must be between 2 and 10000", "it is the number of classes of the target")
	case g["attributes"] && !(f.Attributes >= 0 && f.Attributes <= 100_000):
		return bad("--attributes must be between 0 and 100000", "it is the number of columns besides the target")
	case f.Attributes == 0 && !f.Text && f.Images == "" && !g["vectors"]:
		return bad("--attributes must be at least 1 here", "it is the number of columns besides the target")
	case g["numeric"] && !(f.Numeric >= 0 && f.Numeric <= f.Attributes):
		return bad("--numeric must be between 0 and --attributes", "it is the number of numeric attributes")
	case g["vectors"] && !(f.Vectors >= 1 && f.Vectors <= 1<<16):
		return bad("--vectors must be between 1 and 65536", "it is the length of a vector")
	}
	return nil
}

// asked repeats flags that change what fit does.
func (f *Facts) asked() string {
	s := ""
	for _, x := range []struct{ flag, value, usual string }{{"delta", f.Delta, ""}, {"model", f.Model, "auto"}, {"features", f.Features, "auto"}, {"preset", f.Preset, "balanced"}} {
		if x.value != x.usual && x.value != "" {
			s += fmt.Sprintf(" --%s %s", x.flag, usage.Shell(x.value))
		}
	}
	return s
}

// ofNumbers declares a table as the flags describe it.
func (f *Facts) ofNumbers() (*advise.Answer, error) {
	q := advise.Question{Rows: float64(f.Rows), Training: float64(f.Rows)}
	if f.Images != "" {
		shape, err := parseShape(f.Images)
		if err != nil {
			return nil, err
		}
		if !f.Given["classes"] {
			f.Classes = 10
			q.Assumed = append(q.Assumed, "10 classes (--classes)")
		}
		q.Classes = int(f.Classes)
		folder := "FOLDER with one sub-folder of PNG files per class"
		if c := shape[2]; c != 1 && c != 3 {
			folder = "FOLDER an npy file of images, with --labels and --classes"
		}
		return f.ofImages(q, shape, fmt.Sprintf("pawl train FOLDER --rows %d --model MODEL --epsilon %s, %s", f.Rows, f.Epsilon, folder))
	}
	var assumed []string
	numeric := f.Numeric
	if !f.Given["numeric"] && f.Attributes > 0 {
		numeric = (f.Attributes + 1) / 2
		assumed = append(assumed, fmt.Sprintf("%d of the attributes are numeric, the others categorical (--numeric)", numeric))
	}
	s := &schema.Schema{Version: schema.Version, Dataset: "data", Unit: schema.Unit{Name: "row", MaxRows: 1}, Rows: schema.RowCount{Kind: schema.RowsDeclared, N: f.Rows}}
	for i := range f.Attributes {
		c := schema.Column{Name: fmt.Sprintf("attribute_%d", i+1), Type: schema.Numeric, Upper: 1}
		if i >= numeric {
			c = schema.Column{Name: c.Name, Type: schema.Categorical, Categories: []string{"a", "b", "c", "d"}}
		}
		s.Columns = append(s.Columns, c)
	}
	if f.Text {
		s.Columns = append(s.Columns, schema.Column{Name: "text", Type: schema.Text})
	}
	if f.Vectors > 0 {
		s.Columns = append(s.Columns, schema.Column{Name: "key", Type: schema.Ignore}, schema.Column{Name: "vector", Type: schema.Vector, Dimension: int(f.Vectors), Key: "key"})
	}
	y := schema.Column{Name: "y", Type: schema.Boolean}
	switch {
	case f.Task == "regression":
		y = schema.Column{Name: "y", Type: schema.Numeric, Upper: 1}
	case f.Classes > 2:
		y.Type = schema.Categorical
		for i := range f.Classes {
			y.Categories = append(y.Categories, strconv.FormatInt(i+1, 10))
		}
	}
	s.Columns = append(s.Columns, y)
	test := workflow.HeldOut
	if f.PublicTest {
		test = workflow.TestFile
	} else {
		assumed = append(assumed, "fit scores on held-out rows (--public-test: on a public file)")
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	f.Target = "y"
	next := fmt.Sprintf("pawl init DATA.csv, fill in the schema, then pawl fit DATA.csv --schema DATA.yaml --target COLUMN --epsilon %s%s", f.Epsilon, f.asked())
	if f.Vectors > 0 {
		next += " --embeddings VECTORS.npy --key COLUMN"
	}
	answer, err := f.ofTable(s, "", f.Rows, test, next)
	if err == nil {
		answer.Facts.Assumed = append(assumed, answer.Facts.Assumed...)
	}
	return answer, err
}

func (f *Facts) ofSchema(path string) (*advise.Answer, error) {
	s, err := schema.Load(path)
	if err != nil {
		return nil, err
	}
	if s.Patterns() {
		return nil, usage.New(path+": the schema declares columns by patterns, and advise reads no table", "name the columns one by one")
	}
	rows := f.Rows
	declared := s.Rows.Kind == schema.RowsDeclared || s.Rows.Kind == schema.RowsAbout
	switch {
	case declared && f.Given["rows"] && rows != s.Rows.N:
		return nil, usage.New("--rows differs from the number of rows in the schema", "leave out --rows")
	case declared:
		rows = s.Rows.N
	case !f.Given["rows"]:
		return nil, usage.New(fmt.Sprintf("%s declares no number of rows, and advise does not count rows", path), "give the approximate number with --rows")
	}
	test := workflow.HeldOut
	if f.PublicTest {
		test = workflow.TestFile
	}
	name := s.Dataset
	if name == "" {
		name = table.BaseName(path)
	}
	answer, err := f.ofTable(s, name, rows, test, fmt.Sprintf("pawl fit DATA.csv --schema %s --target %s --epsilon %s%s", usage.Shell(path), usage.Shell(f.Target), f.Epsilon, f.asked()))
	if err == nil && !declared {
		answer.Facts.Assumed = append(answer.Facts.Assumed, "the number of rows from --rows; fit uses the schema's, and charges for it if it is private")
	}
	return answer, err
}

// ofTable asks the plan that fit would make.
func (f *Facts) ofTable(s *schema.Schema, name string, rows int64, test workflow.TestKind, next string) (*advise.Answer, error) {
	s.SetBuckets(advise.TextBuckets)
	in := workflow.Input{
		Dataset: name, Schema: s, Public: s.Public, Target: f.Target, Epsilon: f.Epsilon, Delta: f.Delta, Rows: rows, Test: test,
		Preset: advise.Preset(f.Preset), Model: f.Model, Accountant: accountant.MethodMin, Calibrate: true,
	}
	if f.Features != "auto" && f.Features != "all" && f.Features != "" {
		in.Features = columns(f.Features)
	}
	if name == "" {
		in.Dataset = "data"
	}
	plan, err := workflow.NewPlan(in)
	if err != nil {
		return nil, err
	}
	epsilon, err := positive("epsilon", f.Epsilon)
	if err != nil {
		return nil, err
	}
	answer := OfPlan(plan, name, rows, epsilon)
	answer.Next = next
	return answer, nil
}

// OfPlan puts the plan of a fit of a table into words. Its number of rows is public.
func OfPlan(plan *workflow.Plan, name string, rows int64, epsilon float64) *advise.Answer {
	facts := plan.Facts()
	s := facts.Schema
	q := advise.Question{Data: name, Task: string(facts.Task), Rows: float64(rows), Training: facts.Rows, PerUnit: s.Unit.MaxRows, Epsilon: epsilon, Delta: facts.Delta, Assumed: []string{}}
	if r := facts.SignalRatio(); r > 0 {
		q.NoiseMultiplier, q.Ratio = facts.NoiseMultiplier, r
	}
	q.Kind, q.Attributes, q.Numeric = advise.Of(s, facts.Target)
	if facts.Task == model.Classification {
		q.Classes = len(s.Columns[s.Column(facts.Target)].Levels())
	}
	recipe := plan.Recipe
	if rule, ok := plan.SearchAdvised(); ok {
		recipe.Rules = append(advise.BesideSearch(recipe.Rules), rule)
	}
	return advise.ForTable(q, recipe)
}

// ofImages asks the rule that fit asks.
func (f *Facts) ofImages(q advise.Question, shape [3]int, next string) (*advise.Answer, error) {
	if f.Model != "auto" && f.Model != "linear" {
		return nil, usage.New("--model does not apply to images: the model is what advise recommends", "leave out --model; pawl plan fit shows the cost of a named model")
	}
	e, err := positive("epsilon", f.Epsilon)
	if err != nil {
		return nil, err
	}
	q.Epsilon, q.Kind, q.Task, q.Shape = e, advise.ImageKind, "classification", shape[:]
	if shape[0] == 1 && shape[1] == 1 {
		q.Kind = advise.VectorKind
	}
	q.Delta, _ = workflow.DefaultDelta(int64(q.Rows))
	if f.Delta != "" {
		if q.Delta, err = strconv.ParseFloat(f.Delta, 64); err != nil || !(q.Delta > 0 && q.Delta < 1) {
			return nil, usage.New("--delta must be between 0 and 1 for images", "example: --delta 1e-6")
		}
	}
	facts := advise.ImageFacts{Height: shape[0], Width: shape[1], Channels: shape[2], Rows: q.Training, Epsilon: e, Preset: advise.Preset(f.Preset), Features: f.Features, Mirrored: f.mirrored}
	if !slices.Contains([]string{"quick", "balanced", "thorough"}, f.Preset) {
		return nil, usage.New(fmt.Sprintf("unknown preset %q", f.Preset), "presets: quick, balanced, thorough")
	}
	if q.Ratio, q.NoiseMultiplier, err = workflow.SignalRatio(q.Training, e, f.Delta); err != nil {
		return nil, usage.New(fmt.Sprintf("no noise level reaches epsilon %s: %v", f.Epsilon, err), "")
	}
	facts.Ratio = q.Ratio
	recipe, err := advise.ChooseImages(facts)
	if err != nil {
		return nil, usage.New(err.Error(), "--features auto")
	}
	if q.Assumed == nil {
		q.Assumed = []string{}
	}
	answer := advise.ForImages(q, recipe)
	answer.Next = strings.ReplaceAll(next, "MODEL", recipe.Model)
	return answer, nil
}

// positive reads a number above 0.
func positive(name, s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) || v > 1e6 {
		return 0, usage.New(fmt.Sprintf("%s must be a number above 0", name), fmt.Sprintf("example: --%s 1", name))
	}
	return v, nil
}

// parseShape reads HEIGHTxWIDTHxCHANNELS; channels may be left out.
func parseShape(s string) ([3]int, error) {
	shape := [3]int{0, 0, 1}
	parts := strings.Split(strings.ReplaceAll(strings.ToLower(s), "×", "x"), "x")
	ok := len(parts) == 2 || len(parts) == 3
	for i := range min(len(parts), 3) {
		v, err := strconv.Atoi(strings.TrimSpace(parts[i]))
		ok = ok && err == nil && v >= 1 && v <= 1<<16
		shape[i] = v
	}
	if !ok {
		return shape, usage.New(fmt.Sprintf("%q is not an image size", s), "example: --images 28x28x1")
	}
	return shape, nil
}

// columns cuts a list with commas.
func columns(s string) (all []string) {
	for name := range strings.SplitSeq(s, ",") {
		all = append(all, strings.TrimSpace(name))
	}
	return all
}
