package bpe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// contractions are separate words.
var contractions = []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}

// word is the length of a text's first word. GPT-2 splits by the expression
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// which Go's expressions cannot hold: they do not look ahead.
func word(text string) int {
	for _, c := range contractions {
		if strings.HasPrefix(text, c) {
			return len(c)
		}
	}
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	if start < len(text) {
		if first := classOf(text[start:]); first != space {
			return start + run(text[start:], first)
		}
	}
	n := run(text, space)
	if n == len(text) {
		return n
	}
	// The last space belongs to the next word, unless it is alone.
	if _, size := utf8.DecodeLastRuneInString(text[:n]); size < n {
		return n - size
	}
	return n
}

type class int

const (
	space class = iota
	letter
	number
	other
)

func classOf(text string) class {
	r, _ := utf8.DecodeRuneInString(text)
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// run is the length of the letters of a class at the text's start.
func run(text string, of class) int {
	n := 0
	for n < len(text) && classOf(text[n:]) == of {
		_, size := utf8.DecodeRuneInString(text[n:])
		n += size
	}
	return n
}

// bytesByLetter maps the printable letters that represent bytes in vocabulary files to those bytes: printable bytes
// represent themselves, the letters of the others follow from 256 on.
var bytesByLetter = func() map[rune]byte {
	bytes := map[rune]byte{}
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if !(r >= '!' && r <= '~' || r >= '¡' && r <= '¬' || r >= '®' && r <= 'ÿ') {
			r = next
			next++
		}
		bytes[r] = byte(b)
	}
	return bytes
}()

// bytesOf returns the bytes that letters represent; false if a letter represents none.
func bytesOf(text string) (string, bool) {
	var b strings.Builder
	for _, r := range text {
		value, ok := bytesByLetter[r]
		if !ok {
			return "", false
		}
		b.WriteByte(value)
	}
	return b.String(), true
}
