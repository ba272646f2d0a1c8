package net2net

import "graft/model"

// LegacyBlocks are the paths of the marked blocks that a network was made with, in
// the order of registration and without those inside of others, as the original
// numbered them.
func OriginalBlocks(n *model.Network) []string {
	var paths []string
	n.Walk(func(path string, m model.Module) bool {
		c, ok := m.(*model.Container)
		if !ok || c.Mark == model.Unmarked {
			return true
		}
		if c.Mark == model.Original {
			paths = append(paths, path)
		}
		return false
	})
	return paths
}
