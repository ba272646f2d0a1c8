package fabric

import "slices"

// Order lists the operations of a step by server, in order of placement.
func (p *Placed) Order() []int { return slices.Concat(p.onServer...) }
