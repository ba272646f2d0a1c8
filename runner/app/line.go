package app

import (
	"strings"
	"unicode/utf8"
)

// FitLine joins parts into a line, and omits the last parts if they do not fit. The argument width is the maximum
// number of characters.
func FitLine(parts []string, width int) string {
	line := ""
	for k, part := range parts {
		if k > 0 {
			part = "  " + part
		}
		if utf8.RuneCountInString(line+part) > width {
			break
		}
		line += part
	}
	return strings.TrimSpace(line)
}
