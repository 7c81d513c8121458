package identity

// Feed collects a print beside the reading of a table: records go in batches to a goroutine of its own, so that
// reading takes hardly longer where a second processor is free. Print or Stop ends it.
type Feed struct {
	b     *Builder
	width int
	batch []string
	full  chan []string
	empty chan []string
	done  chan struct{}
	ended bool
}

// batchRows is the number of records that are handed over at once.
const batchRows = 512

// NewFeed is New for a Feed.
func NewFeed(key [32]byte, names []string) *Feed { return newFeed(New(key, names), names) }

// NewRecordsFeed is NewFeed for a print of records alone, which is faster: of a part of the columns, beside
// the print of all.
func NewRecordsFeed(key [32]byte, names []string) *Feed {
	b := New(key, names)
	for i := range b.sketch {
		b.sketch[i] = -1
	}
	b.columns, b.counts = nil, nil
	return newFeed(b, names)
}

func newFeed(b *Builder, names []string) *Feed {
	f := &Feed{b: b, width: len(names), full: make(chan []string, 4), empty: make(chan []string, 6), done: make(chan struct{})}
	go f.run()
	return f
}

func (f *Feed) run() {
	defer close(f.done)
	for batch := range f.full {
		for at := 0; at < len(batch); at += f.width {
			row := batch[at : at+f.width]
			f.b.Add(func(i int) (string, bool) { return row[i], false })
		}
		clear(batch) // the texts belong to nobody any more
		select {
		case f.empty <- batch[:0]:
		default:
		}
	}
}

// Add takes the texts of one record, one for each name, empty ones for nulls. It keeps the texts and not the slice.
func (f *Feed) Add(texts []string) {
	if f.width == 0 {
		return
	}
	if f.batch == nil {
		select {
		case f.batch = <-f.empty:
		default:
			f.batch = make([]string, 0, batchRows*f.width)
		}
	}
	if f.batch = append(f.batch, texts...); len(f.batch) >= batchRows*f.width {
		f.full <- f.batch
		f.batch = nil
	}
}

// Stop ends the collection. It may be called again.
func (f *Feed) Stop() {
	if f.ended {
		return
	}
	f.ended = true
	if len(f.batch) > 0 {
		f.full <- f.batch
	}
	close(f.full)
	<-f.done
}

// Print ends the collection.
func (f *Feed) Print() *Print {
	f.Stop()
	return f.b.Print()
}
