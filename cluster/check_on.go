//go:build graftdebug

package cluster

// check holds a pool to what must be true of it: see [Pool.Check].
func check(p *Pool) {
	if err := p.Check(); err != nil {
		p.fail("the simulation is wrong: %w", err)
	}
}
