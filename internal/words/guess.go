package words

import (
	"fmt"
	"strings"
)

// Guess returns "; did you mean X?" if a name is close to X, otherwise nothing.
func Guess(name string, names []string) string {
	if best := Nearest(name, names); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return ""
}

// longestGuessed is the maximum length in bytes of names with suggestions.
const longestGuessed = 100

// Nearest returns the name with the smallest edit distance; a name that begins with the text has a distance of at most
// 1. If more than half of the text differs from every name, it returns an empty string. It ignores case.
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
