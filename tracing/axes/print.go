package axes

import (
	"fmt"
	"slices"
	"strings"

	"graft/model/graph"
)

// List returns the axes of all tensors, in the order in which they first occur.
func (a *Axes) List() []*Term {
	var all []*Term
	for _, t := range a.Graph.Tensors {
		for _, term := range a.Tensors[t.Name] {
			term.Axes(func(axis *Term) {
				if axis.Size > 1 && !slices.Contains(all, axis) {
					all = append(all, axis)
				}
			})
		}
	}
	return all
}

// Name returns the name of an axis: the name of the module whose output has the axis. If the output has several axes,
// such as the heads and the size of a head, Name appends a slash and a number. The name is empty if no tensor has the
// axis.
func (a *Axes) Name(axis *Term) string {
	for _, t := range a.Graph.Tensors {
		dim := a.rows(t)
		if dim < 0 || t.Tied != "" {
			continue
		}
		var found []*Term
		a.Tensors[t.Name][dim].Axes(func(x *Term) {
			if x.Size > 1 && !slices.Contains(found, x) {
				found = append(found, x)
			}
		})
		at := slices.Index(found, axis)
		if at < 0 {
			continue
		}
		name := t.Name
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			name = name[:dot]
		}
		if len(found) > 1 {
			name += fmt.Sprintf("/%d", at)
		}
		return name
	}
	return ""
}

// Named finds an axis by its name.
func (a *Axes) Named(name string) (*Term, error) {
	var names []string
	for _, axis := range a.List() {
		own := a.Name(axis)
		if own == name {
			return axis, nil
		}
		if axis.Fixed == "" && own != "" {
			names = append(names, fmt.Sprintf("%s (%s)", own, a.Meaning(axis)))
		}
	}
	const shown = 10
	more := ""
	if n := len(names) - shown; n > 0 {
		names, more = names[:shown], fmt.Sprintf(", and %d more, which 'graft model show' lists", n)
	}
	return nil, fmt.Errorf("unknown axis %q; axes that can change: %s%s", name, strings.Join(names, ", "), more)
}

// rows is the dimension of a tensor that holds a module's own axis: the columns of an embedding, the last one of a
// tensor that is added, and otherwise the first; -1 for a vector, whose axis has another name.
func (a *Axes) rows(t graph.Tensor) int {
	if len(t.Shape) < 2 {
		return -1
	}
	for _, u := range a.Uses {
		if w, ok := u.Right.(graph.Weight); ok && u.Kind == Looks &&
			(string(w) == t.Name || a.Graph.Tensor(string(w)).Tied == t.Name) {
			return 1
		}
	}
	if a.added[t.Name] {
		return len(t.Shape) - 1
	}
	return 0
}
