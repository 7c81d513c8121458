package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naiveConv visits every product of the definition once.
func naiveConv(c *Conv, batch int, visit func(in, weight, out int)) {
	s := c.s
	for b := range batch {
		for oy := range c.outHeight {
			for ox := range c.outWidth {
				for f := range s.Filters {
					g := f / c.filters
					for i := range s.KernelHeight {
						for j := range s.KernelWidth {
							y, x := oy*s.Stride+i*max(s.DilationHeight, 1)-c.top, ox*s.Stride+j*max(s.DilationWidth, 1)-c.left
							if y < 0 || y >= s.Height || x < 0 || x >= s.Width {
								continue
							}
							for k := range c.channels {
								visit(((b*s.Height+y)*s.Width+x)*s.Channels+g*c.channels+k,
									(((g*s.KernelHeight+i)*s.KernelWidth+j)*c.channels+k)*c.filters+f%c.filters,
									((b*c.outHeight+oy)*c.outWidth+ox)*s.Filters+f)
							}
						}
					}
				}
			}
		}
	}
}

func checkConv(t failer, x *machine, s ConvShape, batch int, seed uint64) {
	t.Helper()
	c, err := NewConv(s)
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	// Small integers are exact in any order of sums.
	fill := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.IntN(9) - 4)
		}
		return v
	}
	in, out, weights := fill(batch*c.InputSize()), fill(batch*c.OutputSize()), fill(c.WeightSize())
	dw, wantDW := fill(c.WeightSize()), make([]float32, c.WeightSize())
	copy(wantDW, dw)
	dIn, wantIn, wantOut := fill(len(in)), make([]float32, len(in)), make([]float32, len(out))
	naiveConv(c, batch, func(i, w, o int) {
		wantOut[o] += in[i] * weights[w]
		wantDW[w] += in[i] * out[o]
		wantIn[i] += weights[w] * out[o]
	})
	compare := func(what string, got, want []float32) {
		t.Helper()
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s of %+v, batch %d: place %d is %v, want %v", what, s, batch, i, got[i], want[i])
			}
		}
	}
	var w ConvWeights
	x.packConv(c, &w, weights)
	x.convInputGradient(c, dIn, out, batch, &w)
	compare("input gradient", dIn, wantIn)

	product := make([]float32, len(out))
	for g := range s.Groups {
		patches := fill(batch * c.Positions() * c.PatchSize())
		n := batch * c.Positions()
		cut := rng.IntN(n + 1) // mostly within an image
		x.convPatches(c, patches[:cut*c.PatchSize()], in, g, 0, cut)
		x.convPatches(c, patches[cut*c.PatchSize():], in, g, cut, n)
		if batch > 0 {
			x.matMul(c.groupOutput(product, g, 0, n), Dense(patches, n, c.PatchSize()), c.groupWeights(weights, g), false)
			dOut := make([]float32, n*c.filters)
			for i := range n {
				copy(dOut[i*c.filters:], c.groupOutput(out, g, i, i+1).Data[:c.filters])
			}
			x.convWeightGradient(c, c.groupWeights(dw, g).Data, dOut[:cut*c.filters], in, g, 0, true)
			x.convWeightGradient(c, c.groupWeights(dw, g).Data, dOut[cut*c.filters:], in, g, cut, true)
		}
	}
	compare("weight gradient", dw, wantDW)
	compare("product of patches", product, wantOut)
	x.convForward(c, out, in, batch, &w, nil)
	compare("output", out, wantOut)
	bias := fill(s.Filters)
	x.convForward(c, out, in, batch, &w, bias)
	for i := range wantOut {
		wantOut[i] += bias[i%s.Filters]
	}
	compare("output with a bias", out, wantOut)
}

func (c *Conv) groupWeights(weights []float32, g int) Matrix {
	n := c.PatchSize() * c.filters
	return Dense(weights[g*n:(g+1)*n], c.PatchSize(), c.filters)
}

func TestConvIsExactOnIntegersForAllShapes(t *testing.T) {
	onEach(t, func(t *testing.T, x *machine) {
		rapid.Check(t, func(t *rapid.T) {
			small := rapid.IntRange(1, 4)
			groups := rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "groups")
			s := ConvShape{
				KernelHeight: small.Draw(t, "kernel height"), KernelWidth: small.Draw(t, "kernel width"),
				Channels: groups * rapid.SampledFrom([]int{1, 2, 3, 5, 8, 17}).Draw(t, "channels"),
				Filters:  groups * rapid.SampledFrom([]int{1, 2, 7, 16, 33}).Draw(t, "filters"),
				Stride:   rapid.IntRange(1, 3).Draw(t, "stride"), Groups: groups, Same: rapid.Bool().Draw(t, "same"),
				DilationHeight: rapid.IntRange(0, 3).Draw(t, "dilation of rows"), DilationWidth: rapid.IntRange(0, 3).Draw(t, "dilation of columns"),
			}
			least := rapid.IntRange(1, 12)
			s.Height, s.Width = least.Draw(t, "height"), least.Draw(t, "width")
			if !s.Same {
				s.Height, s.Width = max(s.Height, extent(s.KernelHeight, max(s.DilationHeight, 1))), max(s.Width, extent(s.KernelWidth, max(s.DilationWidth, 1)))
			}
			checkConv(t, x, s, rapid.IntRange(0, 4).Draw(t, "batch"), rapid.Uint64().Draw(t, "seed"))
		})
	})
}

// The layers of the networks that this package is measured on, many blocks long.
func TestConvIsExactOnTheNetworksLayers(t *testing.T) {
	onEach(t, func(t *testing.T, x *machine) {
		for i, s := range []ConvShape{
			{Height: 28, Width: 28, Channels: 1, KernelHeight: 8, KernelWidth: 8, Filters: 16, Stride: 2, Groups: 1, Same: true},
			{Height: 13, Width: 13, Channels: 16, KernelHeight: 4, KernelWidth: 4, Filters: 32, Stride: 2, Groups: 1},
			{Height: 32, Width: 32, Channels: 3, KernelHeight: 3, KernelWidth: 3, Filters: 32, Stride: 1, Groups: 1, Same: true},
			{Height: 4, Width: 4, Channels: 128, KernelHeight: 3, KernelWidth: 3, Filters: 256, Stride: 1, Groups: 1, Same: true},
			{Height: 9, Width: 9, Channels: 8, KernelHeight: 3, KernelWidth: 3, Filters: 8, Stride: 1, Groups: 8, Same: true},
			{Height: 1, Width: 40, Channels: 5, KernelHeight: 1, KernelWidth: 7, Filters: 9, Stride: 3, Groups: 1, Same: true},
			{Height: 28, Width: 28, Channels: 16, KernelHeight: 3, KernelWidth: 3, Filters: 32, Stride: 1, Groups: 1, Same: true, DilationHeight: 2, DilationWidth: 2},
			{Height: 13, Width: 13, Channels: 16, KernelHeight: 3, KernelWidth: 3, Filters: 32, Stride: 2, Groups: 2, DilationHeight: 4, DilationWidth: 3},
			{Height: 2, Width: 2, Channels: 2, KernelHeight: 9, KernelWidth: 9, Filters: 3, Stride: 1, Groups: 1, Same: true},
		} {
			checkConv(t, x, s, 3, uint64(i))
		}
	})
}

func TestConvBitsDoNotDependOnTheSplit(t *testing.T) {
	c, err := NewConv(ConvShape{Height: 13, Width: 11, Channels: 6, KernelHeight: 3, KernelWidth: 5, Filters: 20, Stride: 2, Groups: 2, Same: true})
	if err != nil {
		t.Fatal(err)
	}
	const batch = 23
	in, weights := draw(testKey(1), 0, batch*c.InputSize()), draw(testKey(2), 0, c.WeightSize())
	onEach(t, func(t *testing.T, x *machine) {
		var w ConvWeights
		x.packConv(c, &w, weights)
		out, dIn := make([]float32, batch*c.OutputSize()), make([]float32, len(in))
		x.convForward(c, out, in, batch, &w, nil)
		x.convInputGradient(c, dIn, out, batch, &w)
		outParts, inParts := make([]float32, len(out)), make([]float32, len(in))
		for _, cut := range [][2]int{{0, 1}, {1, 9}, {9, 9}, {9, 23}} {
			n, i, o := cut[1]-cut[0], c.InputSize(), c.OutputSize()
			x.convForward(c, outParts[cut[0]*o:cut[1]*o], in[cut[0]*i:cut[1]*i], n, &w, nil)
			x.convInputGradient(c, inParts[cut[0]*i:cut[1]*i], outParts[cut[0]*o:cut[1]*o], n, &w)
		}
		if !slices.Equal(out, outParts) || !slices.Equal(dIn, inParts) {
			t.Error("an image's result depends on its neighbours in the batch")
		}
	})
}

func TestConvShapesAreChecked(t *testing.T) {
	good := ConvShape{Height: 5, Width: 5, Channels: 4, KernelHeight: 3, KernelWidth: 3, Filters: 6, Stride: 1, Groups: 2}
	for _, c := range []struct {
		name   string
		change func(*ConvShape)
		want   string
	}{
		{"height", func(s *ConvShape) { s.Height = 0 }, "convolution: height is 0"},
		{"stride", func(s *ConvShape) { s.Stride = -1 }, "convolution: stride is -1"},
		{"groups of channels", func(s *ConvShape) { s.Channels = 5 }, "convolution: 2 groups of 5 channels and 6 filters"},
		{"groups of filters", func(s *ConvShape) { s.Filters = 3 }, "convolution: 2 groups of 4 channels and 3 filters"},
		{"kernel", func(s *ConvShape) { s.KernelWidth = 6 }, "convolution: kernel of 3×6 in an image of 5×5"},
	} {
		s := good
		c.change(&s)
		if _, err := NewConv(s); fmt.Sprint(err) != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	conv, err := NewConv(good)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if got, want := fmt.Sprint(recover()), "kernel: convolution of 99 inputs, want 100"; got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	conv.Forward(nil, make([]float32, 99), 1, new(ConvWeights), nil)
}
