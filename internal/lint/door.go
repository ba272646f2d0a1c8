package lint

import (
	"fmt"
	"strings"
)

// doors are the only packages that may use cgo or bindings that end the process unless used with care: gotorch for
// LibTorch, go-nvml for NVIDIA's management library.
var doors = map[string]string{
	"C":                            "torch",
	"github.com/wangkuiyi/gotorch": "torch",
	"github.com/NVIDIA/go-nvml":    "internal/telemetry",
}

// checkDoor restricts cgo and the bindings to the packages that own them. Their subpackages may not use them either.
func checkDoor(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.GoFiles() {
		for name, spec := range file.Imports() {
			for bound, door := range doors {
				if file.Dir() != door && (name == bound || strings.HasPrefix(name, bound+"/")) {
					text := fmt.Sprintf("only package %s may import %q; add the missing function to that package and "+
						"call it", door, name)
					found = append(found, file.Finding(spec, text))
				}
			}
		}
	}
	return found
}
