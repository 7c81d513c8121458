package attack

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

// ReadScores reads the scores of an attack that was made elsewhere: a CSV with a header
// that names the columns score and member, in any order and case, and may name class;
// others are ignored. member is 1 or 0, or true or false; class is a whole number from 0.
//
// Errors name the line and the column and never what stands there.
func ReadScores(r io.Reader) (Scored, error) {
	text := bufio.NewReader(r)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		_, _ = text.Discard(3) // before a quoted name the CSV reader would refuse it
	}
	in := csv.NewReader(text)
	in.TrimLeadingSpace = true
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return Scored{}, invalid("the file of scores is empty; its first line names the columns score and member")
	}
	if err != nil {
		return Scored{}, badLine(err)
	}
	at := map[string]int{}
	for i, name := range head {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := at[name]; twice && (name == "score" || name == "member" || name == "class") {
			return Scored{}, invalid("two columns are named %s", name)
		}
		at[name] = i
	}
	score, okScore := at["score"]
	member, okMember := at["member"]
	if !okScore || !okMember {
		return Scored{}, invalid("the first line must name the columns score and member")
	}
	class, classes := at["class"]
	var s Scored
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Scored{}, badLine(err)
		}
		line, _ := in.FieldPos(0)
		v, err := strconv.ParseFloat(strings.TrimSpace(cells[score]), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return Scored{}, invalid("line %d: score is not a finite number", line)
		}
		m, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(cells[member])))
		if err != nil {
			return Scored{}, invalid("line %d: member is neither 1 nor 0, nor true nor false", line)
		}
		s.Score, s.Member = append(s.Score, v), append(s.Member, m)
		if classes {
			c, err := strconv.Atoi(strings.TrimSpace(cells[class]))
			if err != nil || c < 0 || c > math.MaxInt16 {
				return Scored{}, invalid("line %d: class is not a whole number from 0", line)
			}
			s.Class = append(s.Class, c)
		}
	}
	return s, s.Check()
}

// badLine keeps the place of a fault in the file and not the text, which may hold cells.
func badLine(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return invalid("line %d, column %d: %v", parse.Line, parse.Column, parse.Err)
	}
	return err
}
