package lint

import (
	"path"
	"regexp"
	"strings"
)

// textFiles returns the files whose words are ours: all but checksums.
func (t *Tree) textFiles() []*File {
	var files []*File
	for _, file := range t.Files {
		if path.Base(file.Path) != "go.sum" {
			files = append(files, file)
		}
	}
	return files
}

// matches finds a pattern line by line; say turns what matched into a sentence.
func matches(file *File, pattern *regexp.Regexp, say func(matched string) string) []Finding {
	if !pattern.Match(file.Text) {
		return nil // the common case, without cutting the file into lines
	}
	var found []Finding
	line := 0
	for text := range strings.Lines(string(file.Text)) {
		line++
		for _, group := range pattern.FindAllStringSubmatch(strings.TrimRight(text, "\r\n"), -1) {
			found = append(found, Finding{Path: file.Path, Line: line, Text: say(group[len(group)-1])})
		}
	}
	return found
}

// joined writes a word in parts, so that the rule that looks for it does not find itself.
func joined(parts ...string) string { return strings.Join(parts, "") }
