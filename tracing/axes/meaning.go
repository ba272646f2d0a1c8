package axes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/model/graph"
)

// Meaning describes an axis in a few words, such as "heads of the attention in blocks.0". It derives the description
// from the operators that use the axis. The description is empty if the axis has no name.
func (a *Axes) Meaning(axis *Term) string {
	name, _, _ := strings.Cut(a.Name(axis), "/")
	if name == "" {
		return ""
	}
	m := meaning{a, axis.Find(), name}
	for _, describe := range []func() string{m.recurrent, m.attention, m.stream, m.hidden} {
		if text := describe(); text != "" {
			return text
		}
	}
	return "outputs of " + name
}

// meaning describes an axis.
type meaning struct {
	*Axes
	axis *Term
	name string // path of the module whose rows the axis counts
}

// where names the item of a list of modules that has the axis, several items, or the module itself.
func (m *meaning) where() string {
	items := m.items()
	switch {
	case len(items) > 1:
		return fmt.Sprintf("%s and %d more", items[0], len(items)-1)
	case len(items) == 1 && items[0] != "":
		return items[0]
	}
	return m.name
}

// items lists the items of lists of modules whose tensors have the axis. An empty item stands for other modules.
func (m *meaning) items() (list []string) {
	for _, t := range m.Graph.Tensors {
		if t.Role == graph.Parameter && slices.ContainsFunc(m.Tensors[t.Name],
			func(term *Term) bool { return term.Has(m.axis) }) {
			if item := ListItem(t.Name); !slices.Contains(list, item) {
				list = append(list, item)
			}
		}
	}
	return list
}

// ListItem returns the outermost list item that contains the module at a path, such as blocks.3. It returns an empty
// string if the module is not in a list.
func ListItem(path string) string {
	parts := strings.Split(path, ".")
	for k, part := range parts[1:] {
		if _, err := strconv.Atoi(part); err == nil {
			return strings.Join(parts[:k+2], ".")
		}
	}
	return ""
}

// recurrent describes the hidden units of recurrent layers, whose operators have no values in common.
func (m *meaning) recurrent() string {
	for k := range m.Graph.Nodes {
		n := &m.Graph.Nodes[k]
		operator := n.Name()
		if _, ok := gates[operator]; ok && m.reads(n) && strings.HasPrefix(m.name, n.Module) {
			return "hidden units of " + m.name
		}
	}
	return ""
}

// reads reports whether a tensor that a node reads has the axis in its rows.
func (m *meaning) reads(n *graph.Node) (found bool) {
	n.Reads(func(read any) {
		if w, ok := read.(graph.Weight); ok && len(m.Tensors[string(w)]) > 0 {
			found = found || m.Tensors[string(w)][0].Has(m.axis)
		}
	})
	return found
}

// attention describes the heads of an attention and their sizes: the queries and keys share the axis over which their
// product sums.
func (m *meaning) attention() string {
	for _, u := range m.Uses {
		_, left := u.Left.(graph.Value)
		_, right := u.Right.(graph.Value)
		if u.Kind != Contracts || !left || !right {
			continue
		}
		if text := m.inAttention(u.Term.Find()); text != "" {
			return text + " of the attention in " + m.where()
		}
	}
	return ""
}

// inAttention describes the role of the axis in the product of queries and keys, which sums over inner. The rows of
// queries and keys are products of heads and inner; only the rows of queries have the number of heads per group.
func (m *meaning) inAttention(inner *Term) string {
	if inner.Has(m.axis) {
		text := "size of a head's queries and keys"
		if part := inner.Size / m.axis.Size; part > 1 {
			text = fmt.Sprintf("1/%d of the %s", part, text)
		}
		return text
	}
	isInner := func(t *Term) bool { return inner.Has(t) }
	var all []*Term
	for _, product := range m.products() {
		if anyAxis(product, isInner) {
			all = append(all, product)
		}
	}
	everywhere := func(axis *Term) bool {
		return !slices.ContainsFunc(all, func(p *Term) bool { return !p.Has(axis) })
	}
	perGroup := func(axis *Term) bool {
		return axis.Fixed == "" && axis.Size > 1 && !isInner(axis) && !everywhere(axis)
	}
	switch {
	case len(all) == 0:
		return ""
	case everywhere(m.axis) && slices.ContainsFunc(all, func(p *Term) bool { return anyAxis(p, perGroup) }):
		return "groups of heads with common keys and values"
	case everywhere(m.axis):
		return "heads"
	case slices.ContainsFunc(all, func(p *Term) bool { return p.Has(m.axis) }):
		return "heads per group"
	case slices.ContainsFunc(m.products(), func(p *Term) bool {
		return slices.Contains(p.Factors(), m.axis) &&
			anyAxis(p, func(t *Term) bool { return everywhere(t) && !isInner(t) })
	}):
		return "size of a head's values"
	}
	return ""
}

// products lists the parts of the rows of the weights next to the axis: stacked weights have several parts.
func (m *meaning) products() (list []*Term) {
	for _, t := range m.Graph.Tensors {
		if dim := m.rows(t); dim >= 0 && ListItem(t.Name) == ListItem(m.name) {
			for _, part := range m.Tensors[t.Name][dim].Summands() {
				if len(part.Factors()) > 1 {
					list = append(list, part)
				}
			}
		}
	}
	return list
}

// anyAxis reports whether an axis of a term fits.
func anyAxis(t *Term, fits func(*Term) bool) (found bool) {
	t.Axes(func(axis *Term) { found = found || fits(axis) })
	return found
}

// stream describes the axis that embeddings open and that normalisations and all blocks pass on.
func (m *meaning) stream() string {
	normal := slices.ContainsFunc(m.Norms, func(n Norm) bool { return n.Term.Has(m.axis) })
	switch {
	case normal && len(m.items()) > 1:
		return "width of the residual stream, which all blocks share"
	case slices.ContainsFunc(m.Uses, m.looksUp):
		return "width of the embedding " + m.name
	}
	return ""
}

// looksUp reports whether a use looks up rows of an embedding whose columns are the axis.
func (m *meaning) looksUp(u Use) bool {
	w, ok := u.Right.(graph.Weight)
	return ok && u.Kind == Looks && m.Tensors[string(w)][1].Has(m.axis)
}

// hidden describes the outputs of a layer by the layers that sum over them.
func (m *meaning) hidden() string {
	var readers []string
	item := ListItem(m.name)
	inside := item != ""
	for _, u := range m.Uses {
		w, ok := u.Right.(graph.Weight)
		if !ok || u.Kind != Contracts || !u.Term.Has(m.axis) {
			continue
		}
		if owner := ownerOf(string(w)); !slices.Contains(readers, owner) {
			readers, inside = append(readers, owner), inside && ListItem(owner) == item
		}
	}
	what := "outputs"
	if t := m.Graph.Tensor(m.name + ".weight"); t != nil && len(t.Shape) > 2 {
		what = "channels"
	}
	const shown = 2
	switch {
	case len(readers) == 0:
		return ""
	case inside && what == "outputs" && m.attends(item):
		return "hidden width of the feed-forward in " + item
	case len(readers) > shown:
		readers = append(readers[:shown], fmt.Sprintf("%d more", len(readers)-shown))
	}
	return fmt.Sprintf("%s of %s, read by %s", what, m.name, strings.Join(readers, ", "))
}

// attends reports whether an attention runs in a module.
func (m *meaning) attends(module string) bool {
	return slices.ContainsFunc(m.Uses, func(u Use) bool {
		_, left := u.Left.(graph.Value)
		_, right := u.Right.(graph.Value)
		in := m.Graph.Nodes[u.Node].Module
		return u.Kind == Contracts && left && right && (in == module || strings.HasPrefix(in, module+"."))
	})
}

// ownerOf returns the path of the module with a tensor.
func ownerOf(tensor string) string {
	if at := strings.LastIndexByte(tensor, '.'); at >= 0 {
		return tensor[:at]
	}
	return tensor
}
