package axes

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// List returns the axes that occur in tensors, in the order in which they first do.
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

// Print writes the axes with the tensors that have them.
func (a *Axes) Print(w io.Writer) {
	all := a.List()
	names := map[*Term]string{}
	for k, axis := range all {
		names[axis] = fmt.Sprintf("a%d", k)
	}
	var text func(t *Term) string
	text = func(t *Term) string {
		t = t.Find()
		if t.Kind == Axis {
			if names[t] == "" {
				return fmt.Sprint(t.Size)
			}
			return names[t]
		}
		var parts []string
		for _, p := range t.Parts {
			parts = append(parts, text(p))
		}
		return "(" + strings.Join(parts, map[Kind]string{Product: "*", Sum: "+"}[t.Kind]) + ")"
	}
	for k, axis := range all {
		reason := axis.Fixed
		if reason != "" {
			reason = ", fixed: " + reason
		}
		fmt.Fprintf(w, "a%d = %d%s\n", k, axis.Size, reason)
	}
	for _, t := range a.Graph.Tensors {
		var parts []string
		for _, term := range a.Tensors[t.Name] {
			parts = append(parts, text(term))
		}
		fmt.Fprintf(w, "%s [%s]\n", t.Name, strings.Join(parts, ", "))
	}
}

// Name is a readable name of an axis: the tensors that it sizes first, and what it is there.
func (a *Axes) Name(axis *Term) string {
	for _, t := range a.Graph.Tensors {
		for dim, term := range a.Tensors[t.Name] {
			var found []*Term
			term.Axes(func(x *Term) {
				if !slices.Contains(found, x) {
					found = append(found, x)
				}
			})
			if at := slices.Index(found, axis); at >= 0 && axis.Size > 1 {
				name := fmt.Sprintf("%s[%d]", t.Name, dim)
				if len(found) > 1 {
					name += fmt.Sprintf(".%d", at)
				}
				return name
			}
		}
	}
	return ""
}
