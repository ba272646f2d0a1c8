package schedulers_test

import (
	"context"
	"fmt"

	"graft/cluster"
	"graft/cluster/trace"
)

// Patient starts jobs in order of arrival. Smaller jobs overtake a job without a placement until it waited too long.
type Patient struct {
	Patience int64          // seconds; zero lets nobody overtake
	waiting  []*cluster.Job // in order of arrival
}

// Arrived is called once for each job.
func (s *Patient) Arrived(j *cluster.Job) { s.waiting = append(s.waiting, j) }

// Ended is called when a job has left its devices, before Schedule in the same second.
func (s *Patient) Ended(*cluster.Job) {}

// Schedule starts all jobs that fit. It returns Never, because no job can start before another job ends or arrives.
func (s *Patient) Schedule(p *cluster.Pool) int64 {
	var left []*cluster.Job
	blocked := false
	for _, j := range s.waiting {
		if blocked || !p.Start(j) {
			left = append(left, j)
			blocked = blocked || p.Now()-j.Arrival >= s.Patience
		}
	}
	s.waiting = left
	return cluster.Never
}

func Example_scheduler() {
	study := &cluster.Study{
		VCs: []trace.VC{{Name: "lab", Nodes: 1}},
		Jobs: []trace.Job{
			{ID: "wide", VC: "lab", Submit: 0, Duration: 3600, GPUs: 6},
			{ID: "whole", VC: "lab", Submit: 10, Duration: 600, GPUs: 8},
			{ID: "small", VC: "lab", Submit: 20, Duration: 600, GPUs: 2},
		},
	}
	for _, patience := range []int64{0, 3600} {
		policy := cluster.Policy{Name: "patient", New: func(cluster.Setup) (cluster.Scheduler, error) {
			return &Patient{Patience: patience}, nil
		}}
		outcome, err := study.Run(context.Background(), policy, cluster.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, j := range outcome.Jobs {
			fmt.Printf("patience %4d s: %-5s from %4d to %4d, waited %4d s\n", patience, j.Trace.ID, j.Start,
				j.End, j.Queue)
		}
	}
	// Output:
	// patience    0 s: wide  from    0 to 3600, waited    0 s
	// patience    0 s: whole from 3600 to 4200, waited 3590 s
	// patience    0 s: small from 4200 to 4800, waited 4180 s
	// patience 3600 s: wide  from    0 to 3600, waited    0 s
	// patience 3600 s: whole from 3600 to 4200, waited 3590 s
	// patience 3600 s: small from   20 to  620, waited    0 s
}
