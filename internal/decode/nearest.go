package decode

import (
	"fmt"
	"strings"
)

// Choice joins words, each in quotes: "a", "b" and "c". Empty words are skipped.
func Choice(list []string) string {
	var quoted []string
	for _, word := range list {
		if word != "" {
			quoted = append(quoted, Quote(word))
		}
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " and " + quoted[last]
}

// Guess returns "; did you mean X?" if X is the closest of the names and close enough, otherwise an empty string.
func Guess(name string, names []string) string {
	if best := nearest(name, names); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return ""
}

// longestGuessed is the maximum length in bytes of names with suggestions.
const longestGuessed = 100

// nearest returns the name with the least edit distance, or a name that begins with the text; empty if more than half
// of it differs.
func nearest(name string, names []string) string {
	if len(name) > longestGuessed {
		return ""
	}
	best, least := "", len(name)/2+1
	for _, other := range names {
		distance := editDistance(strings.ToLower(name), strings.ToLower(other))
		if strings.HasPrefix(other, name) && len(name) > 2 {
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

// shortened cuts a long name for a message.
func shortened(name string) string {
	if runes := []rune(name); len(runes) > longestGuessed {
		return string(runes[:longestGuessed]) + "…"
	}
	return name
}
