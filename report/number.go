package report

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// suppressed stands for a value that was not released. It is never written as 0,
// which a reader would take for a count or a score.
const suppressed = "suppressed"

// decimal writes x with the given number of decimals, rounded up or down. It works
// on the shortest decimal that reads back as x: in binary 1.1 is a little more than
// 1.1, and multiplying by 100 would turn it into 1.11.
func decimal(x float64, places int, up bool) string {
	switch {
	case math.IsNaN(x):
		return suppressed
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	}
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'f', -1, 64))
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	r.Mul(r, new(big.Rat).SetInt(scale))
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if up && m.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(q, scale).FloatString(places)
}

// up2 is for costs and claims: what is shown is never smaller than what is true.
func up2(n Number) string { return decimal(float64(n), digits(n), true) }

// down2 is for what is granted or left: never larger than what is true.
func down2(n Number) string { return decimal(float64(n), digits(n), false) }

// digits is two decimals, and as many more as a small number needs to show two
// significant ones: an epsilon of 0.001 is not 0.01.
func digits(n Number) int {
	if f := float64(n); f >= 1e-6 && f < 0.1 {
		return 1 - int(math.Floor(math.Log10(f)))
	}
	return 2
}

// exact writes every digit that is needed to read the number back.
func exact(n Number) string {
	f := float64(n)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return decimal(f, 0, true)
	}
	if f == 0 {
		return "0" // also for −0
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// deltaMantissa splits delta > 0 into a mantissa of at most two digits, rounded up,
// and a power of ten.
func deltaMantissa(delta float64) (mantissa string, exponent int) {
	digits, exp, _ := strings.Cut(strconv.FormatFloat(delta, 'e', -1, 64), "e")
	exponent, _ = strconv.Atoi(exp)
	m, _ := strconv.ParseFloat(digits, 64)
	mantissa = strings.TrimSuffix(decimal(m, 1, true), ".0")
	if mantissa == "10" {
		return "1", exponent + 1
	}
	return mantissa, exponent
}

// deltaWords writes delta in print form, two digits rounded up: "10⁻⁶", "3.1 × 10⁻⁶".
func deltaWords(n Number) string {
	d := float64(n)
	if d == 0 {
		return "0"
	}
	if !(d > 0 && d < 1) {
		return decimal(d, 2, true)
	}
	m, e := deltaMantissa(d)
	power := "10" + superscript(e)
	if m == "1" {
		return power
	}
	return m + " × " + power
}

// deltaPlain writes delta for a terminal: "1e-06".
func deltaPlain(n Number) string {
	d := float64(n)
	if !(d > 0 && d < 1) {
		return exact(n)
	}
	m, e := deltaMantissa(d)
	f, _ := strconv.ParseFloat(m+"e"+strconv.Itoa(e), 64)
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// oneIn writes the chance delta as "1 in 1,000,000". The count is rounded down to
// two digits, so that the chance is not understated.
func oneIn(n Number) string {
	d := float64(n)
	if !(d > 0 && d < 1) {
		return ""
	}
	m, e := deltaMantissa(d)
	up, _ := new(big.Rat).SetString(m + "e" + strconv.Itoa(e))
	inv := new(big.Rat).Inv(up)
	count := new(big.Int).Quo(inv.Num(), inv.Denom()).String()
	if len(count) > 2 {
		count = count[:2] + strings.Repeat("0", len(count)-2)
	}
	return "1 in " + group(count)
}

func superscript(n int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
		"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
}

// group puts commas between thousands of a string of digits with an optional sign
// and decimals.
func group(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "−", s[1:]
	}
	whole, rest, point := strings.Cut(s, ".")
	var b strings.Builder
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if point {
		b.WriteString("." + rest)
	}
	return sign + b.String()
}

// posterior bounds the belief of somebody who holds a prior that one unit is in the
// data, after seeing all that was released: p·e^ε / (1 − p + p·e^ε). At prior 1/2
// this is e^ε/(1+e^ε). ε = +Inf gives 1.
func posterior(prior, epsilon float64) float64 {
	// Written with e^−ε, which underflows to 0 where e^ε would overflow.
	return prior / (prior + (1-prior)*math.Exp(-epsilon))
}

// percent writes a fraction of 1 as a percentage, to the nearest tenth.
func percent(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return decimal(x, 1, true)
	}
	return strings.Replace(strconv.FormatFloat(100*x, 'f', 1, 64), "-", "−", 1) + "%"
}

// percentUp writes an upper bound on a probability, two decimals, rounded up.
func percentUp(x float64) string { return decimal(100*x, 2, true) + "%" }

// rounded writes a mark of an axis with as many decimals as its step needs.
func rounded(x, step float64) string {
	places := 0
	if step > 0 && step < 1 {
		places = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	if math.Abs(x) < step/1e6 {
		x = 0
	}
	return group(strconv.FormatFloat(x, 'f', places, 64))
}
