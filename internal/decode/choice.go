package decode

import "strings"

// Choice formats a list of quoted words, such as "a", "b" and "c"; it skips empty strings.
func Choice(list []string) string {
	var quoted []string
	for _, word := range list {
		if word != "" {
			quoted = append(quoted, Quote(word))
		}
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " and " + quoted[last]
}

// longestShown is the maximum length in runes of a name in a message.
const longestShown = 100

// shortened cuts a long name for a message.
func shortened(name string) string {
	if runes := []rune(name); len(runes) > longestShown {
		return string(runes[:longestShown]) + "…"
	}
	return name
}
