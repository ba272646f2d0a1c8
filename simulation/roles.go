package simulation

import (
	"fmt"
	"slices"

	"graft/net2net"
)

// Role returns an action in terms that tables of networks of different sizes share. In an action that widens a layer,
// the rank of the width among all widths that the table offers for the layer replaces the width. Other actions are
// unchanged.
func (t *Tree) Role(action string) string {
	if role, ok := t.roles[action]; ok {
		return role
	}
	return action
}

// widthRoles returns the role of each widening in a tree.
func widthRoles(t *Tree) map[string]string {
	sizes := map[string][]int{} // by layer
	for _, n := range t.Nodes {
		for _, c := range n.Choices {
			if a := c.Action; a.Kind == "widen" && !slices.Contains(sizes[a.Target], a.Size) {
				sizes[a.Target] = append(sizes[a.Target], a.Size)
			}
		}
	}
	roles := map[string]string{}
	for target, list := range sizes {
		slices.Sort(list)
		for k, size := range list {
			a := net2net.Action{Kind: "widen", Target: target, Size: size}
			roles[a.String()] = fmt.Sprintf("%s:%s, width %d", a.Kind, target, k+1)
		}
	}
	return roles
}
