package figure

import (
	"strings"
	"sync"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
)

// Sizes of words, in points.
const (
	sizeWords = 8.0 // names of axes, legends
	sizeSmall = 7.0 // numbers at axes, remarks
	sizeTiny  = 6.0 // within cells and boxes
)

// sans is Liberation Sans. It is read at first use, so that commands without figures do not wait for it.
var sans = sync.OnceValue(func() *font.Cache { return font.NewCache(liberation.Collection()) })

func face(size float64) font.Face {
	return sans().Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Length(size))
}

// Heights above and below the baseline, as fractions of the font size.
const (
	ascent  = 0.75
	descent = 0.22
)

// widthOf returns the width of words, in points.
func widthOf(words string, size float64) float64 {
	if words == "" {
		return 0
	}
	f := face(size)
	return float64(f.Width(words))
}

// widest returns the width of the widest of several texts.
func widest(size float64, words ...string) float64 {
	most := 0.0
	for _, w := range words {
		most = max(most, widthOf(w, size))
	}
	return most
}

// fitted shortens words to a width by an ellipsis in the middle, because names differ at both ends.
func fitted(words string, size, width float64) string {
	if widthOf(words, size) <= width {
		return words
	}
	letters := []rune(words)
	for keep := len(letters) - 1; keep > 0; keep-- {
		head, tail := (keep+1)/2, keep/2
		if short := string(letters[:head]) + "…" + string(letters[len(letters)-tail:]); widthOf(short, size) <= width {
			return short
		}
	}
	return ""
}

// wrapped breaks words into lines of a width.
func wrapped(words string, size, width float64) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(words) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && widthOf(longer, size) > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	if line == "" {
		return lines
	}
	return append(lines, line)
}
