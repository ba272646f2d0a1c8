package world

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/node"
)

// Used cores are capped at a whole GPU, and tasks wait from arrival until they run.
func TestUseOfAMachine(t *testing.T) {
	s := time.Second
	one := &node.Study{Tasks: []node.Spec{{Cores: 80}, {Cores: 60}, {Cores: 50}, {Cores: 10}},
		Options: node.Options{Devices: make([]node.Device, 2)}}
	r := &node.Result{
		Spans: []node.Span{{Task: 0, Device: 0, To: 4 * s}, {Task: 1, Device: 0, From: s, To: 3 * s},
			{Task: 2, Device: 1, From: 2 * s, To: 6 * s}},
		Tasks: []node.Outcome{{Ended: 4 * s}, {Ended: 3 * s}, {Arrival: s, Ended: 6 * s}, {Arrival: 5 * s, Ended: -1}},
	}
	require.Equal(t, []use{{0, 0.4, 1}, {s, 0.5, 1}, {2 * s, 0.75, 0}, {3 * s, 0.65, 0}, {4 * s, 0.25, 0},
		{5 * s, 0.25, 1}, {6 * s, 0, 1}}, useOf(one, r))
	require.Empty(t, useOf(&node.Study{}, &node.Result{}))
}

// The energy of all GPUs is divided among the kinds with the most work, all others, and idle GPUs.
func TestPartsOfManyKinds(t *testing.T) {
	one := node.Study{}
	r := &node.Result{}
	for k := range mostKinds + 2 {
		one.Tasks = append(one.Tasks, node.Spec{Kind: fmt.Sprintf("kind%02d", k), Cores: 50,
			Work: time.Duration(mostKinds+2-k) * time.Second})
		r.Tasks = append(r.Tasks, node.Outcome{Joules: 2, Ended: time.Duration(k+1) * time.Second})
	}
	r.Summary.Joules = 2*(mostKinds+2) + 5
	s := &simulations{}
	s.kinds, s.others = kindsOf([]node.Study{one})
	require.Len(t, s.kinds, mostKinds)
	require.True(t, s.others)
	parts := s.parts(&one, r)
	require.Len(t, parts, mostKinds+2)
	require.Equal(t, "kind00", parts[0].Name)
	require.EqualValues(t, 1, parts[0].Values[jctKey])
	require.Equal(t, otherKinds, parts[mostKinds].Name)
	require.EqualValues(t, 4, parts[mostKinds].Values[energyKey])
	require.EqualValues(t, mostKinds+1.5, parts[mostKinds].Values[jctKey])
	require.Equal(t, noTask, parts[mostKinds+1].Name)
	require.EqualValues(t, 5, parts[mostKinds+1].Values[energyKey])
}
