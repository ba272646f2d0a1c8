package lint

import (
	"fmt"
	"strings"
)

// theDoor is the only package that may speak to LibTorch.
const theDoor = "torch"

// gotorch is the module of the binding; its packages abort and crash when they
// are used without the care that the door takes.
const gotorch = "github.com/wangkuiyi/gotorch"

// checkDoor keeps cgo and gotorch behind the one package that owns tensors and
// turns C++ exceptions into errors. Its subpackages are outside of the door too.
func checkDoor(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.GoFiles() {
		if file.Dir() == theDoor {
			continue
		}
		for name, spec := range file.Imports() {
			if name == "C" || name == gotorch || strings.HasPrefix(name, gotorch+"/") {
				text := fmt.Sprintf("only package %s imports %q; add what is missing to the door and call that", theDoor, name)
				found = append(found, file.Finding(spec, text))
			}
		}
	}
	return found
}
