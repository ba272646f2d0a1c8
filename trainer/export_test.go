package trainer

// Waiting counts the followers that wait for work.
func (n *Network) Waiting() int { return n.waiting() }
