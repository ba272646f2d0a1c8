package grid

// Sequences returns the sequences of the space and their number. The argument most is the maximum number of returned
// sequences: if the space has more, Sequences returns an evenly spread sample, as the design "sample" does. It counts
// up to mostCounted sequences.
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
