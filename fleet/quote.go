package fleet

import "strings"

// shellQuote writes a text as one word of a POSIX shell. Carriage returns are printed by the shell, since sbatch
// refuses a script with one at the end of a line.
func shellQuote(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	return strings.ReplaceAll(quoted, "\r", `'"$(printf '\015')"'`)
}

// shellQuoteAll quotes a command of several words.
func shellQuoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellQuote(word)
	}
	return strings.Join(quoted, " ")
}
