package identity

import (
	"slices"
	"strconv"
	"strings"
)

// terminator ends each cell of a record. No text in UTF-8 holds this byte, so that no two records share an
// encoding, unless the names of two columns share a hash.
const terminator = 0xff

// appendLoose appends the loose form of a cell: nothing for a missing one.
//
// A number loses its plus, its exponent, the zeros that lead it and those that end its fraction, so that 1.50, 01.5,
// +1.5 and 1.5e0 are one, as are 7 and 7.0, and 0 and -0. Beyond 15 significant digits it is first rounded to float64, as it is
// when a table goes through a format that stores floats. true and false lose their case. Texts by which other
// programs write a missing value (NA, NaN, null, none and their kin) are missing.
func appendLoose(dst []byte, text string) []byte {
	text = trim(text)
	if text == "" {
		return dst
	}
	switch c := text[0]; {
	case c >= '0' && c <= '9', c == '+', c == '-', c == '.':
		if number, ok := appendNumber(dst, text); ok {
			return number
		}
	case c|0x20 == 't' && len(text) == 4 && strings.EqualFold(text, "true"):
		return append(dst, "true"...)
	case c|0x20 == 'f' && len(text) == 5 && strings.EqualFold(text, "false"):
		return append(dst, "false"...)
	case (c|0x20 == 'n' || c == '#' || c == '<') && len(text) <= 4 && missing(text):
		return dst
	}
	return append(dst, text...)
}

func trim(s string) string {
	for len(s) > 0 && (s[0] <= ' ' || s[0] >= 0x80) {
		if s[0] >= 0x80 {
			return strings.TrimSpace(s)
		}
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] <= ' ' || s[len(s)-1] >= 0x80) {
		if s[len(s)-1] >= 0x80 {
			return strings.TrimSpace(s)
		}
		s = s[:len(s)-1]
	}
	return s
}

// missing lists what pandas, R and SQL write for a missing value.
func missing(text string) bool {
	for _, na := range []string{"na", "nan", "null", "none", "n/a", "#n/a", "#na", "<na>"} {
		if strings.EqualFold(text, na) {
			return true
		}
	}
	return false
}

// appendNumber is appendLoose for a number; ok is false for what is none.
func appendNumber(dst []byte, text string) (_ []byte, ok bool) {
	var mantissa uint64
	exponent, digits, significant := 0, 0, 0
	i, negative, point, power := 0, false, false, false
	if text[0] == '-' || text[0] == '+' {
		negative, i = text[0] == '-', 1
	}
	start := i
scan:
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			digits++
			if point {
				exponent--
			}
			if mantissa == 0 && c == '0' {
				continue
			}
			if significant++; significant <= 19 {
				mantissa = mantissa*10 + uint64(c-'0')
			}
		case c == '.' && !point:
			point = true
		case (c == 'e' || c == 'E') && digits > 0:
			e, err := strconv.Atoi(text[i+1:])
			if err != nil || e > 9999 || e < -9999 {
				return dst, false
			}
			exponent, power = exponent+e, true
			break scan
		default:
			return dst, false
		}
	}
	switch {
	case digits == 0:
		return dst, false
	case mantissa == 0:
		return append(dst, '0'), true
	case significant > 19:
		return appendRounded(dst, text)
	}
	// Most cells are written as they shall be.
	if first, last := text[start], text[len(text)-1]; significant <= 15 && len(text) <= 20 && (start == 0 || negative) && !power &&
		first != '.' && (first != '0' || len(text) > start+1 && text[start+1] == '.') && last != '.' && (!point || last != '0') {
		return append(dst, text...), true
	}
	for mantissa%10 == 0 {
		mantissa /= 10
		exponent++
	}
	if mantissa >= 1e15 {
		return appendRounded(dst, text)
	}
	return appendDecimal(dst, negative, mantissa, exponent), true
}

// appendDecimal writes a number with its point where it is, and with an exponent beyond 21 digits before or 24
// behind it. The mantissa does not end in 0.
func appendDecimal(dst []byte, negative bool, mantissa uint64, exponent int) []byte {
	if negative {
		dst = append(dst, '-')
	}
	start := len(dst)
	dst = strconv.AppendUint(dst, mantissa, 10)
	digits := len(dst) - start
	switch {
	case exponent == 0:
	case exponent > 0 && digits+exponent <= 21:
		for range exponent {
			dst = append(dst, '0')
		}
	case exponent < 0 && exponent >= -24:
		for ; digits <= -exponent; digits++ {
			dst = slices.Insert(dst, start, '0')
		}
		dst = slices.Insert(dst, len(dst)+exponent, '.')
	default:
		dst = append(dst, 'e')
		dst = strconv.AppendInt(dst, int64(exponent), 10)
	}
	return dst
}

// appendRounded writes the nearest float64 by its shortest digits, at most 17.
func appendRounded(dst []byte, text string) ([]byte, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return dst, false // beyond float64: a text like others
	}
	var space [32]byte
	short := strconv.AppendFloat(space[:0], v, 'e', -1, 64)
	var mantissa uint64
	negative, point, exponent := false, false, 0
	for i, c := range short {
		switch {
		case c == '-':
			negative = true
		case c == '.':
			point = true
		case c == 'e':
			power, _ := strconv.Atoi(string(short[i+1:]))
			if mantissa == 0 {
				return append(dst, '0'), true
			}
			for mantissa%10 == 0 {
				mantissa /= 10
				exponent++
			}
			return appendDecimal(dst, negative, mantissa, exponent+power), true
		default:
			mantissa = mantissa*10 + uint64(c-'0')
			if point {
				exponent--
			}
		}
	}
	return dst, false
}
