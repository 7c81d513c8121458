package packed

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// columns are numbers of many forms, and what narrowing could get wrong: zeros with a sign, NaNs of other bits,
// infinities, neighbours of the largest codes.
func draw(t *rapid.T, n, width int) []float64 {
	all := make([]float64, n*width)
	for c := range width {
		base := rapid.SampledFrom([]float64{0, -3, 1e6, 1 << 40, -(1 << 52)}).Draw(t, "base")
		span := rapid.SampledFrom([]float64{1, 254, 255, 65534, 65535, 1 << 31, math.MaxUint32 - 1, math.MaxUint32, 1 << 40}).Draw(t, "span")
		divisor := rapid.SampledFrom([]float64{1, 10, 100, 1000, 10000, 3}).Draw(t, "divisor")
		odd := rapid.SampledFrom([]float64{math.NaN(), math.Copysign(0, -1), math.Inf(1), math.Float64frombits(0x7ff8000000000abc), 1.0 / 3, 0.1, float64(float32(0.1)), 5e-324, math.MaxFloat64}).Draw(t, "odd")
		often := rapid.SampledFrom([]int{2, 50, 1 << 30}).Draw(t, "often")
		src := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for i := range n {
			x := base + math.Floor(src.Float64()*(span+1))
			switch src.IntN(8) {
			case 0:
				x = base
			case 1:
				x = base + span
			}
			if all[i*width+c] = x / divisor; src.IntN(often) == 0 {
				all[i*width+c] = odd
			}
		}
	}
	return all
}

// Every number comes back bit by bit, in memory and from the file, whatever the parts that rows came in, in any
// order and after rows were left out.
func TestNumbersComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 5).Draw(t, "width")
		n := rapid.SampledFrom([]int{0, 1, 2, 700, 5000}).Draw(t, "rows")
		all := draw(t, n, width)
		limit := rapid.SampledFrom([]int64{0, 2000, math.MaxInt64}).Draw(t, "limit")
		whole := New(width, NewStore(limit))
		for at := 0; at < n; {
			part := whole.Part()
			for range rapid.IntRange(1, 3000).Draw(t, "part") {
				if at < n {
					if err := part.Append(all[at*width:]); err != nil {
						t.Fatal(err)
					}
					at++
				}
			}
			if err := whole.Join(part); err != nil {
				t.Fatal(err)
			}
		}
		whole.Close()
		var at []int
		var keep []bool
		if rapid.Bool().Draw(t, "leaves out") {
			keep = make([]bool, n)
			for i := range keep {
				keep[i] = i%3 == 1
			}
			whole.Only(keep)
		}
		for i := range n {
			if keep == nil || keep[i] {
				at = append(at, i)
			}
		}
		if whole.Len() != len(at) {
			t.Fatalf("%d rows of %d", whole.Len(), len(at))
		}
		row, src := whole.Reader(), rand.New(rand.NewPCG(uint64(n), 2))
		for k := range len(at) {
			if k%2 == 1 {
				k = src.IntN(len(at))
			}
			for c, x := range row(k) {
				if want := all[at[k]*width+c]; math.Float64bits(x) != math.Float64bits(want) {
					t.Fatalf("row %d, column %d: %v (%x) for %v (%x)", k, c, x, math.Float64bits(x), want, math.Float64bits(want))
				}
			}
		}
	})
}

// Rows take the room that their numbers need.
func TestRoom(t *testing.T) {
	for _, tt := range []struct {
		name string
		x    func(i int) float64
		want int
	}{
		{"all alike", func(int) float64 { return 0.1 }, 0},
		{"missing", func(int) float64 { return math.NaN() }, 0},
		{"levels", func(i int) float64 { return float64(i % 200) }, 1},
		{"years", func(i int) float64 { return 1900 + float64(i%200) }, 1},
		{"a thousand", func(i int) float64 { return float64(i % 1000) }, 2},
		{"cents", func(i int) float64 { return float64(i*997%1000000) / 100 }, 4},
		{"float32", func(i int) float64 { return float64(float32(math.Sin(float64(i)))) }, 4},
		{"float64", func(i int) float64 { return math.Sin(float64(i)) }, 8},
	} {
		table := New(1, NewStore(math.MaxInt64))
		for i := range 4096 {
			table.Append([]float64{tt.x(i)})
		}
		if got := table.blocks[0].stride; got != tt.want {
			t.Errorf("%s: %d bytes a row, want %d", tt.name, got, tt.want)
		}
	}
}

// What lies in the file is neither what was put there nor the same twice, and the file has no name.
func TestFileIsSecret(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	secret := []byte(strings.Repeat("a secret cell; ", 1000))
	s := NewStore(0)
	var pieces []piece
	for range 2 {
		p, err := s.put(bytes.Clone(secret))
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, p)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the folder for temporary files holds %v (%v)", left, err)
	}
	raw := make([]byte, s.size)
	if _, err := s.file.ReadAt(raw, 0); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	if info, err := s.file.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	if bytes.Contains(raw, []byte("secret")) {
		t.Error("the file shows what was put there")
	}
	at := pieces[1].at
	same := 0
	for i := range secret {
		if raw[i] == raw[int(at)+i] {
			same++
		}
	}
	// 1 in 256 by chance: 15,000 bytes agree in 59 ± 8.
	if same > 59+8*8 {
		t.Errorf("equal pieces agree in %d of %d bytes: a key stream was used twice", same, len(secret))
	}
	if data, _ := s.get(pieces[0], nil); !bytes.Equal(data, secret) {
		t.Error("another content came back")
	}
}

// Where the file cannot be written, the one who appends hears of it, in one line that says how to mend it and
// nothing of rows.
func TestNoRoom(t *testing.T) {
	dir := t.TempDir() + "/there is none"
	t.Setenv("TMPDIR", dir)
	table := New(1, NewStore(0))
	var err error
	for i := 0; err == nil && i < 1<<20; i++ {
		err = table.Append([]float64{float64(i * i)})
	}
	var hinted interface{ Hint() string }
	if err == nil || !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), "TMPDIR") || strings.ContainsAny(strings.ReplaceAll(err.Error(), dir, ""), "\n0123456789") {
		t.Errorf("got %v", err)
	}
}

// A file that cannot be read any longer is a panic without a word of rows, and that of a text an error.
func TestFileThatIsLost(t *testing.T) {
	s := NewStore(0)
	table := New(1, s)
	for i := range 10_000 {
		if err := table.Append([]float64{float64(i * i)}); err != nil {
			t.Fatal(err)
		}
	}
	table.Close()
	text, err := ReadText(strings.NewReader(strings.Repeat("x", 5000)), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.file.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(text.Reader()); err == nil || strings.ContainsAny(err.Error(), "0123456789") {
		t.Errorf("text: %v", err)
	}
	defer func() {
		if got := recover(); got != "packed: the temporary file of rows cannot be read" {
			t.Errorf("rows: panic %v", got)
		}
	}()
	table.Reader()(0)
}

func TestTextComesBack(t *testing.T) {
	text := make([]byte, 3<<20+17)
	src := rand.New(rand.NewPCG(1, 1))
	for i := range text {
		text[i] = byte(src.Uint32())
	}
	for _, limit := range []int64{0, 1 << 20, math.MaxInt64} {
		got, err := ReadText(bytes.NewReader(text), NewStore(limit))
		if err != nil || got.Size() != int64(len(text)) {
			t.Fatal(got, err)
		}
		for range 2 {
			if again, err := io.ReadAll(got.Reader()); err != nil || !bytes.Equal(again, text) {
				t.Errorf("limit %d: another text came back (%v)", limit, err)
			}
		}
	}
}

func BenchmarkReader(b *testing.B) {
	for name, limit := range map[string]int64{"memory": math.MaxInt64, "file": 0} {
		b.Run(name, func(b *testing.B) {
			const width, n = 17, 1 << 17
			table := New(width, NewStore(limit))
			row := make([]float64, width)
			for i := range n {
				for c := range row {
					row[c] = float64(i * (c + 1) % (100 << (c / 4 * 3)))
				}
				table.Append(row)
			}
			table.Close()
			read := table.Reader()
			b.ResetTimer()
			for i := range b.N {
				read(i % n)
			}
		})
	}
}

// A process in a group of a group has the least of their limits: all files that may hold one are read.
func TestControlGroups(t *testing.T) {
	for content, want := range map[string][]string{
		"":            nil,
		"0::/\n":      {"/sys/fs/cgroup/memory.max"},
		"0::/a/b.s\n": {"/sys/fs/cgroup/a/b.s/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/memory.max"},
		"3:cpu,cpuacct:/c\n2:memory:/m:x\n1:name=systemd:/\n0::/\n": {"/sys/fs/cgroup/memory/m:x/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max"},
		"nonsense\n": nil,
	} {
		if got := groupLimits(content); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", content, got, want)
		}
	}
}
