package config

import (
	"strings"

	"graft/internal/decode"
)

// CompatNone is the value of the key compat that reproduces no bugs of other simulators.
const CompatNone = "none"

// QuoteList formats a list of strings as the value of an assignment.
func QuoteList(list []string) string {
	quoted := make([]string, len(list))
	for k, text := range list {
		quoted[k] = decode.Quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Quote formats a string as the value of an assignment.
func Quote(text string) string { return decode.Quote(text) }
