package lint

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
)

// checkGofmt requires gofmt's format for every Go file, and reports the first line that differs.
func checkGofmt(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.Files {
		if path.Ext(file.Path) != ".go" {
			continue
		}
		formatted, err := format.Source(file.Text)
		switch {
		case err != nil:
			found = append(found, Finding{Path: file.Path, Text: fmt.Sprintf("does not parse: %v; correct it", err)})
		case !bytes.Equal(formatted, file.Text):
			line := firstDifference(formatted, file.Text)
			found = append(found, Finding{Path: file.Path, Line: line, Text: "is not formatted; run gofmt -w on it"})
		}
	}
	return found
}

// firstDifference returns the number, from 1, of the first line that differs.
func firstDifference(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return 1 + bytes.Count(b[:n], []byte{'\n'})
}
