//go:build graftdebug

package cluster

// check verifies the invariants of a pool: see [Pool.Check].
func check(p *Pool) {
	if err := p.Check(); err != nil {
		p.fail("inconsistent simulation state: %w", err)
	}
}
