package document

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"graft/internal/words"
)

// PrintableLines applies [Printable] to each line of a string.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for k := range lines {
		lines[k] = Printable(lines[k])
	}
	return strings.Join(lines, "\n")
}

// Capitalized returns a string with a capital first letter and without control characters.
func Capitalized(text string) string {
	first, rest := text[:min(1, len(text))], text[min(1, len(text)):]
	return strings.ToUpper(Printable(first)) + Printable(rest)
}

// SomeOf joins the first few names and states the number of omitted names, as [words.Some] does, without control
// characters.
func SomeOf(names []string, few int) string {
	return Printable(words.Some(names, few))
}

// ShortDigest returns the first 12 characters of a digest.
func ShortDigest(digest string) string { return digest[:min(len(digest), 12)] }

// SeedsText lists at most eight seeds and states the number of further seeds.
func SeedsText(seeds []int64) string {
	var texts []string
	for _, s := range seeds {
		texts = append(texts, strconv.FormatInt(s, 10))
	}
	switch {
	case len(seeds) == 0:
		return "no seeds"
	case len(seeds) == 1:
		return "seed " + texts[0]
	}
	return "seeds " + SomeOf(texts, 8)
}

// Numbered returns column names: the format applied to each number in the range, including both ends.
func Numbered(format string, from, to int) []string {
	var names []string
	for n := from; n <= to; n++ {
		names = append(names, fmt.Sprintf(format, n))
	}
	return names
}

// Printable replaces control characters, so that a hostile name cannot move the cursor or the columns.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, name)
}

// wrapped breaks a text between words into lines of at most width characters; a longer word has its own line.
func wrapped(text string, width int) []string {
	lines := []string{""}
	for k, word := range strings.Split(text, " ") {
		last := &lines[len(lines)-1]
		switch {
		case k == 0:
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
