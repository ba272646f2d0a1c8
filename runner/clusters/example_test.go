package clusters_test

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/config"
	"graft/runner/app"
	"graft/runner/clusters"
)

// A synthetic trace is replayed under two schedulers, without a file.
func ExampleReplay() {
	generator, err := trace.Generate(trace.GenerateOptions{Jobs: 300, Days: 3, Nodes: 2, Load: 0.9})
	if err != nil {
		fmt.Println(err)
		return
	}
	jobs := make([]trace.Job, 300)
	for k := range jobs {
		_ = generator.Read(&jobs[k]) // it ends after as many
	}
	c := &config.Cluster{Schedule: config.ClusterSchedule{Schedulers: []string{"fifo", "srtf"}}}
	outcome, err := clusters.Replay(context.Background(), &app.Env{Log: zap.NewNop()},
		&cluster.Study{Jobs: jobs, VCs: generator.VCs()}, c)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, cell := range outcome.Cells {
		fmt.Printf("%s: mean completion %.0f s\n", cell.Scheduler, *cell.Mean.Mean)
	}
	// Output:
	// fifo: mean completion 50234 s
	// srtf: mean completion 4146 s
}
