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

// Are returns a number, a noun and the verb, such as "1 job is" or "2 jobs are".
func Are[N int | int64](n N, what string) string {
	if n == 1 {
		return Plural(n, what) + " is"
	}
	return Plural(n, what) + " are"
}

// ThereAre returns the verb, a number and a noun, such as "there is 1 job" or "there are 2 jobs".
func ThereAre[N int | int64](n N, what string) string {
	if n == 1 {
		return "there is " + Plural(n, what)
	}
	return "there are " + Plural(n, what)
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
