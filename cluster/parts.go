package cluster

import "slices"

// Whole is a whole device in the unit in which demands are counted: a thousandth of a device.
const Whole = 1000

// part takes thousandths of a device, or gives them back if they are negative. It reports whether
// nobody has a part of the device any more.
func (n *Nodes) part(nd *node, device, by int) bool {
	if nd.parts == nil {
		nd.parts = make([]uint16, n.each)
		n.parted = append(n.parted, nd)
	}
	before := int(nd.parts[device])
	now := before + by
	nd.parts[device] = uint16(now)
	n.room += left(now) - left(before)
	if now > 0 {
		return false
	}
	if !slices.ContainsFunc(nd.parts, func(taken uint16) bool { return taken > 0 }) {
		nd.parts = nil
		n.parted = slices.DeleteFunc(n.parted, func(other *node) bool { return other == nd })
	}
	return true
}

// left returns the thousandths that are left of a device in parts; zero if it is whole.
func left(taken int) int64 {
	if taken == 0 {
		return 0
	}
	return int64(Whole - taken)
}

// beside finds a device in parts with room for the part that the job at hand wants: the one with
// the least left, of equals the first one.
func (n *Nodes) beside() (Share, bool) {
	var best *node
	device, least := 0, Whole+1
	for _, nd := range n.parted {
		if !n.holds(nd) {
			continue
		}
		for k, taken := range nd.parts {
			left := Whole - int(taken)
			if taken > 0 && left >= n.share && (left < least || left == least && nd.at < best.at) {
				best, device, least = nd, k, left
			}
		}
	}
	if best == nil {
		return Share{}, false
	}
	return Share{Node: best.name, GPUs: 1 << device}, true
}

// holds reports whether a node has the other resources for one device of the job at hand.
func (n *Nodes) holds(nd *node) bool {
	for k, wanted := range n.wants {
		if nd.used[k]+wanted > n.limits[k] {
			return false
		}
	}
	return true
}
