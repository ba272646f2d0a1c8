package lint

import "regexp"

// listed are words for an entry in a list of work, written in parts.
var listed = joined("iss", "ue|tic", "ket|sess", "ion")

// ticketPattern matches a numbered entry, besidePattern a path out of the tree
// into the folder of reference material that may lie beside it.
var (
	ticketPattern = regexp.MustCompile(`(?i)\b(?:` + listed + `) ?#|\b(?:` + listed + `) [0-9]+\b`)
	besidePattern = regexp.MustCompile(`\.\./` + joined("sha", "red") + `/`)
)

// checkTickets keeps the workplace out of the source: a reader has the tree and
// not the list of work it came from, so a fact must stand where it is needed.
func checkTickets(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.textFiles() {
		found = append(found, matches(file, ticketPattern, func(reference string) string {
			return "a reader of the tree cannot look up \"" + reference + "\"; say here what it says"
		})...)
		if file.IsTest() {
			continue // a test may compare with it, and says when it is not there
		}
		found = append(found, matches(file, besidePattern, func(path string) string {
			return "\"" + path + "\" is not in a reader's clone; only a test may look there"
		})...)
	}
	return found
}
