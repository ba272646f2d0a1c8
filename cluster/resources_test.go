package cluster

import (
	"context"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
)

// Jobs that request a part of a device share it up to its capacity, unless the study gives them whole devices.
func TestPartsOfDevices(t *testing.T) {
	for name, c := range map[string]struct {
		whole  bool
		shares []int
		starts []int64
		used   float64 // device-seconds until second 10
	}{
		"two halves run together":      {false, []int{500, 500}, []int64{0, 0}, 10},
		"a third one takes the next":   {false, []int{500, 500, 500}, []int64{0, 0, 0}, 20},
		"the fullest that has room":    {false, []int{600, 700, 250, 150}, []int64{0, 0, 0, 0}, 20},
		"what does not fit waits":      {false, []int{600, 700, 500}, []int64{0, 0, 10}, 20},
		"a whole one needs a free one": {false, []int{100, 100, 0}, []int64{0, 0, 0}, 20},
		"whole devices":                {true, []int{500, 500, 500}, []int64{0, 0, 10}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			s := smallStudy(len(c.shares))
			s.WholeGPUs = c.whole
			for k, share := range c.shares {
				s.Jobs[k].Submit, s.Jobs[k].Share = 0, share
			}
			o := must(s.Run(context.Background(), toyPolicy((*toy).start), Options{Horizon: 10}))
			for k, j := range o.Jobs {
				require.Equal(t, c.starts[k], j.Start, "job %d", k)
				require.Equal(t, 1, bits.OnesCount64(j.Nodes[0].GPUs))
			}
			require.Equal(t, c.used, o.Pools[0].Used)
		})
	}
}

// A part goes to the fullest device with room, so whole devices stay free.
func TestPartsFillUp(t *testing.T) {
	s := smallStudy(4)
	for k, share := range []int{600, 700, 250, 350} {
		s.Jobs[k].Submit, s.Jobs[k].Share = 0, share
	}
	o := must(s.Run(context.Background(), toyPolicy((*toy).start), Options{}))
	require.Equal(t, o.Jobs[1].Nodes, o.Jobs[2].Nodes, "250 of the 300 that are left, not of the 400")
	require.Equal(t, o.Jobs[0].Nodes, o.Jobs[3].Nodes)
}

// Memory and named resources are never overcommitted. A job that requests more than a node has is refused.
func TestOtherResources(t *testing.T) {
	for name, count := range map[string]func(s *Study){
		"memory": func(s *Study) { s.Memory = 100 },
		"licences": func(s *Study) {
			s.Others = []Resource{{Name: "licences", Node: 100, Of: func(j *trace.Job) int64 { return j.RAM }}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := smallStudy(4)
			count(s)
			for k, asks := range []int64{60, 50, 101, 40} {
				s.Jobs[k].Submit, s.Jobs[k].RAM = 0, asks
			}
			o := must(s.Run(context.Background(), toyPolicy((*toy).start), Options{}))
			require.Equal(t, []Refusal{{"j2", "more " + name + " requested than the nodes have"}}, o.Refused)
			require.Equal(t, []int64{0, 10, 10}, []int64{o.Jobs[0].Start, o.Jobs[1].Start, o.Jobs[2].Start})
		})
	}
}

// doubled is a speed model in which the rate is the square of the devices, and a pair runs at half speed.
type doubled struct{ LinearSpeed }

func (doubled) Rates(p Placement) (float64, float64) {
	if p.Partner != nil {
		return 0.5, 0.5
	}
	return float64(p.GPUs * p.GPUs), 1
}

// The study's speed model determines the rates of jobs for all actions of a scheduler.
func TestSpeedModel(t *testing.T) {
	s := smallStudy(2)
	s.Speed = doubled{}
	o, err := s.Run(context.Background(), toyPolicy(func(s *toy, p *Pool) int64 {
		switch {
		case p.Now() == 0:
			p.StartOn(s.all[0], 2)
		case p.Now() == 1 && s.all[0].GPUs == 2:
			p.Resize(s.all[0], 1)
		}
		if j := s.all[len(s.all)-1]; j.Number == 1 && j.End == Never && !j.Running() && s.all[0].Running() {
			p.Pack(j, s.all[0])
		}
		return Never
	}), Options{Follow: []string{"j0"}})
	require.NoError(t, err)
	// At second 1, the first job has done 4 s of its 10 s of work and loses 40 s. The pair works at half rate.
	rates := []float64{}
	for _, c := range o.Changes {
		rates = append(rates, c.Rate)
	}
	require.Equal(t, []float64{4, 1, 0.5, 1, 1}, rates)
	require.True(t, o.Changes[2].Shared)
	require.False(t, o.Changes[3].Shared)
	require.Equal(t, int64(21), o.Jobs[1].End)
	require.Equal(t, int64(21+36), o.Jobs[0].End)
}
