package model

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// literal is a parsed Python value, an int, float64, bool, string, nil or []literal, with its text.
type literal struct {
	text  string
	value any
}

// scanner parses the part of Python's notation that layers need, in at most longestNotation bytes.
type scanner struct{ rest string }

func (s *scanner) skip() { s.rest = strings.TrimLeft(s.rest, " \t\r\n") }

// take consumes a mark if it comes next.
func (s *scanner) take(mark string) bool {
	s.skip()
	rest, ok := strings.CutPrefix(s.rest, mark)
	s.rest = rest
	return ok
}

// separated consumes a comma, which is required unless the closing mark comes next.
func (s *scanner) separated(closing string) bool {
	return s.take(",") || strings.HasPrefix(s.rest, closing)
}

// word consumes letters, digits and dots; it may be empty.
func (s *scanner) word() string {
	s.skip()
	end := 0
	for end < len(s.rest) && isWord(s.rest[end]) {
		end++
	}
	word := s.rest[:end]
	s.rest = s.rest[end:]
	return word
}

func isWord(c byte) bool {
	return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (s *scanner) unexpected(wanted string) error {
	if s.skip(); s.rest == "" {
		return fmt.Errorf("the text ends too early; expected %s", wanted)
	}
	return fmt.Errorf("expected %s, got %s", wanted, clipped(s.rest))
}

// argument reads a value, or a name and a value.
func (s *scanner) argument() (argument, error) {
	before := s.rest
	if name := s.word(); name != "" && s.take("=") {
		value, err := s.literal()
		return argument{name: name, value: value}, err
	}
	s.rest = before
	value, err := s.literal()
	return argument{value: value}, err
}

// literal reads one value.
func (s *scanner) literal() (literal, error) {
	if s.skip(); s.rest == "" {
		return literal{}, s.unexpected("a value")
	}
	before := s.rest
	var value any
	var err error
	switch s.rest[0] {
	case '(':
		value, err = s.tuple("(", ")")
	case '[':
		value, err = s.tuple("[", "]")
	case '\'', '"':
		value, err = s.quoted()
	default:
		value, err = s.scalar()
	}
	return literal{text: strings.TrimSpace(before[:len(before)-len(s.rest)]), value: value}, err
}

// tuple reads values between marks. The values are scalars: no layer accepts nested tuples.
func (s *scanner) tuple(opening, closing string) (any, error) {
	s.take(opening)
	items := []literal{}
	commas := opening == "[" // (3) is a number, [3] a list
	for !s.take(closing) {
		before := s.rest
		value, err := s.scalar()
		if err != nil {
			return nil, err
		}
		items = append(items, literal{text: strings.TrimSpace(before[:len(before)-len(s.rest)]), value: value})
		if s.take(",") {
			commas = true
		} else if !strings.HasPrefix(s.rest, closing) {
			return nil, s.unexpected("a comma or " + closing)
		}
	}
	if len(items) == 1 && !commas {
		return items[0].value, nil
	}
	return items, nil
}

// quoted reads a string without escapes.
func (s *scanner) quoted() (any, error) {
	text, rest, ok := strings.Cut(s.rest[1:], s.rest[:1])
	if !ok {
		return nil, fmt.Errorf("unclosed quote at %s", clipped(s.rest))
	}
	s.rest = rest
	return text, nil
}

// scalar reads a number, a boolean or None.
func (s *scanner) scalar() (any, error) {
	s.skip()
	before := s.rest
	s.rest = strings.TrimLeft(s.rest, "+-")
	s.word()
	// The sign of an exponent is not part of a word.
	if text := before[:len(before)-len(s.rest)]; strings.HasSuffix(strings.ToLower(text), "e") && s.rest != "" &&
		strings.Contains("+-", s.rest[:1]) {
		s.rest = s.rest[1:]
		s.word()
	}
	text := before[:len(before)-len(s.rest)]
	if known, ok := map[string]any{"True": true, "False": false, "None": nil}[text]; ok {
		return known, nil
	}
	value, ok := number(text)
	if !ok {
		s.rest = before
		return nil, s.unexpected("a number, True, False, None or a quoted word")
	}
	return value, nil
}

// number parses a decimal number, in the notation shared by Python and Go.
func number(text string) (any, bool) {
	if text == "" || strings.Trim(text, "+-.eE0123456789") != "" {
		return nil, false
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsInf(f, 0)
}
