package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ask asks for the facts, one line each, and asks again where an answer is none. It ends
// when ctx does: a reader that waits for a terminal does not see that by itself.
func (f *adviseFlags) ask(ctx context.Context, in io.Reader, out io.Writer) error {
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
				return errors.Join(lines.Err(), &usageError{"the input ended before all questions were answered", "pawl advise --help lists the flags for the same facts"})
			}
			s := strings.TrimSpace(lines.Text())
			if s == "" {
				s = usual
			}
			err = take(s)
			if err == nil {
				return nil
			}
			fmt.Fprintf(out, "  %s\n", message(err))
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
		func() error { return question("Number of rows", "", whole(&f.rows, 1)) },
		func() error {
			return question("Kind of data: table, text, images or vectors from a public extractor", "table", one(&kind, "table", "text", "images", "vectors"))
		},
		func() error { return f.askKind(kind, question, whole) },
		func() error {
			if kind == "images" {
				f.task = "classification"
				return nil
			}
			return question("Task: classification or regression", "classification", one(&f.task, "classification", "regression"))
		},
		func() error {
			if f.task == "regression" {
				return nil
			}
			f.given["classes"] = true
			return question("Number of classes", "2", whole(&f.classes, 2))
		},
		func() error {
			return question("Epsilon of the whole job", "1", func(s string) error {
				_, err := positive("epsilon", s)
				f.epsilon = s
				return err
			})
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	f.given["rows"], f.given["task"], f.given["epsilon"] = true, true, true
	return nil
}

// askKind asks what depends on the kind of data.
func (f *adviseFlags) askKind(kind string, question func(string, string, func(string) error) error, whole func(*int64, int64) func(string) error) error {
	switch kind {
	case "images":
		f.given["images"] = true
		return question("Height x width x channels", "28x28x1", func(s string) error {
			_, err := parseShape(s)
			f.images = s
			return err
		})
	case "vectors":
		f.given["vectors"] = true
		return question("Length of a vector", "512", whole(&f.vectors, 1))
	case "text":
		f.given["text"], f.text = true, true
		return nil
	}
	f.given["attributes"] = true
	return question("Attributes (columns besides the target)", "", whole(&f.attributes, 1))
}
