package app

import (
	"strings"
	"unicode/utf8"
)

// FitLine joins parts into a line of at most width characters. It omits the last parts if they do not fit.
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
