package words

import (
	"fmt"
	"strings"
)

// Guess returns "; did you mean X?" if name is close to X, which is one of names. Otherwise it returns an empty string.
func Guess(name string, names []string) string {
	if best := Nearest(name, names); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return ""
}

// longestGuessed is the maximum length in bytes of names with suggestions.
const longestGuessed = 100

// Nearest returns the element of names with the smallest edit distance to name, ignoring case. If name has at least
// three bytes, an element that begins with name has a distance of at most 1. If every distance is greater than half the
// length of name, Nearest returns an empty string.
func Nearest(name string, names []string) string {
	if len(name) > longestGuessed {
		return ""
	}
	best, least, text := "", len(name)/2+1, strings.ToLower(name)
	for _, other := range names {
		distance := editDistance(text, strings.ToLower(other))
		if strings.HasPrefix(strings.ToLower(other), text) && len(name) > 2 {
			distance = min(distance, 1)
		}
		if other != "" && distance < least {
			best, least = other, distance
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of neighbours
// (Damerau 1964, without edits of swapped letters).
func editDistance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := range len(a) {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i + 1
		for j := range len(b) {
			changed := last[j]
			if a[i] != b[j] {
				changed++
			}
			row[j+1] = min(changed, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		rows[0], rows[1], rows[2] = last, row, before
	}
	return rows[1][len(b)]
}
