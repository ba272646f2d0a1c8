package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"text/tabwriter"
	"time"

	"graft/cluster/elastic"
	"graft/cluster/elastic/agent"
	"graft/cluster/elastic/schedulers"
	"graft/learn"
)

// elasticWorlds are a small cluster and one of the size of DL2's large cluster.
var elasticWorlds = []struct{ nodes, jobs, rate int }{{96, 60, 3}, {500, 200, 10}}

// learnedSteps is the number of a learner's steps in a round.
const learnedSteps = 5000

// studyElastic prints the cost of simulating elastic jobs under each scheduler, and the steps per second of a learner:
// an observation, the scores of its network, and the action.
func studyElastic(out io.Writer, rounds int) error {
	had := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(had)
	for _, size := range elasticWorlds {
		study, err := elasticStudy(size.nodes, size.jobs, size.rate)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\nelastic jobs, on one thread: %d jobs on %d nodes, speeds computed\n", size.jobs, size.nodes)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "what\tmedian\tquartiles")
		for _, kind := range schedulers.Kinds() {
			err := elasticLine(w, kind.Name+", ms", rounds, func() (float64, error) {
				began := time.Now()
				_, err := study.Run(context.Background(), kind)
				return 1000 * time.Since(began).Seconds(), err
			})
			if err != nil {
				return err
			}
		}
		if err := learnerLine(w, study, rounds); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func elasticStudy(nodes, jobs, rate int) (s elastic.Study, err error) {
	s = elastic.Study{Types: elastic.PublishedTypes(), Speed: elastic.Analytic{},
		Options: elastic.Options{Nodes: nodes, Scaling: elastic.NoScaling}}
	s.Options.EnsureDefaults()
	s.Jobs, err = elastic.Generate(s.Types, elastic.GenerateOptions{Jobs: jobs, Rate: rate}, elastic.NewDraws(1))
	return s, err
}

func learnerLine(w io.Writer, study elastic.Study, rounds int) error {
	e, err := agent.NewEnv([]elastic.Study{study}, 0)
	if err != nil {
		return err
	}
	m, err := learn.NewSet(learn.SetOptions{Globals: agent.Globals, Features: agent.Features},
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		return err
	}
	r := learn.NewRollout(e, m, 1, 1)
	candidates := 0
	err = elasticLine(w, "learner, steps/s", rounds, func() (float64, error) {
		began := time.Now()
		steps, err := r.Play(learnedSteps)
		seconds := time.Since(began).Seconds()
		for k := range steps {
			candidates += len(steps[k].Values) / agent.Features
		}
		return learnedSteps / seconds, err
	})
	fmt.Fprintf(w, "learner, candidates of a step\t%d\t\n", candidates/(learnedSteps*rounds))
	return err
}

func elasticLine(w io.Writer, what string, rounds int, measure func() (float64, error)) error {
	var values []float64
	for range rounds {
		v, err := measure()
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	_, err := fmt.Fprintf(w, "%s\t%.4g\t%s\n", what, median(values), quartiles(values, "%.4g"))
	return err
}
