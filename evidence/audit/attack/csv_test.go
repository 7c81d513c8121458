package attack

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestReadScores(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Scored
	}{
		{"plain", "score,member\n1.5,1\n-2,0\n", Scored{[]float64{1.5, -2}, []bool{true, false}, nil}},
		{"order, case, blanks and a mark", "\ufeff\"Member\", id ,SCORE\ntrue,x,3\nFalse,y, 4\n", Scored{[]float64{3, 4}, []bool{true, false}, nil}},
		{"class", "class,score,member\n2,1,0\n0,2,1\n", Scored{[]float64{1, 2}, []bool{false, true}, []int{2, 0}}},
	} {
		got, err := ReadScores(strings.NewReader(c.text))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// Faults name the place, and never what stands there.
func TestReadScoresRefuses(t *testing.T) {
	const secret = "Ms. Secret"
	for _, c := range []struct {
		name, text, want string
		is               error
	}{
		{"empty", "", "empty", ErrInput},
		{"no member", "score\n1\n", "score and member", ErrInput},
		{"twice", "score,score,member\n1,1,1\n", "two columns", ErrInput},
		{"score", "score,member\n1,1\n" + secret + ",0\n", "line 3: score", ErrInput},
		{"NaN", "score,member\nNaN,1\n", "line 2: score", ErrInput},
		{"infinite", "score,member\n+Inf,1\n", "line 2: score", ErrInput},
		{"member", "score,member\n1," + secret + "\n", "line 2: member", ErrInput},
		{"class", "score,member,class\n1,1," + secret + "\n", "line 2: class", ErrInput},
		{"negative class", "score,member,class\n1,1,-1\n", "line 2: class", ErrInput},
		{"cells", "score,member\n1,1,\"" + secret + "\"\n", "line 2", ErrInput},
		{"quotes", "score,member\n1,\"" + secret + "\"x\n", "line 2", ErrInput},
		{"members only", "score,member\n1,1\n2,1\n", "2 members and 0 others", ErrInput},
		{"constant", "score,member\n1,1\n1,0\n", "equal", ErrConstant},
	} {
		_, err := ReadScores(strings.NewReader(c.text))
		if err == nil || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Secret") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
