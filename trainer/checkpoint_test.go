package trainer

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch"
	"graft/trainer/program"
)

// Every field of a job's parts is in the position file, under one key.
func TestPositionHasAllParts(t *testing.T) {
	keys := map[string]json.RawMessage{}
	count := 0
	j := &Job{}
	// fields that are left out if they are empty
	j.Live, j.adaptation.Skipped, j.LowRate, j.Scaler = []LiveChange{{}}, 1, true, torch.NewScaler()
	j.adaptation.Late = 1
	j.evaluation.Best, j.adaptation.Plateau.Epochs, j.adaptation.WarmUntil = &Best{}, 1, 1
	j.Curve.Loss, j.Batching.Size, j.distillation.Remote, j.Missing = 1, 1, true, 1
	for _, part := range append(j.parts(), &origin{Program: &program.Facts{}}) {
		text, err := json.Marshal(part)
		require.NoError(t, err)
		own := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal(text, &own))
		count += len(own)
		maps.Copy(keys, own)
	}
	require.Len(t, keys, count, "no key belongs to two parts")
	require.ElementsMatch(t, positionKeys, slices.Collect(maps.Keys(keys)))
}
