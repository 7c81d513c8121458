package schema

import (
	"fmt"
	"strings"
)

// Meant is advice, which may be "", behind the question whether the candidate nearest to word was meant, where there is one.
func Meant(word string, candidates []string, advice string) string {
	if near := Nearest(word, candidates); near != "" {
		return strings.TrimSuffix(fmt.Sprintf("did you mean %q? %s", near, advice), " ")
	}
	return advice
}

// Nearest returns the candidate closest to word by edit distance without regard
// to case and to blanks around them, or "" when none is near enough to be a likely slip of the pen (more
// than a third of the word's letters differ).
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", max(1, len([]rune(word))/3)+1
	for _, c := range candidates {
		if d := editDistance(loosely(word), loosely(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

func loosely(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours (the restricted Damerau–Levenshtein distance).
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 100 || len(y) > 100 {
		return len(x) + len(y) // names that long are no slips, and the table is quadratic
	}
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}
