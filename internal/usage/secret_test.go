package usage

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://ann:PW@h/db: no":             "postgres://ann@h/db: no",
		`unknown "MySQL://ann:P'W@h"`:            `unknown "MySQL://ann@h"`,
		"postgres:/ann:P W@h/db":                 "postgres:/ann@h/db",
		"postgres://ann:1/PW@x?PW#PW@h/db":       "postgres://ann@h/db",
		"postgres:ann:PW@h":                      "postgres@h",
		"ann:PW@tcp(h)/db":                       "ann@tcp(h)/db",
		"host=h password=PW sslmode=require":     "host=h password=… sslmode=require",
		"postgres://h/db?user=ann&Password=PW&a": "postgres://h/db?user=ann&Password=…&a",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"a.csv:3:10: not a number", "postgres://ann@h:5432/pawl", "sqlite:/home/ann@corp/ledger.db", "mail ann@example.org: it"} {
		if got := Redact(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, text := range []string{"POSTGRES://u:p@h/db", "mysql:/h", "u:p@tcp(h)/db", "host=h password=p", "s3://bucket/x"} {
		if !Address(text) {
			t.Errorf("%s is taken for a file", text)
		}
	}
	for _, text := range []string{"visits-*.csv", "C:/visits.csv", "a@b.csv", "x.zip#a:b.csv", strings.Repeat("a", 300)} {
		if Address(text) {
			t.Errorf("%s is taken for an address", text)
		}
	}
}
