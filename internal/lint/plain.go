package lint

import "regexp"

// plainPattern matches words of comments that stand in place of a noun, a number or a common verb. Readers have to
// decode them.
var plainPattern = regexp.MustCompile(`\b(?:those (?:of|in|with|which|who)|that of|so many|anew|mend(?:s|ed)?|` +
	`go(?:es)? on|went on|but for|likewise|has seen|is none of|are those)\b`)

// commentText matches a comment, also one behind code.
var commentText = regexp.MustCompile(`(?:^|\s)// (.*)$`)

// checkPlain finds such words in comments outside of tests.
func checkPlain(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.GoFiles() {
		if file.IsTest() {
			continue
		}
		for line, text := range file.lines() {
			comment := commentText.FindStringSubmatch(text)
			if comment == nil {
				continue
			}
			if words := plainPattern.FindString(comment[1]); words != "" {
				found = append(found, Finding{Path: file.Path, Line: line, Text: "the comment says \"" + words +
					"\"; name the thing, the number or the action"})
			}
		}
	}
	return found
}
