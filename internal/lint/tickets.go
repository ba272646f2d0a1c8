package lint

import "regexp"

// listed are words for an entry in a work list, written in parts.
var listed = joined("iss", "ue|tic", "ket|sess", "ion")

// ticketPattern matches the number of a work item. besidePattern matches a path from the tree into a sibling folder
// with reference material.
var (
	ticketPattern = regexp.MustCompile(`(?i)\b(?:` + listed + `) ?#|\b(?:` + listed + `) [0-9]+\b`)
	besidePattern = regexp.MustCompile(`\.\./` + joined("sha", "red") + `/`)
)

// checkTickets keeps references to work lists out of the source: a reader only has the tree, so a fact must be stated
// where it is needed.
func checkTickets(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.textFiles() {
		found = append(found, matches(file, ticketPattern, func(reference string) string {
			return "a reader of the tree cannot look up \"" + reference + "\"; state its content here"
		})...)
		if file.IsTest() {
			continue // a test may compare with it, and reports if it is missing
		}
		found = append(found, matches(file, besidePattern, func(path string) string {
			return "\"" + path + "\" is not part of a clone; only tests may read it"
		})...)
	}
	return found
}
