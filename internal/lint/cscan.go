package lint

import (
	"bytes"
	"regexp"
	"strings"
)

// cFunction holds the first and last line of a C or C++ function, counted from 1.
type cFunction struct{ first, last int }

// Patterns of C++ that may contain braces: comments, raw strings, strings, characters and preprocessor lines with their
// continuations. A quote between digits separates digits of a number and opens nothing.
var cHidden = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\b[0-9][0-9a-fA-FxX']*\b|` +
	`'(?:\\.|[^'\\\n])*'|(?m:^[ \t]*#(?:\\\n|[^\n])*)`)

// cHolder distinguishes a block that contains functions from a function.
var cHolder = regexp.MustCompile(`\b(namespace|struct|class|union|enum)\b|extern\s*$`)

// scanC finds the functions of a C or C++ file by counting braces. It has no grammar: a block is a function if a
// parameter list precedes it and it is not inside a function.
func scanC(source []byte) []cFunction {
	text := string(cHidden.ReplaceAllFunc(source, blank))
	s := cScanner{line: 1}
	for _, r := range text {
		s.step(r)
	}
	return s.found
}

// blank removes everything except line breaks.
func blank(hidden []byte) []byte {
	return bytes.Repeat([]byte{'\n'}, bytes.Count(hidden, []byte{'\n'}))
}

// cScanner scans a file without comments and strings.
type cScanner struct {
	line  int
	head  strings.Builder // text since the last statement or block
	start int             // line of the first word in head
	open  []rune          // enclosing blocks: h contains functions, o is any other
	depth int             // open braces inside a function; zero is outside
	first int             // first line of that function
	found []cFunction
}

func (s *cScanner) step(r rune) {
	switch {
	case r == '\n':
		s.line++
		s.head.WriteRune(r)
	case s.depth > 0:
		s.inside(r)
	case r == '{':
		s.enter()
	case r == '}':
		s.open = s.open[:max(len(s.open)-1, 0)]
		s.head.Reset()
	case r == ';':
		s.head.Reset()
	default:
		if strings.TrimSpace(s.head.String()) == "" {
			s.start = s.line
		}
		s.head.WriteRune(r)
	}
}

// inside counts braces until the function ends that started at first.
func (s *cScanner) inside(r rune) {
	switch r {
	case '{':
		s.depth++
	case '}':
		if s.depth--; s.depth == 0 {
			s.found = append(s.found, cFunction{s.first, s.line})
			s.head.Reset()
		}
	}
}

// enter opens a block outside of any function.
func (s *cScanner) enter() {
	head := s.head.String()
	s.head.Reset()
	called := strings.Contains(head, "(")
	switch {
	case cHolder.MatchString(head) && !called:
		s.open = append(s.open, 'h')
	case called && !strings.ContainsRune(string(s.open), 'o'):
		s.depth, s.first = 1, s.start
	default:
		s.open = append(s.open, 'o')
	}
}
