// Package tabletest creates tables for tests.
package tabletest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"graft/internal/files"
	"graft/simulation/tables"
)

// Folder creates a table of the network ConvNet2 in the folder dir, in graft's own format. The parameter sequences is
// the number of records in the table. The accuracies are random and depend on seed.
func Folder(dir, name string, decisions, sequences int, seed uint64) error {
	s := tables.Scenario{Name: name, Network: "ConvNet2", Dataset: "made up", Budget: 400, Decisions: decisions,
		Actions: []string{"deepen:0", "deepen:1", "deepen:2", "none"}}
	err := tables.Create(files.OS{}, dir, s, tables.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create a test table: %w", err)
	}
	w, err := tables.Open(files.OS{}, dir, tables.WriterOptions{Name: "made-up", Lazy: true})
	if err != nil {
		return fmt.Errorf("create a test table: %w", err)
	}
	random := rand.New(rand.NewPCG(seed, 0x7461626c65))
	for k := range sequences {
		r := tables.Record{Accuracy: []float64{0.5 + 0.3*random.Float64()}, Seeds: []int64{1}}
		for step := range decisions {
			r.Left = append(r.Left, 330-float64(20*step))
			r.Sequence = append(r.Sequence, s.Actions[k>>(2*(decisions-1-step))%len(s.Actions)])
		}
		if err := w.Append(tables.Cause{Sequence: r.Sequence, Seeds: r.Seeds}.Key(), r); err != nil {
			return errors.Join(fmt.Errorf("create a test table: %w", err), w.Close())
		}
	}
	return w.Close()
}
