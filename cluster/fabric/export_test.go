package fabric

import "slices"

// Order lists the operations of a step server by server, each in the order in which they were placed.
func (p *Placed) Order() []int { return slices.Concat(p.onServer...) }
