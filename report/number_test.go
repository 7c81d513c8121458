package report

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/evidence/quality"
)

func TestRounding(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name     string
		x        float64
		up, down string
	}{
		{"just below one", 0.9999991, "1.00", "0.99"},
		{"just above one", 1.001, "1.01", "1.00"},
		{"two decimals stay", 1.1, "1.10", "1.10"},
		{"0.57 times 100 is not 57 in binary", 0.57, "0.57", "0.57"},
		{"0.29 times 100 is not 29 in binary", 0.29, "0.29", "0.29"},
		{"zero", 0, "0.00", "0.00"},
		{"tiny is not free", 1e-300, "0.01", "0.00"},
		{"negative left", -0.001, "0.00", "-0.01"},
		{"infinite", inf, "∞", "∞"},
		{"missing", math.NaN(), suppressed, suppressed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := up2(Number(c.x)); got != c.up {
				t.Errorf("up2(%v) = %q, want %q", c.x, got, c.up)
			}
			if got := down2(Number(c.x)); got != c.down {
				t.Errorf("down2(%v) = %q, want %q", c.x, got, c.down)
			}
		})
	}
}

func TestRoundingNeverUnderstates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0, 1e6).Draw(t, "x")
		truth, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'f', -1, 64))
		up, _ := new(big.Rat).SetString(up2(Number(x)))
		down, _ := new(big.Rat).SetString(down2(Number(x)))
		step := big.NewRat(1, 100)
		if up.Cmp(truth) < 0 || new(big.Rat).Sub(up, truth).Cmp(step) >= 0 {
			t.Fatalf("up2(%v) = %v", x, up2(Number(x)))
		}
		if down.Cmp(truth) > 0 || new(big.Rat).Sub(truth, down).Cmp(step) >= 0 {
			t.Fatalf("down2(%v) = %v", x, down2(Number(x)))
		}
	})
}

func TestDelta(t *testing.T) {
	for _, c := range []struct {
		delta               float64
		words, plain, oneIn string
	}{
		{1e-6, "10⁻⁶", "1e-06", "1 in 1,000,000"},
		{3.01e-6, "3.1 × 10⁻⁶", "3.1e-06", "1 in 320,000"},
		{9.99e-6, "10⁻⁵", "1e-05", "1 in 100,000"},
		{2e-12, "2 × 10⁻¹²", "2e-12", "1 in 500,000,000,000"},
		{0.25, "2.5 × 10⁻¹", "0.25", "1 in 4"},
		{0, "0", "0", ""},
		{1, "1.00", "1", ""},
	} {
		if got := deltaWords(Number(c.delta)); got != c.words {
			t.Errorf("deltaWords(%v) = %q, want %q", c.delta, got, c.words)
		}
		if got := deltaPlain(Number(c.delta)); got != c.plain {
			t.Errorf("deltaPlain(%v) = %q, want %q", c.delta, got, c.plain)
		}
		if got := oneIn(Number(c.delta)); got != c.oneIn {
			t.Errorf("oneIn(%v) = %q, want %q", c.delta, got, c.oneIn)
		}
	}
}

// The values at prior one half are those of e^ε/(1+e^ε).
func TestPosterior(t *testing.T) {
	for _, c := range []struct {
		prior, epsilon float64
		want           string
	}{
		{0.5, 0, "50.00%"},
		{0.5, 1, "73.11%"},
		{0.5, 2.11, "89.19%"},
		{0.5, 8, "99.97%"},
		{0.01, 1, "2.68%"},
		{0.5, 1e9, "100.00%"},
		{0.5, math.Inf(1), "100.00%"},
	} {
		if got := percentUp(posterior(c.prior, c.epsilon)); got != c.want {
			t.Errorf("prior %v, epsilon %v: %s, want %s", c.prior, c.epsilon, got, c.want)
		}
	}
}

func TestQuantity(t *testing.T) {
	for x, want := range map[float64]string{12345.6: "12,346", 1234567: "1,234,567", -1500: "−1,500", 12.345: "12.35", 0: "0.00", 0.00123456: "0.00123"} {
		if got := quantity(x); got != want {
			t.Errorf("quantity(%v) = %q, want %q", x, got, want)
		}
	}
}

func TestPlotsKeepTheirPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hospital()
		low := rapid.Float64Range(-1e3, 1e3).Draw(t, "low")
		width := rapid.Float64Range(0, 1e3).Draw(t, "width")
		s.Score.Value = Number(low)
		s.Score.Interval = [2]Number{Number(low - width), Number(low + width)}
		p := scorePlot(s)
		if n := len(p.Ticks); n < 2 || n > 12 {
			t.Fatalf("%d ticks for [%v, %v]", n, low-width, low+width)
		}
		for _, r := range p.Rows {
			for _, x := range []float64{r.X, r.X1, r.X2} {
				if !(x >= plotLeft-1e-6 && x <= plotRight+1e-6) {
					t.Fatalf("%s at %v outside of the plot", r.Name, x)
				}
			}
		}
	})
}

func TestLedgerBar(t *testing.T) {
	amount := func(e float64) Amount { return Amount{Number(e), 0} }
	parts := ledgerBar(Budget{Total: amount(2), Spent: amount(1), Reserved: amount(0.5), Left: amount(0.5)}, 100)
	if len(parts) != 3 || parts[0].Width != 50 || parts[2].X != 75 || parts[2].Width != 25 {
		t.Errorf("parts = %+v", parts)
	}
	for name, b := range map[string]Budget{
		"no limit": {Total: amount(math.Inf(1)), Left: amount(math.Inf(1))},
		"missing":  {Total: amount(1), Spent: amount(math.NaN())},
		"nothing":  {},
	} {
		if parts := ledgerBar(b, 100); parts != nil {
			t.Errorf("%s: parts = %+v, want none", name, parts)
		}
	}
}

func TestMissingIsNeverZero(t *testing.T) {
	s := hospital()
	nan := Number(math.NaN())
	s.Score.Value, s.Score.Interval, s.Score.Baseline, s.Score.BaselineInterval = nan, [2]Number{nan, nan}, nan, nil
	s.Score.Verdict, s.Score.Gain, s.Score.Classification = quality.NotDetermined, &quality.Estimate{}, &quality.Classification{}
	page := mustHTML(t, s)
	if !strings.Contains(page, "This model <tspan class=\"value\">not determined</tspan>") {
		t.Error("a missing score is not shown as not determined")
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "0.0%") {
		t.Error("a missing score shows as NaN or 0")
	}
	if !strings.Contains(page, "Whether the model is useful is not determined.") {
		t.Error("the verdict claims a quality that was not released")
	}
}
