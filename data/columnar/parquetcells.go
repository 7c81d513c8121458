package columnar

import (
	"bufio"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"math/big"
)

// errCut is returned where a column holds fewer cells than its row group has rows.
var errCut = errors.New("cells are missing")

// maxHeader bounds the head of a page, which may repeat a least and a largest text.
const maxHeader = 16 << 20

// cells reads the cells of a stored column of one row group, page after page.
type cells struct {
	leaf *leaf
	kind Kind
	in   *bufio.Reader
	left int64 // bytes of the column behind the present page
	chunk
	seen int64 // values of the pages so far
	unpacker
	page []byte // as stored

	// Of the present page: values left, their levels, and what is there of them.
	n                   int
	definition, repeats levels
	numbers             numbers
	texts               texts

	// The dictionary, if there is one.
	lookNumbers []int64
	lookTexts   []string

	// One batch of levels and values; at is the next of have levels, value that of its value.
	at, have, value int
	def, rep        []uint32
	nums            []int64
	strs            []string
}

// levels reads how deep a value is defined, or repeated.
type levels interface{ next(into []uint32) }

func newCells(src io.ReaderAt, k chunk, leaf *leaf, kind Kind) *cells {
	return &cells{leaf: leaf, kind: kind, chunk: k, left: k.length, in: bufio.NewReaderSize(io.NewSectionReader(src, k.start, k.length), 16<<10)}
}

// asText says that values are byte arrays.
func (c *cells) asText() bool { return c.leaf.physical == byteArrays || c.leaf.physical == fixedArrays }

// pageHeader is what stands before each page.
type pageHeader struct {
	kind         int // 0 values, 2 dictionary, 3 values in the second version
	size, stored int // bytes in memory and in the file
	sum          uint32
	summed       bool
	n            int
	encoding     int
	// First version: how levels are written. Second: their bytes, which stand before the rest.
	defEncoding, repEncoding int
	defBytes, repBytes       int
	plain                    bool // the rest is not compressed
}

func readPageHeader(c *compact) (h pageHeader) {
	h.kind = -1
	number := func(to *int) {
		v := c.int()
		if v < 0 || v > math.MaxInt32 {
			panic("columnar: a page of negative size")
		}
		*to = int(v)
	}
	c.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			number(&h.kind)
		case id == 2 && kind == thriftI32:
			number(&h.size)
		case id == 3 && kind == thriftI32:
			number(&h.stored)
		case id == 4 && kind == thriftI32:
			h.sum, h.summed = uint32(c.int()), true
		case (id == 5 || id == 7 || id == 8) && kind == thriftStruct:
			of := id
			c.fields(func(id int, kind byte) bool {
				switch {
				case id == 7 && of == 8 && (kind == thriftTrue || kind == thriftFalse):
					h.plain = kind == thriftFalse
					return true
				case kind != thriftI32:
					return false
				case id == 1:
					number(&h.n)
				case id == 2 && of != 8 || id == 4 && of == 8:
					number(&h.encoding)
				case id == 3 && of == 5:
					number(&h.defEncoding)
				case id == 4 && of == 5:
					number(&h.repEncoding)
				case id == 5 && of == 8:
					number(&h.defBytes)
				case id == 6 && of == 8:
					number(&h.repBytes)
				default:
					return false
				}
				return true
			})
		default:
			return false
		}
		return true
	})
	return h
}

// header reads the next head, whose length only its content tells.
func (c *cells) header() pageHeader {
	for size := 512; ; size *= 4 {
		if size > c.in.Size() {
			c.in = bufio.NewReaderSize(c.in, size)
		}
		b, err := c.in.Peek(size)
		if err != nil && err != io.EOF {
			panic(err)
		}
		h, n, ok := tryPageHeader(b)
		if ok {
			_, _ = c.in.Discard(n)
			c.left -= int64(n)
			return h
		}
		if err == io.EOF || size >= maxHeader {
			panic("columnar: the head of a page is cut")
		}
	}
}

func tryPageHeader(b []byte) (h pageHeader, n int, ok bool) {
	defer func() { ok = recover() == nil }()
	c := &compact{b: b}
	h = readPageHeader(c)
	return h, c.at, true
}

// turn reads pages up to the next with values; false means that there is none.
func (c *cells) turn() bool {
	for c.n == 0 {
		if c.seen >= c.values {
			return false
		}
		h := c.header()
		if int64(h.stored) > c.left || h.stored > maxBlock {
			panic("columnar: a page is longer than its column")
		}
		c.left -= int64(h.stored)
		if cap(c.page) < h.stored {
			c.page = make([]byte, h.stored)
		}
		c.page = c.page[:h.stored]
		if _, err := io.ReadFull(c.in, c.page); err != nil {
			panic(err)
		}
		if h.summed && crc32.ChecksumIEEE(c.page) != h.sum {
			panic("columnar: a page does not have its sum")
		}
		switch h.kind {
		case 0:
			c.firstVersion(h)
		case 2:
			c.dictionaryPage(h)
		case 3:
			c.secondVersion(h)
		}
	}
	return true
}

func (c *cells) unpackPage(src []byte, size int) []byte {
	b, err := c.unpack(parquetCodecs[c.codec], src, size)
	if err != nil {
		panic(err)
	}
	return b
}

func (c *cells) dictionaryPage(h pageHeader) {
	b := c.unpackPage(c.page, h.size)
	least := c.width()
	switch c.leaf.physical {
	case byteArrays:
		least = 4
	case fixedArrays:
		least = c.leaf.length
	}
	if least <= 0 || h.n > len(b)/least {
		panic("columnar: a dictionary is longer than its page")
	}
	if c.asText() {
		c.lookTexts = make([]string, h.n)
		c.plainTexts(b).next(c.lookTexts)
		return
	}
	c.lookNumbers = make([]int64, h.n)
	c.plainNumbers(b).next(c.lookNumbers)
}

// firstVersion starts a page whose levels are compressed with the values.
func (c *cells) firstVersion(h pageHeader) {
	b := c.unpackPage(c.page, h.size)
	take := func(max, encoding int) (l levels) {
		const packed = 4
		switch {
		case max == 0:
		case encoding == packed:
			n := (h.n*bitsFor(max) + 7) / 8
			l, b = &oldLevels{b: b[:n], width: bitsFor(max)}, b[n:]
		default:
			n := int(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
			l, b = newHybrid(b[4:4+n], bitsFor(max)), b[4+n:]
		}
		return l
	}
	c.repeats = take(c.leaf.maxRepeats, h.repEncoding)
	c.definition = take(c.leaf.maxDefinition, h.defEncoding)
	c.start(h, b)
}

// secondVersion starts a page whose levels stand uncompressed before the values.
func (c *cells) secondVersion(h pageHeader) {
	at := h.repBytes + h.defBytes
	c.repeats, c.definition = nil, nil
	if c.leaf.maxRepeats > 0 {
		c.repeats = newHybrid(c.page[:h.repBytes], bitsFor(c.leaf.maxRepeats))
	}
	if c.leaf.maxDefinition > 0 {
		c.definition = newHybrid(c.page[h.repBytes:at], bitsFor(c.leaf.maxDefinition))
	}
	b := c.page[at:]
	if !h.plain && len(b) > 0 {
		b = c.unpackPage(b, h.size-at)
	}
	c.start(h, b)
}

// start takes the values of a page by their encoding.
func (c *cells) start(h pageHeader, b []byte) {
	c.n, c.seen = h.n, c.seen+int64(h.n)
	if c.numbers, c.texts = nil, nil; len(b) == 0 {
		// Nulls alone: whoever reads a value fails.
		return
	}
	const plainValues, plainDictionary, run, deltaPacked, deltaLength, front, dictionary, splitBytes = 0, 2, 3, 5, 6, 7, 8, 9
	type on struct {
		encoding int
		physical physical
	}
	switch at := (on{h.encoding, c.leaf.physical}); {
	case h.encoding == plainValues && c.asText():
		c.texts = c.plainTexts(b)
	case h.encoding == plainValues:
		c.numbers = c.plainNumbers(b)
	case (h.encoding == plainDictionary || h.encoding == dictionary) && c.asText():
		c.texts = newLooked(b, c.lookTexts)
	case h.encoding == plainDictionary || h.encoding == dictionary:
		c.numbers = newLooked(b, c.lookNumbers)
	case at == on{run, boolean}:
		c.numbers = &runs{in: newHybrid(b[4:], 1)}
	case at == on{deltaPacked, int32Values}, at == on{deltaPacked, int64Values}:
		c.numbers = newDelta(b, c.leaf.physical == int32Values)
	case at == on{deltaLength, byteArrays}:
		c.texts = newDeltaTexts(b)
	case h.encoding == front && c.asText():
		c.texts = newFrontCoded(b)
	case at == on{splitBytes, fixedArrays}:
		c.texts = &splitTexts{b: b, fixed: c.leaf.length, n: len(b) / c.leaf.length}
	case h.encoding == splitBytes && c.leaf.physical != boolean && !c.asText():
		c.numbers = newSplit(b, c.width())
	default:
		panic("columnar: values are encoded in an unknown way")
	}
}

func (c *cells) width() int {
	if c.leaf.physical == int32Values || c.leaf.physical == float32Values {
		return 4
	}
	return 8
}

func (c *cells) plainNumbers(b []byte) numbers {
	if c.leaf.physical == boolean {
		return &plainBits{b: b}
	}
	return &plain{b: b, width: c.width()}
}

func (c *cells) plainTexts(b []byte) texts {
	if c.leaf.physical == byteArrays {
		return &plainTexts{b: b}
	}
	if c.leaf.length <= 0 {
		panic("columnar: texts of no length")
	}
	return &plainTexts{b: b, fixed: c.leaf.length}
}

// fetch reads up to n levels and their values into the batch.
func (c *cells) fetch(n int) {
	if c.def == nil {
		c.def, c.rep = make([]uint32, batchRows), make([]uint32, batchRows)
		if c.asText() {
			c.strs = make([]string, batchRows)
		} else {
			c.nums = make([]int64, batchRows)
		}
	}
	c.at, c.have, c.value = 0, 0, 0
	present := 0
	for c.have < n && c.turn() {
		k := min(n-c.have, c.n)
		here := k
		if c.definition != nil {
			def := c.def[c.have : c.have+k]
			c.definition.next(def)
			here = 0
			for _, d := range def {
				if d > uint32(c.leaf.maxDefinition) {
					panic("columnar: a value is defined too well")
				}
				if d == uint32(c.leaf.maxDefinition) {
					here++
				}
			}
		}
		if c.repeats != nil {
			c.repeats.next(c.rep[c.have : c.have+k])
		}
		switch {
		case here == 0:
		case c.asText():
			c.texts.next(c.strs[present : present+here])
		default:
			c.numbers.next(c.nums[present : present+here])
		}
		c.n, c.have, present = c.n-k, c.have+k, present+here
	}
}

// read hands out the next n cells.
func (c *cells) read(n int, into *Chunk) (err error) {
	defer func() {
		if recover() != nil {
			err = errCut
		}
	}()
	if c.kind == Vector {
		return c.vectors(n, into)
	}
	c.fetch(n)
	if c.have != n {
		return errCut
	}
	if c.leaf.maxDefinition > 0 {
		c.spread(n, into)
	}
	c.fill(n, into)
	return nil
}

// spread moves the values, which stand close together, to their rows.
func (c *cells) spread(n int, into *Chunk) {
	present := 0
	for _, d := range c.def[:n] {
		present += int(d)
	}
	if present == n {
		return
	}
	into.null = make([]bool, n)
	// From the back, so that no value is written over before it has moved.
	for i := n - 1; i >= 0; i-- {
		null := c.def[i] == 0
		if into.null[i] = null; !null {
			present--
		}
		switch {
		case c.nums != nil && null:
			c.nums[i] = 0
		case c.nums != nil:
			c.nums[i] = c.nums[present]
		case null:
			c.strs[i] = ""
		default:
			c.strs[i] = c.strs[present]
		}
	}
}

// fill turns stored values into cells.
func (c *cells) fill(n int, into *Chunk) {
	decimals := c.leaf.logical == logicalNumber
	switch p := c.leaf.physical; {
	case decimals:
		into.texts = make([]string, n)
		for i := range into.texts {
			if into.Null(i) {
				continue
			}
			if c.asText() {
				into.texts[i] = decimal(bigEndian([]byte(c.strs[i])), c.leaf.scale)
			} else {
				into.texts[i] = decimal(big.NewInt(c.nums[i]), c.leaf.scale)
			}
		}
	case p == byteArrays:
		into.texts = append([]string{}, c.strs[:n]...)
	case p == boolean:
		into.bools = make([]bool, n)
		for i, v := range c.nums[:n] {
			into.bools[i] = v != 0
		}
	case p == float32Values || p == float64Values:
		into.floats, into.single = make([]float64, n), p == float32Values
		for i, v := range c.nums[:n] {
			into.floats[i] = c.float(v)
		}
	default:
		into.ints = append([]int64{}, c.nums[:n]...)
		if c.leaf.logical != logicalInt || !c.leaf.unsigned {
			break
		}
		if into.unsigned = p == int64Values; !into.unsigned {
			for i, v := range into.ints {
				into.ints[i] = int64(uint32(v))
			}
		}
	}
}

func (c *cells) float(bits int64) float64 {
	if c.leaf.physical == float32Values {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(uint64(bits))
}

// maxWidth bounds the length of one list.
const maxWidth = 1 << 20

// vectors reads lists. A level of repetition of 0 begins a row, so a row ends where
// the next begins: what was read beyond it is kept for the next call.
func (c *cells) vectors(n int, into *Chunk) error {
	into.vectors = make([][]float32, n)
	for i := range n {
		list := []float32{}
		for first := true; ; first = false {
			if c.at == c.have {
				c.fetch(batchRows)
			}
			begins := c.have == 0 || c.rep[c.at] == 0
			if first && (c.have == 0 || !begins) {
				return errCut
			}
			if !first && begins {
				break
			}
			if len(list) == maxWidth {
				return errCut
			}
			// Below the largest level something is null or empty: the value, the list or a
			// structure around it. All of them are no vector of numbers.
			x := float32(math.NaN())
			if c.def[c.at] == uint32(c.leaf.maxDefinition) {
				x = float32(c.float(c.nums[c.value]))
				c.value++
			}
			list = append(list, x)
			c.at++
		}
		into.vectors[i] = list
	}
	return nil
}

// end says whether the column has no further cell.
func (c *cells) end() (ended bool) {
	defer func() {
		if recover() != nil {
			ended = false
		}
	}()
	if c.kind != Vector {
		return !c.turn()
	}
	if c.at == c.have {
		c.fetch(batchRows)
	}
	return c.have == 0
}
