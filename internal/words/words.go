// Package words formats counts and lists in words.
package words

import (
	"fmt"
	"strings"
)

// Plural counts things by their singular noun: 1 job, 2 jobs.
func Plural[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Some lists the first few names and counts the others; a dash if there are none.
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
