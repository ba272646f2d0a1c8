package cluster

import "slices"

// Whole is the number of thousandths in a whole device. Demands are counted in thousandths of a device.
const Whole = 1000

// part takes thousandths of a device, or returns them if by is negative. It reports whether the device has no more
// parts in use.
func (n *Nodes) part(nd *node, device, by int) bool {
	if nd.parts == nil {
		nd.parts = make([]uint16, n.each)
		n.parted = append(n.parted, nd)
	}
	before := int(nd.parts[device])
	now := before + by
	nd.parts[device] = uint16(now)
	n.room += left(now) - left(before)
	n.types.part(nd, left(now)-left(before))
	if now > 0 {
		return false
	}
	if !slices.ContainsFunc(nd.parts, func(taken uint16) bool { return taken > 0 }) {
		nd.parts = nil
		n.parted = slices.DeleteFunc(n.parted, func(other *node) bool { return other == nd })
	}
	return true
}

// left returns the free thousandths of a device in parts; zero if it is whole.
func left(taken int) int64 {
	if taken == 0 {
		return 0
	}
	return int64(Whole - taken)
}

// beside finds a partly used device with room for the current job's part: the one with the least room, the first on a
// tie.
func (n *Nodes) beside() (Share, bool) {
	var best *node
	device, least := 0, Whole+1
	for _, nd := range n.parted {
		if !n.holds(nd) || !n.open(nd) || !n.sees(nd) {
			continue
		}
		for k, taken := range nd.parts {
			left := Whole - int(taken)
			if taken > 0 && left >= n.share && nd.lent>>k&1 == 0 && (left < least || left == least && nd.at < best.at) {
				best, device, least = nd, k, left
			}
		}
	}
	if best == nil {
		return Share{}, false
	}
	return Share{Node: best.name, GPUs: 1 << device}, true
}

// holds reports whether a node has enough other resources for one device of the current job.
func (n *Nodes) holds(nd *node) bool {
	for k, wanted := range n.wants {
		if nd.used[k]+wanted > n.limitsOf(nd)[k] {
			return false
		}
	}
	return true
}
