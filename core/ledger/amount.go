package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
)

// Amount is an exact non-negative decimal: an epsilon or a delta of a budget. It is stored as the
// original text and compared as a rational number, so that 0.1 + 0.9 is 1. The zero Amount is 0.
type Amount struct {
	text  string
	value *big.Rat // nil means 0
}

// Two digits of exponent are plenty; "1e999999999" would need gigabytes.
var amountPattern = regexp.MustCompile(`^([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,2})?$`)

// MaxAmountLength is the longest text of an Amount.
const MaxAmountLength = 64

// ParseAmount reads a decimal such as "1", "0.25" or "1e-6". It refuses signs,
// NaN, infinities, fractions, hexadecimal, exponents beyond ±99 and texts longer
// than 64 characters with an error that wraps ErrInvalid.
func ParseAmount(s string) (Amount, error) {
	if len(s) > MaxAmountLength || !amountPattern.MatchString(s) {
		return Amount{}, fmt.Errorf("%w: %.70q is not a non-negative decimal number such as 1, 0.25 or 1e-6", ErrInvalid, s)
	}
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		return Amount{}, fmt.Errorf("%w: %q is not a decimal number", ErrInvalid, s)
	}
	return Amount{text: s, value: v}, nil
}

// Rat returns a copy of the exact value; changing the copy changes no budget.
func (a Amount) Rat() *big.Rat { return new(big.Rat).Set(a.exact()) }

// exact returns the value itself, to read.
func (a Amount) exact() *big.Rat {
	if a.value == nil {
		return new(big.Rat)
	}
	return a.value
}

// String returns the decimal as it was written.
func (a Amount) String() string {
	if a.text == "" {
		return "0"
	}
	return a.text
}

// Float64 returns the nearest float64.
func (a Amount) Float64() float64 { f, _ := a.exact().Float64(); return f }

// Cmp returns -1, 0 or 1 as a is less than, equal to or greater than b.
func (a Amount) Cmp(b Amount) int { return a.exact().Cmp(b.exact()) }

// IsZero reports whether a is 0.
func (a Amount) IsZero() bool { return a.exact().Sign() == 0 }

// MarshalText implements encoding.TextMarshaler: JSON holds a decimal string.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Amount) UnmarshalText(b []byte) error {
	v, err := ParseAmount(string(b))
	if err != nil {
		return err
	}
	*a = v
	return nil
}

// Resolution is the declared relative resolution of a limit. Bounds are float64 and a budget is a
// decimal: eleven parts of 1/11 add up to 1 + 2e-16 and the float64 nearest to 0.1 exceeds 0.1. An
// excess of up to Resolution times the limit counts as rounding and not as spending.
const Resolution = 1e-12

// allows reports whether the bound x stays within the limit a. NaN and +Inf
// never do.
func (a Amount) allows(x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return false
	}
	limit := new(big.Rat).SetFloat64(Resolution)
	limit.Add(limit, big.NewRat(1, 1)).Mul(limit, a.exact())
	return new(big.Rat).SetFloat64(x).Cmp(limit) <= 0
}

// shownDigits is the number of decimals of every epsilon that is shown.
const shownDigits = 9

// RoundUp returns the smallest decimal of shownDigits digits that is at least x, or the limit if it
// lies between the two (a limit may be finer, and x may exceed it by Resolution); nil means +Inf,
// which is also the result for NaN and negative x, since no valid bound is either. The shortest
// decimal that reads back as x stands for x: 0.95 stays 0.95.
func RoundUp(x float64, limit *Amount) *big.Rat {
	if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return nil
	}
	up := toGrid(x, true)
	if limit != nil && up.Cmp(limit.exact()) > 0 && limit.allows(x) {
		return limit.Rat()
	}
	return up
}

// RoundDown returns the largest decimal of shownDigits digits that is at most x,
// and 0 for a negative or undefined x; nil means +Inf.
func RoundDown(x float64) *big.Rat {
	switch {
	case math.IsInf(x, 1):
		return nil
	case !(x > 0):
		return new(big.Rat)
	}
	return toGrid(x, false)
}

func toGrid(x float64, up bool) *big.Rat {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(shownDigits), nil)
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	r.Mul(r, new(big.Rat).SetInt(scale))
	n, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if up && rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(n, scale)
}

// Number is a float64 that JSON holds as a number, or as "inf" if it is infinite.
type Number float64

// NumberOf returns the float64 nearest to r; nil is +Inf.
func NumberOf(r *big.Rat) Number {
	if r == nil {
		return Number(math.Inf(1))
	}
	f, _ := r.Float64()
	return Number(f)
}

// MarshalJSON writes a number, or the string "inf". NaN is an error.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(n), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads the output of MarshalJSON.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*n = Number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// String returns the shortest decimal, or "inf".
func (n Number) String() string {
	if math.IsInf(float64(n), 1) {
		return "inf"
	}
	return strconv.FormatFloat(float64(n), 'g', -1, 64)
}
