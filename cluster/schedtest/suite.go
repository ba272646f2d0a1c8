package schedtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
)

// casesOfSuite is the number of cases in the suite.
const casesOfSuite = 300

// Run is the conformance suite of scheduling policies. It simulates random cases under a policy. In each second it
// checks that no device has too many jobs, that no job runs before its arrival, and that each job works at its rate. It
// also checks that all jobs end, and that a second run has the same outcome.
func Run(t *testing.T, policy cluster.Policy) {
	t.Helper()
	for k := range casesOfSuite {
		r := rand.New(rand.NewPCG(77, uint64(k)))
		c := Draw(r, Shape{Span: pick[int64](r, 5, 60, 600, 3000, 20_000), Jobs: 24, Faulty: k%4 == 0, Parts: k%3 == 1,
			Types: k%5 == 2, Limits: k%7 == 3, Quirks: policy.AllQuirks()})
		c.Enlarge(2) // so that a removed node prevents no job from running
		require.NoError(t, Hold(policy, c), "case %d\n%s", k, c)
	}
}

// Hold simulates a case under a policy and applies the checks of [Run].
func Hold(policy cluster.Policy, c *Case) error {
	var fault error
	o, err := c.Study.Run(context.Background(), watching(policy, &fault), options(c, 1))
	switch {
	case fault != nil:
		return fault
	case err != nil:
		return err
	}
	if err := errors.Join(whole(&c.Study, o), refuses(policy, c, o)); err != nil {
		return err
	}
	again, err := c.Study.Run(context.Background(), policy, options(c, 3))
	if err != nil {
		return err
	}
	if first, second := Table(o), Table(again); first != second {
		return fmt.Errorf("two simulations of the same case have different outcomes\nfirst outcome:\n%s\n"+
			"second outcome:\n%s", first, second)
	}
	return nil
}

// refuses returns an error if the jobs that a simulation left out differ from the jobs that the study announces. A
// policy that prepares the run may leave out other jobs.
func refuses(policy cluster.Policy, c *Case, o *cluster.Outcome) error {
	announced, err := c.Study.Refusals(c.Options.Placement)
	if err != nil || policy.Prepare != nil {
		return err
	}
	order := func(a, b cluster.Refusal) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Why, b.Why)) }
	left := slices.SortedFunc(slices.Values(o.Refused), order)
	if slices.SortFunc(announced, order); !slices.Equal(announced, left) {
		return fmt.Errorf("the study announces that simulations leave out %v, but a simulation left out %v", announced,
			left)
	}
	return nil
}

func options(c *Case, workers int) cluster.Options {
	o := c.Options
	o.Workers = workers
	return o
}

// Table returns one line per job with its outcome.
func Table(o *cluster.Outcome) string {
	w := &strings.Builder{}
	for _, j := range o.Jobs {
		fmt.Fprintf(w, "%s waits %d start %d end %d", j.Trace.ID, j.Queue, j.Start, j.End)
		if j.Preemptions > 0 {
			fmt.Fprintf(w, " preempted %d", j.Preemptions)
		}
		if j.Record != nil {
			if text := j.Record.String(); text != "" {
				fmt.Fprint(w, " ", text)
			}
		}
		fmt.Fprint(w, " on")
		for _, s := range j.Nodes {
			fmt.Fprintf(w, " %d:%b", s.Node, s.GPUs)
		}
		fmt.Fprintln(w)
	}
	for _, r := range o.Refused {
		fmt.Fprintf(w, "%s refused: %s\n", r.ID, r.Why)
	}
	for _, p := range o.Pools {
		fmt.Fprintf(w, "%s until %d\n", p.Name, p.Last)
	}
	return w.String()
}

// behind separates a script from its result.
const behind = "----\n"

// Golden simulates scripts under a policy. The text contains scripts separated by empty lines. In a script, the text
// after a line with ---- is ignored. Golden returns the text with the result of each script below a line with ----. If
// the given text is empty, Golden uses default scripts, which work with every policy.
func Golden(t *testing.T, policy cluster.Policy, text string) string {
	t.Helper()
	text = cmp.Or(text, starters)
	var parts []string
	for _, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		script, _, _ := strings.Cut(part+"\n", behind)
		parts = append(parts, script+behind+golden(t, policy, script))
	}
	return strings.Join(parts, "\n")
}

func golden(t *testing.T, policy cluster.Policy, script string) string {
	t.Helper()
	c, err := Parse(script)
	require.NoError(t, err, script)
	require.NoError(t, Hold(policy, c), script)
	o, err := c.Study.Run(context.Background(), policy, c.Options)
	require.NoError(t, err, script)
	return Table(o)
}

// starters are scripts for a new policy: a large job between small ones; equal jobs that arrive together; short jobs
// that arrive late.
const starters = `# a large job between small jobs, on two virtual clusters
each 4
vc a 3
vc b 2
vc c 3
alone m1 0
alone m2 1
pair m1 m2 0.8 0.9
job small vc a at 0 for 300 on 3 model m1 memory 1000 estimate 250
job large vc a at 1 for 400 on 8 model m2 memory 1000 estimate 900
job later vc a at 2 for 250 on 2 model m1 memory 1000 estimate 250
job last vc a at 3 for 100 on 2 model m2 memory 1000 estimate 80
job other vc b at 3 for 500 on 4 model m1 memory 1000 estimate 600
job beside vc b at 5 for 500 on 4 model m2 memory 1000 estimate 600
job too-large vc b at 5 for 500 on 9 model m2 memory 1000 estimate 600

# identical jobs that arrive together
each 2
vc a 2
vc b 2
vc c 2
alone m1 0
pair m1 m1 0.7 0.7
job e1 vc a at 0 for 300 on 1 model m1 memory 1000 estimate 300
job e2 vc a at 0 for 300 on 1 model m1 memory 1000 estimate 300
job e3 vc a at 0 for 300 on 1 model m1 memory 1000 estimate 300
job e4 vc a at 0 for 300 on 1 model m1 memory 1000 estimate 300
job e5 vc a at 0 for 300 on 1 model m1 memory 1000 estimate 300
job e6 vc a at 0 for 300 on 1 model m1 memory 1000 estimate 300

# short jobs that arrive late, and a job with much attained service
each 8
place consolidate-first
vc a 2
vc b 2
vc c 2
alone m1 0
pair m1 m1 0.7 0.7
job long vc a at 0 for 9000 on 16 model m1 memory 1000 estimate 8000
job short vc a at 2000 for 220 on 8 model m1 memory 1000 estimate 200
job shorter vc a at 2500 for 60 on 4 model m1 memory 1000 estimate 50
job shortest vc a at 2501 for 1 on 1 model m1 memory 1000 estimate 1
job nothing vc a at 2502 for 0 on 1 model m1 memory 1000 estimate 1
`
