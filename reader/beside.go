package reader

import (
	"io"
	"runtime"
	"slices"
	"sync"

	"pawl/data/schema"
)

// Stretch takes the rows of a run of consecutive records.
type Stretch struct {
	// Row is as for ReadFrom, but cells are used again once it returns.
	Row Row
	// End is called after the last row of a stretch whose records are all sound, for one stretch after the
	// other, in the order of the table. nil for nothing.
	End func() error
	// Told takes the place of the schema's, for the cells of the stretch; nil for the schema's own.
	Told func(column string, why schema.Odd)
}

// ReadBeside is ReadFrom for what takes rows stretch by stretch, several stretches at a time: begin is called for
// each, by any goroutine. What is read, and what is refused, does not depend on the number of processors. So
// o.Watch is called for each goroutine, and what it returns takes the records of some stretches.
func ReadBeside(name string, r io.Reader, s *schema.Schema, o Options, begin func() Stretch) error {
	t, in, strict, err := openTable(name, r, s, o, "", nil)
	if err != nil {
		return err
	}
	defer in.Close()
	return t.whole(t.beside(strict, o, begin))
}

// InOrder hands rows to one function in their order, each in a place of its own.
func InOrder(row func(cells []float64) error) func() Stretch {
	return func() Stretch {
		var rows [][]float64
		return Stretch{
			Row: func(cells []float64, _ schema.Record) error {
				rows = append(rows, slices.Clone(cells))
				return nil
			},
			End: func() error {
				for _, cells := range rows {
					if err := row(cells); err != nil {
						return err
					}
				}
				return nil
			},
		}
	}
}

// piece is a stretch on its way.
type piece struct {
	table      *table
	end        func() error
	rows, kept bool
	err        error
	done       chan struct{}
}

// beside reads stretches side by side and ends them in order.
func (t *table) beside(strict bool, o Options, begin func() Stretch) error {
	workers := runtime.GOMAXPROCS(0)
	whole, like := t.in, *t // t itself changes where stretches end
	work, order, stop := make(chan *piece), make(chan *piece, 2*workers), make(chan struct{})
	var all sync.WaitGroup
	defer all.Wait()
	defer close(stop)
	all.Go(func() {
		defer close(work)
		defer close(order)
		for {
			p := &piece{done: make(chan struct{})}
			in, err := stretch(&whole)
			if err == io.EOF {
				return
			}
			if p.table, p.err = like.part(in), err; err != nil {
				close(p.done)
			}
			select {
			case order <- p:
			case <-stop:
				return
			}
			if err != nil {
				return
			}
			select {
			case work <- p:
			case <-stop:
				return
			}
		}
	})
	for range workers {
		all.Go(func() {
			var watch *watch
			known := newNumbers(t.schema)
			for p := range work {
				if watch == nil {
					watch = t.watchRecords(t.in, o)
				}
				p.table.watch, p.table.known = watch, known
				p.read(strict, begin())
			}
		})
	}
	rows, kept := false, false
	for p := range order {
		<-p.done
		rows, kept = rows || p.rows, kept || p.kept
		if err := t.join(p); err != nil {
			return err
		}
	}
	return t.ended(rows, kept)
}

// part is the same table over some of its records.
func (t *table) part(in records) *table {
	p := *t
	p.known = numbers{} // those of who reads it
	p.in, p.reuse, p.ids.held = in, make([]float64, len(t.schema.Columns)), &[]writing{}
	p.found.Cells = make([]schema.Found, len(t.fields))
	if t.faults != nil {
		p.faults = NewFaults()
	}
	return &p
}

// read reads a stretch.
func (p *piece) read(strict bool, s Stretch) {
	defer close(p.done)
	p.end = s.End
	if s.Told != nil {
		declared := *p.table.schema
		declared.Told, p.table.schema = s.Told, &declared
	}
	p.rows, p.kept, p.err = p.table.rows(strict, func(cells []float64, found *schema.Record, _ []cell) error { return s.Row(cells, *found) })
}

// join ends a stretch: what belongs to the table as a whole is looked at in its order.
func (t *table) join(p *piece) error {
	if t.faults != nil && p.table != nil {
		for _, fault := range p.table.faults.list {
			if err := t.faults.take(fault); err != nil {
				return err
			}
		}
	}
	if p.err != nil {
		return p.err
	}
	if e, ok := p.table.in.(ending); ok {
		if err := e.atEnd(); err != nil {
			return err
		}
	}
	for _, w := range *p.table.ids.held {
		t.ids.see(w, func(msg, hint string) error {
			at := make([]cell, t.unit+1)
			at[t.unit].line = w.line
			return p.table.in.rowFault(at, t.unit, t.schema.Unit.Column, msg, hint)
		})
	}
	if p.end == nil {
		return nil
	}
	return p.end()
}

// stretch returns the next records of a table as a table of their own, which other goroutines may read; at the
// end the error is io.EOF. Of a format that cannot be cut it is the whole, and *in is spent.
func stretch(in *records) (records, error) {
	switch r := (*in).(type) {
	case *CSV:
		return r.stretch()
	case *manyParts:
		return r.stretch()
	case *heldRows:
		return r.stretch()
	case *jsonLines:
		return r.stretch()
	case *byColumns:
		return r.stretch()
	case spent:
		return nil, io.EOF
	default:
		*in = spent{r}
		return r, nil
	}
}

// ending is a stretch that may be the last of its file: atEnd looks for what no row of the file has, once all of them
// were read.
type ending interface{ atEnd() error }

// spent are records that somebody else reads.
type spent struct{ records }

func (spent) Close() error { return nil }
