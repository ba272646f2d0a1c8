package lint

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// room is a row of the table: a folder and its packages, except packages with their own rows.
type room struct {
	name  string
	above []string // rooms that it may import, and transitively their imports
}

// rooms lists the packages in build order: a room imports only rooms above its line. A room that registers itself with
// config stands above it, although ARCHITECTURE.md lists its folder below.
var rooms = []room{
	{"internal/files", nil},
	{"internal/stat", nil},
	{"internal/random", nil},
	{"internal/parallel", nil},
	{"internal/words", nil},
	{"internal/pythontest", nil},
	{"internal/events", nil},
	{"internal/validate", nil},
	{"internal/registry", []string{"internal/words"}},
	{"internal/decode", nil},
	{"internal/svg", nil},
	{"torch/pickle", nil},
	{"torch/weights", []string{"torch/pickle"}},
	{"torch", []string{"torch/weights"}},
	{"fleet/process", nil},
	{"fleet", []string{"fleet/process"}},
	{"results/tensorboard", nil},
	{"report/figure", []string{"internal/svg"}},
	{"results", []string{"results/tensorboard"}},
	{"report/document", []string{"results"}},
	{"report/page", []string{"report/document", "internal/svg"}},
	{"dataset/bpe", nil},
	{"dataset", []string{"torch", "dataset/bpe"}},
	{"internal/prometheus", nil},
	{"internal/failure", nil},
	{"internal/listen", []string{"internal/failure"}},
	{"model/form", nil},
	{"model/graph", []string{"torch", "model/form"}},
	{"model/graph/trial", []string{"model/graph"}},
	{"model/transformer", []string{"model/graph"}},
	{"model/vision", []string{"model/graph"}},
	{"model", []string{"torch", "model/transformer", "model/vision", "model/graph/trial"}},
	{"model/python", []string{"model"}},
	{"model/onnx", []string{"model"}},
	{"model/pt2", []string{"model/graph"}},
	{"model/onnx/reader", []string{"model/graph", "model/onnx"}},
	{"tracing", []string{"model", "internal/svg"}},
	{"tracing/axes", []string{"model/transformer", "model/pt2"}},
	{"net2net/rewrite", []string{"tracing/axes", "model/transformer", "model/vision", "model/pt2"}},
	{"net2net/starts", []string{"torch", "internal/registry"}},
	{"net2net", []string{"model", "tracing", "net2net/rewrite", "net2net/starts"}},
	{"vocab", []string{"tracing"}},
	{"encoder", []string{"vocab", "torch"}},
	{"learn/dense", nil},
	{"learn/replay", nil},
	{"learn", []string{"learn/dense", "learn/replay", "torch/weights", "results"}},
	{"learn/tensors", []string{"learn", "torch"}},
	{"learn/candidates", []string{"learn/tensors"}},
	{"trainer/goodput", nil},
	{"trainer/costs", []string{"internal/decode"}},
	{"trainer/costs/kineto", nil},
	{"trainer/operators", []string{"model", "torch", "trainer/costs/kineto"}},
	{"trainer/probes", []string{"model", "model/transformer", "model/vision", "net2net", "torch"}},
	{"internal/coprocess", nil},
	{"decider", []string{"encoder", "net2net", "internal/coprocess"}},
	{"trainer/clock", []string{"net2net", "trainer/costs", "trainer/operators"}},
	{"trainer/team", []string{"torch", "results", "internal/listen"}},
	{"python", nil},
	{"trainer/program", []string{"model/python", "model/pt2", "internal/coprocess", "python"}},
	{"trainer", []string{"decider", "dataset", "trainer/goodput", "trainer/clock", "trainer/probes", "trainer/team",
		"trainer/program"}},
	{"simulation/tables", []string{"net2net"}},
	{"simulation", []string{"trainer", "decider", "simulation/tables"}},
	{"simulation/grid", []string{"trainer", "decider", "simulation/tables"}},
	{"simulation/learning", []string{"simulation", "learn"}},
	{"simulation/evaluation", []string{"simulation/learning"}},
	{"internal/telemetry", []string{"results", "internal/prometheus"}},
	{"cluster/trace", nil},
	{"cluster/estimate", []string{"cluster/trace"}},
	{"cluster/failures", []string{"cluster/trace"}},
	{"cluster", []string{"results", "cluster/trace", "cluster/failures", "trainer/goodput"}},
	{"cluster/live", []string{"cluster", "results"}},
	{"cluster/curves", []string{"cluster", "simulation/tables"}},
	{"cluster/study", []string{"cluster", "cluster/live", "internal/decode", "torch/weights"}},
	{"cluster/fabric/graph", []string{"internal/decode"}},
	{"cluster/fabric", []string{"cluster", "cluster/fabric/graph"}},
	{"cluster/fabric/networks", []string{"cluster/fabric", "internal/decode", "trainer"}},
	{"cluster/elastic", []string{"cluster", "torch/weights"}},
	{"cluster/adaptive/genetic", []string{"trainer/goodput"}},
	{"cluster/adaptive", []string{"cluster", "trainer/goodput", "cluster/adaptive/genetic"}},
	{"cluster/fabric/agent", []string{"cluster/fabric", "learn/candidates"}},
	{"cluster/elastic/agent", []string{"cluster/elastic", "learn/candidates"}},
	{"cluster/elastic/world", []string{"cluster/study", "cluster/elastic/agent", "cluster/adaptive"}},
	{"cluster/fabric/world", []string{"cluster/study", "cluster/fabric/networks", "cluster/fabric/agent",
		"internal/failure"}},
	{"cluster/node", []string{"cluster/trace"}},
	{"cluster/execute", []string{"cluster/node", "fleet", "results"}},
	{"cluster/node/agent", []string{"cluster/node", "learn/candidates"}},
	{"cluster/node/world", []string{"cluster/study", "cluster/node/agent", "cluster/execute", "internal/failure"}},
	{"cluster/lucid", []string{"cluster", "cluster/estimate"}},
	{"cluster/schedulers", []string{"cluster/lucid", "internal/coprocess"}},
	{"cluster/schedulers/agent", []string{"cluster/schedulers", "learn/candidates"}},
	{"cluster/rigid", []string{"cluster/study", "cluster/curves", "cluster/failures", "cluster/fabric/networks",
		"cluster/schedulers/agent", "internal/coprocess", "internal/failure"}},
	{"cluster/adaptive/world", []string{"cluster/study", "cluster/adaptive", "cluster/elastic", "cluster/schedulers"}},
	{"cluster/worlds", []string{"cluster/elastic/world", "cluster/rigid", "cluster/adaptive/world",
		"cluster/fabric/world", "cluster/node/world"}},
	{"original/dl2", []string{"learn/dense", "learn/replay", "cluster/elastic", "torch/weights"}},
	{"original/pollux", []string{"cluster/adaptive", "cluster/schedulers"}},
	{"original/ramp", []string{"cluster/fabric", "cluster/elastic", "learn"}},
	{"original/tasks", []string{"learn", "cluster/elastic", "cluster/node/world"}},
	{"original/vocab", []string{"model"}},
	{"original/bilstm", []string{"original/vocab", "decider"}},
	{"original", []string{"original/bilstm", "simulation/evaluation", "results"}},
	{"original/learn", []string{"original/bilstm", "simulation/learning"}},
	{"original/published", []string{"original", "internal/decode", "trainer"}},
	{"original/dl2/learning", []string{"original/dl2", "cluster/elastic/world", "cluster/study"}},
	{"original/policyfile", []string{"original/learn", "original/published", "internal/decode"}},
	{"config", everyRoomBelow},
	{"original/convert", []string{"config"}},
	{"report/runs", everyRoomBelow},
	{"report/plot", everyRoomBelow},
	{"report/contrast", everyRoomBelow},
	{"report", everyRoomBelow},
	{"report/serve", everyRoomBelow},
	{"runner/*", everyRoomBelow},
	{"runner", everyRoomBelow},
}

// everyRoomBelow means all rooms earlier in the table.
var everyRoomBelow = []string{"*"}

// common are the rooms that every other room may import. They import each other only if rooms says so.
var common = []string{
	"internal/files", "internal/stat", "internal/random", "internal/parallel", "internal/events", "internal/validate",
	"internal/words", "internal/registry", "internal/pythontest",
}

// standalone are packages that nothing imports, with the rooms that they may import.
var standalone = map[string][]string{
	"internal/lint": nil,
	"bench":         everyRoomBelow,
}

// checkRooms checks the order of the rooms, also in tests: a test that imports an upper room would also tie the lower
// room to it.
func checkRooms(tree *Tree) []Finding {
	allowed := reachable()
	var found []Finding
	for _, file := range tree.GoFiles() {
		from := roomOf(file.Dir(), allowed)
		switch {
		case file.Dir() == ".":
			found = append(found, file.Finding(file.Go.Name, "Go code outside of the rooms; move it into one"))
		case from == "":
			text := fmt.Sprintf("the room %q is not in the design; add it to the table in internal/lint/rooms.go, "+
				"or move the package into a room", file.Room())
			found = append(found, file.Finding(file.Go.Name, text))
		default:
			for name, spec := range file.Imports() {
				if finding, bad := checkImport(tree, file, name, spec, from, allowed); bad {
					found = append(found, finding)
				}
			}
		}
	}
	return found
}

// roomOf returns the longest row that contains a package, empty if there is none. A row that ends in /* covers the
// packages below a folder, but not the folder itself.
func roomOf(dir string, allowed map[string]map[string]bool) string {
	for {
		if _, known := allowed[dir]; known {
			return dir
		}
		end := strings.LastIndexByte(dir, '/')
		if end < 0 {
			return ""
		}
		dir = dir[:end]
		if below := dir + "/*"; allowed[below] != nil {
			return below
		}
	}
}

func checkImport(tree *Tree, file *File, name string, spec *ast.ImportSpec, from string,
	allowed map[string]map[string]bool) (Finding, bool) {
	inside, ok := strings.CutPrefix(name, tree.Module+"/")
	if !ok {
		return Finding{}, false
	}
	to := roomOf(inside, allowed)
	if to == from || allowed[from][to] || file.IsTest() && sameFolder(from, to) {
		return Finding{}, false
	}
	text := fmt.Sprintf("%s must not import %s, which is not below it; move the code down, "+
		"or pass it in from above", from, inside)
	return file.Finding(spec, text), true
}

// sameFolder reports whether two rooms are in one top-level folder. Their tests may import each other's rooms.
func sameFolder(a, b string) bool {
	topA, _, _ := strings.Cut(a, "/")
	topB, _, _ := strings.Cut(b, "/")
	return topA == topB
}

// reachable returns the rooms that each room and standalone package may import.
func reachable() map[string]map[string]bool {
	allowed := make(map[string]map[string]bool)
	var below []string
	for _, r := range rooms {
		allowed[r.name] = closure(r.above, below, allowed)
		for _, name := range common {
			allowed[r.name][name] = allowed[r.name][name] || !slices.Contains(common, r.name)
		}
		below = append(below, r.name)
	}
	importable := slices.DeleteFunc(below, func(name string) bool { return name == "runner" })
	for name, above := range standalone {
		allowed[name] = closure(above, importable, allowed)
	}
	return allowed
}

// closure returns the rooms in above with their transitive imports.
func closure(above, below []string, allowed map[string]map[string]bool) map[string]bool {
	if slices.Equal(above, everyRoomBelow) {
		above = below
	}
	reached := make(map[string]bool)
	for _, name := range above {
		reached[name] = true
		for further := range allowed[name] {
			reached[further] = reached[further] || allowed[name][further]
		}
	}
	return reached
}
