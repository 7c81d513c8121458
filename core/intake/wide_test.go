package intake

import (
	"math"
	"testing"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
)

func wideSchema(u schema.Unit) *schema.Schema {
	return &schema.Schema{Version: 1, Public: true, Unit: u, Columns: []schema.Column{
		{Name: "id", Type: schema.Ignore},
		{Name: "x", Type: schema.Numeric, Lower: 0, Upper: 100},
		{Name: "note", Type: schema.Text, Buckets: 9},
		{Name: "picture", Type: schema.Vector, Dimension: 2, Key: "id"},
	}}
}

// A row of value x has x mod 3 tokens and the vector (x, -x).
func wideRow(x int) []float64 {
	row := []float64{math.NaN(), float64(x), 4, 0, float64(x % 3)}
	for b := range x % 3 {
		row = append(row, float64(b), 1)
	}
	row[3] = float64(len(row))
	return append(row, float64(x), -float64(x))
}

// Rows of different lengths stay whole, where a unit's rows are cut too.
func TestWideRowsStayWhole(t *testing.T) {
	for _, u := range []schema.Unit{perRow, perUnit(2)} {
		b := NewBuilder(keyed([32]byte{1}), wideSchema(u))
		for x := range 40 {
			if err := b.Add(wideRow(x), schema.Record{Unit: string(rune('a' + x%8))}); err != nil {
				t.Fatal(err)
			}
		}
		rows := b.Seal()
		seen, of := 0, map[int]int{}
		for _, scope := range []dp.Scope{{Lower: 0, Upper: 0.4}, {Lower: 0.4, Upper: 1}} {
			v, err := sealed.OpenPublic(rows, scope)
			if err != nil {
				t.Fatal(err)
			}
			for i := range v.Len() {
				row := v.Row(i)
				x := int(row[1])
				want := wideRow(x)
				if len(row) != len(want) {
					t.Fatalf("row %d has %d numbers, want %d", x, len(row), len(want))
				}
				for j := range want {
					if row[j] != want[j] && want[j] == want[j] {
						t.Fatalf("row %d: number %d is %v, want %v", x, j, row[j], want[j])
					}
				}
				seen++
				of[x%8]++
			}
		}
		if u.Column == "" && seen != 40 {
			t.Errorf("%d of 40 rows", seen)
		}
		for unit, n := range of {
			if u.Column != "" && n > 2 {
				t.Errorf("unit %d keeps %d rows, at most 2", unit, n)
			}
		}
	}
}

func TestWideRowsAreHeldToTheSchema(t *testing.T) {
	long := wideRow(5)
	long[5] = 9 // no such bucket
	for name, row := range map[string][]float64{"short": wideRow(5)[:6], "long": append(wideRow(5), 0), "bucket": long, "cells": {1, 2, 3}} {
		if err := NewBuilder(keyed([32]byte{}), wideSchema(perRow)).Add(row, schema.Record{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := NewBuilder(keyed([32]byte{}), wideSchema(perRow)).AddFloats(wideRow(1), []float32{1}, schema.Record{}); err == nil {
		t.Error("a dense input beside wide rows was accepted")
	}
}
