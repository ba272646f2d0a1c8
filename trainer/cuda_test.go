package trainer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/model"
	"graft/torch"
	"graft/trainer"
)

// onDevice runs a job that grows and shrinks on a device.
func onDevice(t *testing.T, device torch.Device, graphs bool) (outcome *trainer.Outcome, book *memory) {
	book = &memory{}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		// no dropout, because it draws on its device
		n := twoBlocks(torch.ReLU, 6, 8, leaf("flat", model.Flatten{}), leaf("fc", model.NewLinear(8, 4)))
		if err := n.Materialize(s, model.Placement{Device: device, Random: s.NewGenerator(torch.CPU, 1)}); err != nil {
			return err
		}
		data, err := dataset.Load(s, device, files.OS{}, dataset.Options{Seed: 1,
			Synthetic: dataset.SyntheticOptions{Size: side, Classes: 4, Train: 600, Test: 200}})
		if err != nil {
			return err
		}
		o := plan()
		o.Exact, o.CUDAGraphs = true, graphs
		j, err := trainer.New(s, parts(t, s, trainer.Parts{Recorder: book, Network: n, Data: data}, "deepen:conv1",
			"widen:conv2:12"), o)
		if err != nil {
			return err
		}
		outcome, err = j.Run(t.Context())
		return err
	}))
	return outcome, book
}

// A job on CUDA deepens, widens and shrinks as on the CPU, with equal losses up to rounding, with and without CUDA
// graphs.
func TestCUDAJob(t *testing.T) {
	want, rows := onDevice(t, torch.CPU, false)
	all, err := torch.Devices()
	require.NoError(t, err)
	if len(all) == 1 {
		t.Log("left out: the same on a CUDA device, which this machine lacks")
	}
	for _, device := range all[:min(2, len(all))] {
		for _, graphs := range []bool{false, true} {
			got, book := onDevice(t, device, graphs)
			require.Equal(t, rows.events(), book.events(), device)
			require.Equal(t, want.Steps, got.Steps)
			require.Equal(t, want.Parameters, got.Parameters)
			require.Len(t, book.rows, len(rows.rows))
			for k := range rows.rows {
				require.InDelta(t, rows.rows[k].Loss, book.rows[k].Loss, 2e-2, "%s, graphs %t, epoch %d", device,
					graphs, k+1)
			}
		}
	}
}
