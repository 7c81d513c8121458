package query

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"pawl/internal/usage"
	"strconv"
	"strings"
)

// Ask asks for the facts, one line each, and asks again where an answer is none. It ends
// when ctx does: a reader that waits for a terminal does not see that by itself.
func (f *Facts) Ask(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	next := func() (ok bool, err error) {
		scanned := make(chan bool, 1)
		go func() { scanned <- lines.Scan() }()
		select {
		case ok := <-scanned:
			return ok, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	question := func(text, usual string, take func(string) error) error {
		for {
			fmt.Fprintf(out, "%s", text)
			if usual != "" {
				fmt.Fprintf(out, " [%s]", usual)
			}
			fmt.Fprint(out, ": ")
			ok, err := next()
			if err != nil {
				fmt.Fprintln(out)
				return err
			}
			if !ok {
				fmt.Fprintln(out)
				return errors.Join(lines.Err(), usage.New("the input ended before all questions were answered", "pawl advise --help lists the flags for the same facts"))
			}
			s := strings.TrimSpace(lines.Text())
			if s == "" {
				s = usual
			}
			err = take(s)
			if err == nil {
				return nil
			}
			fmt.Fprintf(out, "  %s\n", err)
		}
	}
	whole := func(to *int64, least int64) func(string) error {
		return func(s string) error {
			v, err := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(s), 10, 64)
			if err != nil || v < least {
				return fmt.Errorf("please enter a whole number of at least %d", least)
			}
			*to = v
			return nil
		}
	}
	one := func(to *string, words ...string) func(string) error {
		return func(s string) error {
			for _, w := range words {
				if s != "" && strings.HasPrefix(w, strings.ToLower(s)) {
					*to = w
					return nil
				}
			}
			return fmt.Errorf("please enter one of: %s", strings.Join(words, ", "))
		}
	}
	kind := ""
	steps := []func() error{
		func() error { return question("Number of rows", "", whole(&f.Rows, 1)) },
		func() error {
			return question("Kind of data: table, text, images or vectors from a public extractor", "table", one(&kind, "table", "text", "images", "vectors"))
		},
		func() error { return f.askKind(kind, question, whole) },
		func() error {
			if kind == "images" {
				f.Task = "classification"
				return nil
			}
			return question("Task: classification or regression", "classification", one(&f.Task, "classification", "regression"))
		},
		func() error {
			if f.Task == "regression" {
				return nil
			}
			f.Given["classes"] = true
			return question("Number of classes", "2", whole(&f.Classes, 2))
		},
		func() error {
			return question("Epsilon of the whole job", "1", func(s string) error {
				_, err := positive("epsilon", s)
				f.Epsilon = s
				return err
			})
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	f.Given["rows"], f.Given["task"], f.Given["epsilon"] = true, true, true
	return nil
}

// askKind asks what depends on the kind of data.
func (f *Facts) askKind(kind string, question func(string, string, func(string) error) error, whole func(*int64, int64) func(string) error) error {
	switch kind {
	case "images":
		f.Given["images"] = true
		return question("Height x width x channels", "28x28x1", func(s string) error {
			_, err := parseShape(s)
			f.Images = s
			return err
		})
	case "vectors":
		f.Given["vectors"] = true
		return question("Length of a vector", "512", whole(&f.Vectors, 1))
	case "text":
		f.Given["text"], f.Text = true, true
		return nil
	}
	f.Given["attributes"] = true
	return question("Attributes (columns besides the target)", "", whole(&f.Attributes, 1))
}
