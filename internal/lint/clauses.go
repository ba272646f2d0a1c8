package lint

import "regexp"

// clausePattern matches the start of a doc comment with a clause or a bare "those" in place of a noun.
var clausePattern = regexp.MustCompile(`^\s*// (?:A |An |The )?([A-Za-z]+ (?:is|are) ` +
	`(?:what|who|whom|where|those|how|whatever|one)) \w`)

// commentLine matches a line that is a comment.
var commentLine = regexp.MustCompile(`^\s*//`)

// checkClauses finds comments that start with a clause in place of a noun, such as "limits are what …".
func checkClauses(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.GoFiles() {
		first := true
		for line, text := range file.lines() {
			opening := first
			first = !commentLine.MatchString(text)
			if match := clausePattern.FindStringSubmatch(text); opening && match != nil {
				found = append(found, Finding{Path: file.Path, Line: line,
					Text: "the comment opens with \"" + match[1] +
						" …\"; begin with the noun, then say what it does or holds"})
			}
		}
	}
	return found
}
