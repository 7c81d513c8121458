package reader

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A line that is read the short way is one that object reads, and holds the same cells; usual lines are read the short
// way. What is made of usual lines by changing bytes reaches every fault.
func TestFlatLines(t *testing.T) {
	usual := []string{
		`{"age": 31, "ward": "a", "ill": true}`, `{}`, ` { "a":null ,"b" : -0.5e+10,"c":"" } `, `{"n":0,"m":-1,"x":1E5,"y":10.25}`,
		`{"name":"Zoë","é":false}`, `{"a":"b","a2":"a","":1}`, `{"a": "` + strings.Repeat("x", maxCell+1) + `"}`,
	}
	var others []string
	r := rand.New(rand.NewPCG(1, 2))
	letters := []byte("{}[]\":,\\ -+.eE019truefalsn\t\r\x00\x1f\x7f\x80\xc3ab")
	for range 60_000 {
		line := []byte(usual[r.IntN(len(usual)-1)])
		for range 1 + r.IntN(3) {
			at := r.IntN(len(line) + 1)
			switch b := letters[r.IntN(len(letters))]; r.IntN(3) {
			case 0:
				line = slices.Insert(line, at, b)
			case 1:
				if at < len(line) {
					line[at] = b
				}
			default:
				if at < len(line) {
					line = slices.Delete(line, at, at+1)
				}
			}
			if len(line) == 0 {
				break
			}
		}
		others = append(others, string(line))
	}
	others = append(others, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":-}`, `{"a":1e}`, `{"a":+1}`, `{"a":1,}`, `{"a":1}x`, `{"a":1} {"b":2}`, `{"a":truex}`, `{"a":1,"a":2}`, `{"a":[1]}`, `{"a":{}}`, `{"a":"\u0041"}`, `{"a":"\n"}`, `[1]`, `1`, ``)
	// Names as in the line before, and then one of them again.
	others = append(others, `{"p":1,"q":2}`, `{"p":1,"q":2,"p":3}`, `{"p":1,"p":2}`, `{"q":1,"p":2}`, `{"q":1}`, `{"q":1,"q":2}`)
	var f flat
	short := 0
	for i, line := range slices.Concat(usual, others) {
		if !f.read(line) {
			if i < len(usual) && line != "{}" {
				t.Errorf("a usual line is not read the short way: %.60s", line)
			}
			continue
		}
		short++
		var want []string
		bad := object(line, func(key string, c cell) string {
			want = append(want, fmt.Sprint(key, c))
			return ""
		})
		var got []string
		for k, key := range f.keys {
			got = append(got, fmt.Sprint(key, f.cells[k]))
		}
		if bad != "" || !slices.Equal(got, want) {
			t.Errorf("%.80q: %.80v, want %.80v (%s)", line, got, want, bad)
		}
	}
	if short < 2000 || short > len(others)-2000 {
		t.Errorf("%d of %d lines are read the short way", short, len(usual)+len(others))
	}
}
