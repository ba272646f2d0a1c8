package pickle

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

var texts = map[byte]func(*machine){
	'X':  func(m *machine) { m.unicode(4) },               // BINUNICODE
	0x8c: func(m *machine) { m.unicode(1) },               // SHORT_BINUNICODE
	0x8d: func(m *machine) { m.unicode(8) },               // BINUNICODE8
	'T':  func(m *machine) { m.push(string(m.sized(4))) }, // BINSTRING, a str of Python 2
	'U':  func(m *machine) { m.push(string(m.sized(1))) }, // SHORT_BINSTRING
	'B':  func(m *machine) { m.push(m.sized(4)) },         // BINBYTES
	'C':  func(m *machine) { m.push(m.sized(1)) },         // SHORT_BINBYTES
	0x8e: func(m *machine) { m.push(m.sized(8)) },         // BINBYTES8
	0x96: func(m *machine) { m.push(m.sized(8)) },         // BYTEARRAY8
	'S':  (*machine).quoted,                               // STRING
	'V':  (*machine).rawEscape,                            // UNICODE
}

func (m *machine) unicode(lengthSize int) {
	data := m.sized(lengthSize)
	if !utf8.Valid(data) {
		m.malformed("a str is not UTF-8")
	}
	m.push(string(data))
}

// quoted reads the repr of a Python 2 str.
func (m *machine) quoted() {
	line := m.line(m.opt.MaxString)
	n := len(line)
	if n < 2 || line[0] != line[n-1] || (line[0] != '\'' && line[0] != '"') {
		m.malformed("a str is not in quotes")
		return
	}
	m.pushUnescaped(line[1:n-1], quotedEscape)
}

// rawEscape reads Python's raw-unicode-escape: Latin-1, with \u and \U.
func (m *machine) rawEscape() { m.pushUnescaped(latin1ToUTF8(m.line(m.opt.MaxString)), unicodeEscape) }

func (m *machine) pushUnescaped(text string, escape func(rest string) (string, int, error)) {
	text, err := unescape(text, escape)
	m.fail(err)
	m.push(text)
}

// unescape replaces each backslash and the text after it by the result of escape. escape returns the text and the
// number of bytes that it consumed after the backslash.
func unescape(text string, escape func(rest string) (string, int, error)) (string, error) {
	var out strings.Builder
	for {
		at := strings.IndexByte(text, '\\')
		if at < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		out.WriteString(text[:at])
		piece, used, err := escape(text[at+1:])
		if err != nil {
			return "", err
		}
		out.WriteString(piece)
		text = text[at+1+used:]
	}
}

// simpleEscapes are the escapes of one letter in a Python string literal.
var simpleEscapes = map[byte]string{
	'\\': "\\", '\'': "'", '"': "\"", 'n': "\n", 'r': "\r", 't': "\t",
	'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v",
}

func quotedEscape(rest string) (string, int, error) {
	if rest == "" {
		return "", 0, malformed("a str ends in a backslash")
	}
	if text, ok := simpleEscapes[rest[0]]; ok {
		return text, 1, nil
	}
	if rest[0] == 'x' {
		code, err := hexCode(rest[1:], 2)
		return string([]byte{byte(code)}), 3, err
	}
	return "", 0, malformed("a str has the escape \\%c", rest[0])
}

func unicodeEscape(rest string) (string, int, error) {
	if rest == "" || (rest[0] != 'u' && rest[0] != 'U') {
		return "\\", 0, nil // a literal backslash
	}
	digits := 4
	if rest[0] == 'U' {
		digits = 8
	}
	code, err := hexCode(rest[1:], digits)
	if err == nil && !utf8.ValidRune(rune(code)) {
		err = malformed("invalid character U+%X", code)
	}
	return string(rune(code)), 1 + digits, err
}

func hexCode(text string, digits int) (uint32, error) {
	if len(text) < digits {
		return 0, malformed("an escape is too short")
	}
	code, err := strconv.ParseUint(text[:digits], 16, 32)
	if err != nil {
		return 0, malformed("the escape %q is not hexadecimal", text[:digits])
	}
	return uint32(code), nil
}

func latin1ToUTF8(text string) string {
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return string(runes)
}

// latin1Bytes undoes latin1ToUTF8; it fails on a character beyond U+00FF.
func latin1Bytes(text string) ([]byte, error) {
	data := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return nil, malformed("the character %q is not Latin-1", r)
		}
		data = append(data, byte(r))
	}
	return data, nil
}
