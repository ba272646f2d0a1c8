package plot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/config"
	"graft/dataset"
	"graft/internal/files"
	"graft/model"
	"graft/model/graph"
	"graft/net2net"
	"graft/tracing/axes"
)

// initialGraph builds a job's initial network that runs as a graph. Sizes that only the data has, which may be on
// another machine, come from a saved network.
func initialGraph(fsys files.FS, job *config.Job, saved *model.Network) (*model.Network, error) {
	facts := dataset.Declared(fsys, job.Data)
	if len(facts.Shape) == 0 {
		facts.Shape = saved.Input
	}
	shapes, err := saved.Graph.Shapes()
	if err != nil {
		return nil, err
	}
	if out := shapes[saved.Graph.Output]; facts.Classes == 0 && len(out) > 0 {
		facts.Classes = out[len(out)-1]
	}
	for k := range saved.Graph.Nodes {
		if facts.Vocabulary > 0 || facts.Task == dataset.ImageLabel {
			break
		}
		facts.Vocabulary = vocabularyOf(saved.Graph, &saved.Graph.Nodes[k])
	}
	return job.Model(facts)
}

// vocabularyOf returns the number of tokens of an embedding; zero for other operators.
func vocabularyOf(g *graph.Graph, n *graph.Node) (tokens int) {
	if !strings.HasPrefix(n.Operator, "embedding.") {
		return 0
	}
	n.Reads(func(read any) {
		if name, ok := read.(graph.Weight); ok && tokens == 0 {
			if t := g.Tensor(string(name)); t != nil && len(t.Shape) > 0 {
				tokens = t.Shape[0]
			}
		}
	})
	return tokens
}

// graphLayers lists the modules of a graph that own parameters, in running order. Modules without parameters would hide
// the change: most operators of an imported network only move values.
func graphLayers(n *model.Network) (all []drawnLayer) {
	seen := map[string]bool{}
	for k := range n.Graph.Nodes {
		node := &n.Graph.Nodes[k]
		node.Reads(func(read any) {
			name, ok := read.(graph.Weight)
			if !ok {
				return
			}
			t := n.Graph.Tensor(string(name))
			if t == nil || t.Role != graph.Parameter {
				return
			}
			path := ownerOf(t.Name)
			if seen[path] {
				return
			}
			seen[path] = true
			kind := moduleKind(n.Graph, node, path)
			all = append(all, drawnLayer{path, kind, parameterWords(kind, t.Shape), axes.ListItem(path)})
		})
	}
	return all
}

// ownerOf returns the path of the module with a tensor; a tensor of the network itself is its own owner.
func ownerOf(tensor string) string {
	if at := strings.LastIndexByte(tensor, '.'); at >= 0 {
		return tensor[:at]
	}
	return tensor
}

// moduleKind returns the class of the module at a path or, if the graph has no such module, the name of the operator.
func moduleKind(g *graph.Graph, n *graph.Node, path string) string {
	at := slices.IndexFunc(g.Modules, func(m graph.Module) bool { return m.Path == path })
	if at >= 0 && g.Modules[at].Class != "" {
		return g.Modules[at].Class
	}
	operator := n.Name()
	return strings.ReplaceAll(operator, "_", " ")
}

// parameterWords describes a module by the shape of its first parameter, which has the outputs first in PyTorch's
// layers.
func parameterWords(kind string, shape []int) string {
	switch {
	case len(shape) == 0:
		return kind
	case kind == "Embedding" && len(shape) == 2:
		return fmt.Sprintf("%s %d × %d", kind, shape[0], shape[1])
	case len(shape) == 1:
		return fmt.Sprintf("%s %d", kind, shape[0])
	}
	words := fmt.Sprintf("%s %d to %d", kind, shape[1], shape[0])
	var kernel []string
	for _, size := range shape[2:] {
		kernel = append(kernel, strconv.Itoa(size))
	}
	if len(kernel) > 0 {
		words += ", " + strings.Join(kernel, "×")
	}
	return words
}

// originsOf maps each tensor after changes to its name before them; new tensors have no entry.
func originsOf(changes []*net2net.Change) map[string]string {
	var origins map[string]string
	for _, c := range changes {
		next := map[string]string{}
		for _, m := range c.Moves {
			from, kept := m.From, m.From != ""
			if kept && origins != nil {
				from, kept = origins[m.From], origins[m.From] != ""
			}
			if kept {
				next[m.Name] = from
			}
		}
		origins = next
	}
	return origins
}

// matchGraphs returns the place of each module before surgery, by the origins of its tensors; -1 marks a new module.
func matchGraphs(before, after []drawnLayer, origins map[string]string) []int {
	from := map[string]string{}
	for tensor, origin := range origins {
		from[ownerOf(tensor)] = ownerOf(origin)
	}
	match, used := make([]int, len(after)), map[int]bool{}
	for k, l := range after {
		match[k] = slices.IndexFunc(before, func(b drawnLayer) bool { return b.path == from[l.path] })
		if used[match[k]] { // a copy of a module that is kept
			match[k] = -1
		}
		used[match[k]] = match[k] >= 0
	}
	return match
}
