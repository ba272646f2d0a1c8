package elastic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

// flat returns a speed table with the same speed for all counts.
func flat(speed float64) elastic.Table {
	rows := make([][]float64, 20)
	for p := range rows {
		for range rows {
			rows[p] = append(rows[p], speed)
		}
	}
	return elastic.Table{"m": rows}
}

// model is a job type whose bundle fills half of a node's GPU slots.
var model = elastic.JobType{Name: "m", Worker: elastic.Resources{2, 4}, Server: elastic.Resources{2, 0}, EpochSize: 10,
	Length: 1}

// job returns a job of type 1 with 12 epochs. At speed 1 it takes a tenth of a slot of 1200 s.
func job(id, arrival int) elastic.Spec {
	return elastic.Spec{ID: id, Type: 1, Arrival: arrival, Epochs: 12, RealEpochs: 12}
}

func studyOf(jobs ...elastic.Spec) elastic.Study {
	return elastic.Study{Types: []elastic.JobType{model}, Jobs: jobs, Speed: flat(1),
		Options: elastic.Options{Nodes: 2}}
}

// scheduler makes a function a scheduler.
type scheduler func(w *elastic.World)

func (s scheduler) Schedule(w *elastic.World) { s(w) }

func (s scheduler) kind() elastic.Kind {
	return elastic.Kind{Name: "test", New: func(*elastic.World) elastic.Scheduler { return s }}
}

// onePair gives each job one worker and one server.
func onePair(w *elastic.World) {
	for _, j := range w.Jobs() {
		w.AddPair(j)
	}
}

func run(t *testing.T, s elastic.Study, by scheduler) *elastic.Result {
	result, err := s.Run(t.Context(), by.kind())
	require.NoError(t, err)
	return result
}

func world(t *testing.T, s elastic.Study) *elastic.World {
	w, err := elastic.NewWorld(s)
	require.NoError(t, err)
	return w
}
