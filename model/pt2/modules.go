package pt2

import (
	"cmp"
	"regexp"
	"strings"

	"graft/model/graph"
)

// place is a module on the stack of a node.
type place struct{ path, class string }

// localPath is the start of a path that PyTorch before 2.8 writes if forward does not call its module self.
var localPath = regexp.MustCompile(`^L\['\w+'\]\.?`)

// stackOf reads the modules whose code calls a node, outermost first: "key,path,class" for each.
func stackOf(n *node) []place {
	var stack []place
	for part := range strings.SplitSeq(n.Metadata.Stack, ";") {
		fields := strings.Split(part, ",")
		if len(fields) != 3 || strings.HasPrefix(fields[1], "_empty_nn_module_stack") {
			continue
		}
		stack = append(stack, place{localPath.ReplaceAllString(fields[1], ""),
			fields[2][strings.LastIndexByte(fields[2], '.')+1:]})
	}
	return stack
}

// modulePath is the path of the innermost known module of a node.
func (b *builder) modulePath(n *node) string {
	stack := stackOf(n)
	for k := len(stack) - 1; k >= 0; k-- {
		if b.modules[stack[k].path] {
			return stack[k].path
		}
	}
	return ""
}

// readModules reads the paths of the modules, and their classes from the nodes.
func (b *builder) readModules() {
	b.modules = map[string]bool{"": true}
	b.out.Graph.Modules = []graph.Module{{}}
	for _, m := range b.program.GraphModule.Modules {
		b.addModule(m.Path)
	}
	b.readClasses(b.program.GraphModule.Graph.Nodes)
	b.out.Graph.Name = b.out.Graph.Modules[0].Class
}

// readClasses reads the classes of modules from the nodes that their code calls.
func (b *builder) readClasses(nodes []node) {
	classes := map[string]string{}
	for k := range nodes {
		for _, p := range stackOf(&nodes[k]) {
			if classes[p.path] == "" {
				classes[p.path] = p.class
			}
		}
	}
	for k, m := range b.out.Graph.Modules {
		b.out.Graph.Modules[k].Class = cmp.Or(m.Class, classes[m.Path])
	}
}

// addModule adds a module, after its parents. A second call of a module has a path that ends in @1.
func (b *builder) addModule(path string) {
	if b.modules[path] || strings.Contains(path, "@") {
		return
	}
	if at := strings.LastIndexByte(path, '.'); at > 0 {
		b.addModule(path[:at])
	}
	b.modules[path] = true
	b.out.Graph.Modules = append(b.out.Graph.Modules, graph.Module{Path: path})
}
