package schedulers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
)

// recordedDetail holds the placements of a run and its first samples for imitation.
type recordedDetail struct {
	// by slot and job: ID, workers, servers, their nodes, progress after the slot, dominant share
	Slots   [][][]any `json:"slots"`
	Samples [][]any   `json:"samples"` // slot, label, rows of the state
}

// With all quirks, the nodes of every task, the progress of every job and the samples for imitation equal the original.
func TestRecordedPlacements(t *testing.T) {
	p := readPublished(t)
	var file map[string]json.RawMessage
	referenceJSON(t, "golden/testbed_seed1_detail.json", &file)
	for _, kind := range schedulers.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			var want recordedDetail
			for name, raw := range file {
				if strings.EqualFold(name, kind.Name) {
					require.NoError(t, json.Unmarshal(raw, &want))
				}
			}
			if want.Slots == nil {
				t.Skip("left out: the original has no such scheduler")
			}
			slots, samples := followed(t, p.study(t, "testbed_google", 1), kind, len(want.Samples))
			requireSameJSON(t, want.Slots, slots)
			requireSameJSON(t, want.Samples, samples)
		})
	}
}

// followed simulates a study and returns its placements and samples as in recordedDetail.
func followed(t *testing.T, s elastic.Study, kind elastic.Kind, most int) (slots [][][]any, samples [][]any) {
	w, err := elastic.NewWorld(s)
	require.NoError(t, err)
	const size = 20
	elastic.Record(w, elastic.WindowOptions{Size: size}, func(s elastic.Sample) {
		var rows [][]float64
		for k := 0; k < len(s.State); k += size {
			rows = append(rows, s.State[k:k+size])
		}
		if len(samples) < most {
			samples = append(samples, []any{s.Slot, s.Label, rows})
		}
	})
	scheduler := kind.New(w)
	for !w.Done() {
		w.Begin()
		scheduler.Schedule(w)
		jobs := append([]*elastic.Job(nil), w.Jobs()...)
		w.End()
		rows := [][]any{}
		for _, j := range jobs {
			if len(j.Workers)+len(j.Servers) > 0 {
				rows = append(rows, []any{j.ID, len(j.Workers), len(j.Servers), nodesOf(j.Workers), nodesOf(j.Servers),
					j.Progress, j.Share})
			}
		}
		slots = append(slots, rows)
	}
	return slots, samples
}

func nodesOf(list []int) []int { return append([]int{}, list...) }

// requireSameJSON compares values as JSON, so that all numbers are floats.
func requireSameJSON(t *testing.T, want, got any) {
	text, err := json.Marshal(got)
	require.NoError(t, err)
	var plain, expected any
	require.NoError(t, json.Unmarshal(text, &plain))
	text, err = json.Marshal(want)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &expected))
	require.Equal(t, expected, plain)
}
