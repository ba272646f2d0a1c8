package lint

import (
	"iter"
	"path"
	"regexp"
	"strings"
)

// textFiles returns the files with our own words: all except checksums.
func (t *Tree) textFiles() []*File {
	var files []*File
	for _, file := range t.Files {
		if path.Base(file.Path) != "go.sum" {
			files = append(files, file)
		}
	}
	return files
}

// matches finds a pattern line by line; say converts a match to a sentence.
func matches(file *File, pattern *regexp.Regexp, say func(matched string) string) []Finding {
	if !pattern.Match(file.Text) {
		return nil // the common case, without splitting the file into lines
	}
	var found []Finding
	for line, text := range file.lines() {
		for _, group := range pattern.FindAllStringSubmatch(text, -1) {
			found = append(found, Finding{Path: file.Path, Line: line, Text: say(group[len(group)-1])})
		}
	}
	return found
}

// lines yields the lines of a file with their numbers, from 1.
func (f *File) lines() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		line := 0
		for text := range strings.Lines(string(f.Text)) {
			line++
			if !yield(line, strings.TrimRight(text, "\r\n")) {
				return
			}
		}
	}
}

// joined writes a word in parts, so that the rule for the word does not find itself.
func joined(parts ...string) string { return strings.Join(parts, "") }
