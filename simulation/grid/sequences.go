package grid

// Sequences returns the sequences of the space and their number. If there are more sequences than the argument most,
// the list is an evenly spread sample of at most that size, as in the design Sampled. Counting stops at mostCounted
// sequences, or at the argument most if it is larger.
func (g Space) Sequences(most int) (list [][]string, all int, err error) {
	if all, _, err = g.Count(max(most, mostCounted)); err != nil {
		return nil, 0, err
	}
	design := Design{Which: All}
	if all > most {
		design = Design{Which: Sampled, Most: most}
	}
	grid := NewGrid(Plan{Design: design}, g, nil, nil)
	grid.dry = true
	err = grid.walk(func(b *node) error {
		if len(b.sequence) == g.Decisions {
			list = append(list, b.sequence)
		}
		return nil
	})
	return list, all, err
}

// mostCounted is the number of sequences at which counting stops.
const mostCounted = 10_000
