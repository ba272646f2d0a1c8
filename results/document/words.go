package document

import (
	"fmt"
	"strconv"
	"strings"
)

// PrintableLines keeps the names of a network file from moving the cursor.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for k := range lines {
		lines[k] = Printable(lines[k])
	}
	return strings.Join(lines, "\n")
}

// SomeOf lists the first few; none are a dash.
func SomeOf(names []string, few int) string {
	if len(names) == 0 {
		return "-"
	}
	text := Printable(strings.Join(names[:min(few, len(names))], ", "))
	if more := len(names) - few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func ShortDigest(digest string) string { return digest[:min(len(digest), 12)] }

func SeedsText(seeds []int64) string {
	var texts []string
	for _, s := range seeds {
		texts = append(texts, strconv.FormatInt(s, 10))
	}
	switch {
	case len(seeds) == 0:
		return "no seeds"
	case len(seeds) == 1:
		return "one seed, " + texts[0]
	}
	return "seeds " + SomeOf(texts, 8)
}

func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Numbered are the names of columns of one kind.
func Numbered(format string, from, to int) []string {
	var names []string
	for n := from; n <= to; n++ {
		names = append(names, fmt.Sprintf(format, n))
	}
	return names
}

// Counted is a number of things.
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Printable keeps a hostile name from moving the cursor or the columns.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, name)
}
