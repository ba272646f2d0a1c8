package genetic

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Repair separates two jobs that span several nodes and share a node. A third job is on that node too.
func TestSeparation(t *testing.T) {
	met := rows{{1, 1, 0, 0}, {0, 1, 1, 0}, {0, 1, 0, 0}, {0, 0, 1, 1}}
	for name, c := range map[string]struct {
		p    Problem
		want rows
	}{
		"mixed nodes stay as they are": {Problem{Mixed: true}, met},
		"the second job leaves, and claims no node": {Problem{},
			rows{{1, 1, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}, {0, 0, 1, 1}}},
		"it claims the node that it is left with": {Problem{Incoming: true},
			rows{{1, 1, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}}},
		"all jobs behind it leave too": {Problem{Neighbour: true},
			rows{{1, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0}, {0, 0, 1, 1}}},
		"all jobs behind leave, and claims are kept": {Problem{Neighbour: true, Incoming: true},
			rows{{1, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0}, {0, 0, 0, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.p
			p.Nodes, p.Devices, p.Fairness = 4, 4, -1
			for range met {
				p.Jobs = append(p.Jobs, Job{Most: 16, Speedup: func(bool, int) float64 { return 1 }})
			}
			s := inBatch(&p, nil, []rows{met})
			s.repair(s.state(0), 0)
			require.Equal(t, c.want, s.rows(s.state(0)))
		})
	}
}
