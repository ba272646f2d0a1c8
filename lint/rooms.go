package lint

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// room is a row of the design's table.
type room struct {
	name  string
	above []string // the rooms it stands on; those that they stand on come with them
}

// rooms is the design's table, bottom to top. ARCHITECTURE.md explains it.
var rooms = []room{
	{"files", nil},
	{"stat", nil},
	{"parallel", nil},
	{"events", nil},
	{"fleet", nil},
	{"torch", nil},
	{"results", nil},
	{"dataset", []string{"torch"}},
	{"model", []string{"torch"}},
	{"tracing", []string{"model"}},
	{"net2net", []string{"model", "tracing"}},
	{"vocab", []string{"tracing"}},
	{"encoder", []string{"vocab", "torch"}},
	{"decider", []string{"encoder", "net2net"}},
	{"trainer", []string{"decider", "net2net", "dataset", "results"}},
	{"simulation", []string{"trainer", "decider", "results", "events"}},
	{"cluster", []string{"results", "events"}},
	{"original", []string{"simulation"}},
	{"config", everyRoomBelow},
	{"runner", everyRoomBelow},
}

// everyRoomBelow stands for all rooms earlier in the table.
var everyRoomBelow = []string{"*"}

// cellar is the rooms that every other may import. They do not import each other.
var cellar = []string{"files", "stat", "parallel"}

// outbuildings stand outside of the house: nothing imports them. The value says
// which rooms they may import.
var outbuildings = map[string][]string{
	"lint":  nil,
	"bench": everyRoomBelow,
}

// checkRooms holds the order of the rooms. Tests are held to it as well: a test
// that reaches up would tie the lower room to the upper one all the same.
func checkRooms(tree *Tree) []Finding {
	allowed := reachable()
	var found []Finding
	for _, file := range tree.GoFiles() {
		from := file.Room()
		if file.Dir() == "." {
			found = append(found, file.Finding(file.Go.Name, "Go code lies outside of the rooms; move it into one"))
			continue
		}
		if _, known := allowed[from]; !known {
			text := fmt.Sprintf("the room %q is not in the design; add it to the table in lint/rooms.go, or move the package into a room", from)
			found = append(found, file.Finding(file.Go.Name, text))
			continue
		}
		for name, spec := range file.Imports() {
			if finding, bad := checkImport(tree, file, name, spec, allowed[from]); bad {
				found = append(found, finding)
			}
		}
	}
	return found
}

func checkImport(tree *Tree, file *File, name string, spec *ast.ImportSpec, allowed map[string]bool) (Finding, bool) {
	inside, ok := strings.CutPrefix(name, tree.Module+"/")
	if !ok {
		return Finding{}, false
	}
	to, _, _ := strings.Cut(inside, "/")
	if to == file.Room() || allowed[to] {
		return Finding{}, false
	}
	text := fmt.Sprintf("%s must not import %s, which does not stand below it; move the code down, or hand it in from above", file.Room(), to)
	return file.Finding(spec, text), true
}

// reachable says for each room and outbuilding which rooms it may import.
func reachable() map[string]map[string]bool {
	allowed := make(map[string]map[string]bool)
	var below []string
	for _, r := range rooms {
		allowed[r.name] = closure(r.above, below, allowed)
		for _, name := range cellar {
			allowed[r.name][name] = allowed[r.name][name] || !slices.Contains(cellar, r.name)
		}
		below = append(below, r.name)
	}
	importable := slices.DeleteFunc(below, func(name string) bool { return name == "runner" })
	for name, above := range outbuildings {
		allowed[name] = closure(above, importable, allowed)
	}
	return allowed
}

// closure is the rooms named in above and all that they may import.
func closure(above, below []string, allowed map[string]map[string]bool) map[string]bool {
	if slices.Equal(above, everyRoomBelow) {
		above = below
	}
	reached := make(map[string]bool)
	for _, name := range above {
		reached[name] = true
		for further := range allowed[name] {
			reached[further] = true
		}
	}
	return reached
}
