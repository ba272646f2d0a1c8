package config

import (
	"strings"

	"graft/internal/decode"
)

// CompatNone corrects the faults of other simulators.
const CompatNone = "none"

// QuoteList writes texts as an assignment to a key has them.
func QuoteList(list []string) string {
	quoted := make([]string, len(list))
	for k, text := range list {
		quoted[k] = decode.Quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Quote writes a text as an assignment to a key has it.
func Quote(text string) string { return decode.Quote(text) }
