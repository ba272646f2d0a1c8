package adaptive

import "graft/goodput"

// curve caches the goodput of a job at its best batch, by the number of devices and by whether they are on one
// node: the model asks no more of a placement.
type curve struct {
	known  goodput.Job
	values [2][]float64 // negative where it has not been asked for
}

// follow forgets what a job has learned better.
func (c *curve) follow(known *goodput.Job) {
	if c.known != *known {
		c.known = *known
		c.values[0], c.values[1] = c.values[0][:0], c.values[1][:0]
	}
}

// best is the goodput on a number of devices.
func (c *curve) best(spans bool, devices int) float64 {
	nodes := 1
	if spans {
		nodes = 2
	}
	list := c.values[nodes-1]
	for len(list) <= devices {
		list = append(list, -1)
	}
	c.values[nodes-1] = list
	if list[devices] < 0 {
		list[devices], _ = c.known.Best(nodes, devices)
	}
	return list[devices]
}
