package lint

import (
	"fmt"
	"regexp"
)

// before matches the text before the start of an absolute path: a path that follows a variable, a folder or a host is
// not absolute.
const before = `(?:^|[^A-Za-z0-9_./$})-])`

var (
	// homePattern matches paths that exist on the machine of one person.
	homePattern = regexp.MustCompile(before + `(/(?:` + joined("wo", "rk|ro", "ot") + `)\b|/(?:` + joined("ho", "me|Us",
		"ers") + `)/[A-Za-z0-9_.-]+)`)
	// temporaryPattern matches temporary folders, which a program must request from the system.
	temporaryPattern = regexp.MustCompile(before + `(/(?:` + joined("var/t", "mp|t", "mp") + `)\b)`)
)

// checkMachinePaths finds paths that are valid on one machine only. Paths of every Linux system (its programs, settings
// and devices) are permitted.
func checkMachinePaths(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.textFiles() {
		found = append(found, matches(file, homePattern, func(name string) string {
			return fmt.Sprintf("%s exists only on one machine; use a path relative to the tree, or pass it as an "+
				"argument", name)
		})...)
		if file.IsTest() {
			continue
		}
		found = append(found, matches(file, temporaryPattern, func(name string) string {
			return fmt.Sprintf("%s is not the temporary folder on every machine; use os.MkdirTemp, "+
				"or mktemp in a shell", name)
		})...)
	}
	return found
}
