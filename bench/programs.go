package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/decider"
	"graft/internal/coprocess"
	"graft/model"
)

// Examples of users' programs, in Python.
const (
	programScheduler = "scenarios/schedulers/patient.py"
	programDecider   = "scenarios/deciders/early.py"
)

// studyPrograms prints the cost of a decision by a user's scheduler, compared with fifo in graft, and by a user's
// decider, which starts for each decision.
func studyPrograms(out io.Writer, rounds int) error {
	s, err := madeStudy(1)
	if err != nil {
		return err
	}
	asked, err := schedulers.Named(programScheduler)
	if err != nil {
		return err
	}
	fifo, err := schedulers.Named("fifo")
	if err != nil {
		return err
	}
	n, err := model.Zoo("ConvSmall", model.ZooOptions{})
	if err != nil {
		return err
	}
	var each, decisions []float64
	requests := 0.0
	for range rounds {
		own, _, err := timedStudy(fifo, s)
		if err != nil {
			return err
		}
		took, events, err := timedStudy(asked, s)
		if err != nil {
			return err
		}
		requests, each = events, append(each, 1e6*(took-own)/events)
		began := time.Now()
		p := decider.Program{Options: coprocess.Options{Path: programDecider}}
		if _, err := p.Decide(context.Background(), decider.State{Network: n, Left: time.Minute,
			Budget: time.Minute}); err != nil {
			return err
		}
		decisions = append(decisions, 1e3*time.Since(began).Seconds())
	}
	fmt.Fprintf(out, "\nprograms in Python, medians and quartiles of %d rounds\n", rounds)
	fmt.Fprintf(out, "scheduler: %.1f %s µs an event more than fifo, %.0f events of %d jobs\n", median(each),
		quartiles(each, "%.1f"), requests, len(s.Jobs))
	_, err = fmt.Fprintf(out, "decider: %.1f %s ms a decision, with the start of the program\n", median(decisions),
		quartiles(decisions, "%.1f"))
	return err
}

// timedStudy simulates once, on one thread, and returns the seconds on the wall clock.
func timedStudy(policy cluster.Policy, s *cluster.Study) (seconds, events float64, err error) {
	began := time.Now()
	o, err := s.Run(context.Background(), policy, cluster.Options{Workers: 1})
	if err != nil {
		return 0, 0, err
	}
	return time.Since(began).Seconds(), float64(o.Events), nil
}
