package advise

import (
	"fmt"

	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/learn"
)

// TextBuckets is the number of places that the tokens of a text are hashed to where
// the schema names none. More cost no accuracy: the noise in a score depends on a row's
// norm, and fewer tokens share a place.
const TextBuckets = 16384

// each calls f for the columns that a model may use.
func (f Facts) each(call func(c *schema.Column)) {
	named := f.named()
	for i := range f.Schema.Columns {
		c := &f.Schema.Columns[i]
		if c.Type != schema.Ignore && c.Name != f.Target && c.Name != f.Schema.Unit.Column && (f.Attributes == nil || named[c.Name]) {
			call(c)
		}
	}
}

// checkWide refuses learners that do not take the texts or the vectors of a table.
func (f Facts) checkWide() error {
	wide, kind := "", learn.KindOf(string(f.Learner))
	f.each(func(c *schema.Column) {
		if c.Type == schema.Text && !kind.Texts || c.Type == schema.Vector && !kind.Vectors {
			wide = c.Name
		}
	})
	switch {
	case wide == "":
		return nil
	case f.Learner != "":
		return fmt.Errorf("model %q does not take columns such as %q; the linear model takes texts and vectors", f.Learner, wide)
	case f.Delta == 0:
		return fmt.Errorf("a model of texts or vectors, such as column %q, needs delta > 0", wide)
	}
	return nil
}

// looks is the number of numbers that one row shows to a step: of a text as many as
// a long message has words, since how many there are is no public fact.
func (f Facts) looks() float64 {
	const ofText = 64
	n := 0.0
	f.each(func(c *schema.Column) {
		switch c.Type {
		case schema.Text:
			n += ofText
		case schema.Vector:
			n += float64(c.Dimension)
		default:
			n++
		}
	})
	return n
}

// bag sets what an encoding of texts, vectors and very many columns needs, and says why.
func (f Facts) bag(o *encode.Options) []Rule {
	var rules []Rule
	bag, texts, vectors, buckets := 0, 0, 0, 0
	f.each(func(c *schema.Column) {
		switch {
		case c.Type == schema.Text:
			texts++
			buckets = max(buckets, c.Buckets)
		case c.Type == schema.Vector:
			vectors++
		case encode.Baggable(c):
			bag++
		}
	})
	if bag >= bagFrom {
		o.Bag = true
		rules = append(rules, by(ruleBag, fmt.Sprintf("%d columns as one bag: which of them are not 0, as a row of norm 1", bag),
			fmt.Sprintf("there are at least %d columns in which 0 means absence", bagFrom)))
	}
	if texts > 0 {
		rules = append(rules, by(ruleText, fmt.Sprintf("words hashed to %d buckets by a fixed rule, presence and not count, as a row of norm 1", buckets),
			"a vocabulary would be read from the rows; the noise in a score does not grow with the number of buckets"))
	}
	if o.Bag || texts+vectors > 0 {
		o.Intercept = 0.5
	}
	if vectors > 0 {
		rules = append(rules, by(ruleVectors, "",
			"the guarantee needs rows of bounded norm, and needs no charge for a mean or deviation"))
	}
	return rules
}
