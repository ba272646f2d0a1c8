// Package words formats counts and lists as English text.
package words

import (
	"fmt"
	"strings"
)

// Plural formats a number with its noun, given in the singular: 1 job, 2 jobs.
func Plural[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Some joins the first few names and states the number of omitted names. Without names it returns a dash.
func Some(names []string, few int) string {
	if len(names) == 0 {
		return "-"
	}
	text := strings.Join(names[:min(few, len(names))], ", ")
	if more := len(names) - few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
