package elastictest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/cluster/elastic/elastictest"
)

// act makes a function a scheduler.
type act func(w *elastic.World)

func (a act) Schedule(w *elastic.World) { a(w) }

// The suite finds schedulers that break its rules.
func TestSuiteFindsFaults(t *testing.T) {
	pair := func(w *elastic.World) {
		for _, j := range w.Jobs() {
			w.AddPair(j)
		}
	}
	chance := rand.New(rand.NewPCG(1, 1))
	for want, faulty := range map[string]act{
		"": pair,
		"no job made progress for 1000 slots and no more jobs will arrive": func(*elastic.World) {},
		"a second run differs": func(w *elastic.World) {
			for range 1 + chance.IntN(3) {
				pair(w)
			}
		},
		"free slots": func(w *elastic.World) {
			pair(w)
			for _, j := range w.Jobs() {
				j.Workers = append(j.Workers, 0)
			}
		},
		"workers and": func(w *elastic.World) {
			for _, j := range w.Jobs() {
				j.Workers = make([]int, w.Most()+1)
			}
		},
		"shifted by 3 slots": func(w *elastic.World) {
			for range 1 + w.Slot()%2 {
				pair(w)
			}
		},
	} {
		require.True(t, found(t, want, faulty), want)
	}
}

// found reports whether one of 20 random studies shows a fault. For an empty fault, no study may fail.
func found(t *testing.T, want string, by act) bool {
	kind := elastic.Kind{Name: "faulty", New: func(*elastic.World) elastic.Scheduler { return by }}
	for k := range uint64(20) {
		s := elastictest.Draw(rand.New(rand.NewPCG(3, k)), nil)
		s.Options.Most = max(2, s.Options.Most)
		if _, table := s.Speed.(elastic.Table); table {
			s.Speed = elastictest.DrawTable(rand.New(rand.NewPCG(4, k)), s.Types, s.Options.Most+2)
		}
		err := elastictest.Hold(t.Context(), kind, s)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		if err != nil {
			require.ErrorContains(t, err, want)
			return true
		}
	}
	return want == ""
}
