package agent_test

import (
	"math/rand/v2"
	"testing"

	"graft/cluster/node"
	"graft/cluster/node/agent"
)

// BenchmarkSteps takes the first candidate in each state.
func BenchmarkSteps(b *testing.B) {
	g := node.Generator{}
	g.EnsureDefaults()
	var studies []node.Study
	for k := range uint64(20) {
		studies = append(studies, node.Study{Tasks: g.Draw(rand.New(rand.NewPCG(1, k)))})
	}
	e, err := agent.NewEnv(studies, agent.Completion)
	if err != nil {
		b.Fatal(err)
	}
	random, done := rand.New(rand.NewPCG(2, 2)), true
	for b.Loop() {
		if done {
			if err := e.Reset(random); err != nil {
				b.Fatal(err)
			}
		}
		e.Observe()
		o, err := e.Act(0)
		if err != nil {
			b.Fatal(err)
		}
		done = o.Done
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
