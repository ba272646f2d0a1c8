package costs

// AllReduceSeconds returns the time in which a ring of devices sums a message. If the group spans several servers and
// its stride is above one, the ranks between its members belong to other groups. These groups sum their messages at the
// same time, so all of them share the network of each server.
func (h *Hardware) AllReduceSeconds(bytes float64, g Group) float64 {
	n := float64(g.Ranks)
	if g.Ranks <= 1 || bytes <= 0 {
		return 0
	}
	rate, slow := h.Link.Rate*h.Link.rings(g.Ranks), 0.0
	if servers := h.servers(g); servers > 1 {
		rings := min(max(1, g.Stride), h.Link.Devices)
		rate = min(rate, h.Network.Rate*h.Network.Efficiency/float64(rings))
		slow = float64(servers)
	}
	return h.Link.Start + 2*(n-1-max(0, slow-1))*h.Link.Step + 2*slow*h.Network.Step +
		2*(n-1)/n*bytes/rate + bytes/h.Link.Reduce
}

// servers returns the number of servers that a group's devices lie on.
func (h *Hardware) servers(g Group) int {
	inside := max(1, h.Link.Devices/max(1, g.Stride)) // ranks of the group on a server
	return (g.Ranks + inside - 1) / inside
}

// rings returns the number of rings of a group inside a server. A larger group has the rings of a whole server.
func (l *Link) rings(ranks int) float64 {
	if len(l.Rings) == 0 {
		return 1
	}
	return l.Rings[min(ranks-2, len(l.Rings)-1)]
}
