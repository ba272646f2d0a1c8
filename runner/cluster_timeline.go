package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"graft/cluster"
	"graft/files"
	"graft/results/document"
	"graft/results/failure"
)

// clusterTimelineOptions are the flags of `graft cluster timeline`.
type clusterTimelineOptions struct {
	clusterFlags         // what is simulated
	job          string  // id
	out          string  // file; empty is stdout
	budget       float64 // seconds that the job's time is brought to; zero leaves it
	force        bool    // write over
}

func newClusterTimelineCommand() *cobra.Command {
	var o clusterTimelineOptions
	command := &cobra.Command{
		Use:   "timeline [CONFIG]",
		Short: "Write the changes of a job's devices as a timeline for graft train",
		Long: `timeline simulates a cluster under one scheduler, as 'graft cluster run' does, follows
one job, and writes when its devices changed: the table that time.timeline names in a job's
file. Seconds count while the job has devices, from its start on; what it waits for in
between is cut out. A job that gets devices that another uses as well goes down by half.

Only schedulers that change a job's devices give a timeline with events: fair does.
Budget and first number of devices are printed on stderr, for the job's file.`,
		Example: `  graft cluster timeline --trace jobs.csv --nodes vc_config.csv --scheduler fair --job 17 --out job17.csv
  graft cluster timeline --data venus --trace september.csv --scheduler fair --job 765472 --budget 600`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.file = args[0]
			}
			return runClusterTimeline(command.Context(), command.OutOrStdout(), command.ErrOrStderr(), o)
		},
	}
	o.add(command)
	command.Flags().StringVar(&o.job, "job", "", "id of the job, as the trace has it")
	command.Flags().StringVar(&o.out, "out", "", "the file that is written; empty prints it")
	command.Flags().Float64Var(&o.budget, "budget", 0, "bring the job's time to so many seconds; 0 leaves it as it is")
	command.Flags().BoolVar(&o.force, "force", false, "write over the file")
	_ = command.MarkFlagRequired("job")
	return command
}

func runClusterTimeline(ctx context.Context, w, about io.Writer, o clusterTimelineOptions) error {
	c, err := o.read()
	if err != nil {
		return err
	}
	if len(c.Schedule.Schedulers) != 1 || len(c.Schedule.Loads) != 1 {
		return failure.Usagef("a timeline is of one scheduler and load; name one with --scheduler")
	}
	s, err := readClusterStudy(c)
	if err != nil {
		return err
	}
	policy := s.policy(c.Schedule.Schedulers[0])
	study, err := s.with(policy, c.Schedule.Loads[0])
	if err != nil {
		return err
	}
	out, err := study.Run(ctx, policy, cluster.Options{Placement: c.Cluster.Placement, Quirks: s.quirks(policy), Workers: c.Schedule.Workers, Follow: o.job})
	if err != nil {
		return err
	}
	t, err := timelineOf(out, o.job)
	if err != nil {
		return err
	}
	t.scale(o.budget)
	return errors.Join(t.write(w, o), t.tell(about))
}

// jobTimeline is the changes of a job's devices while it has some.
type jobTimeline struct {
	budget  float64 // seconds that it had devices for
	first   int     // devices at its start
	waits   int     // how often it lost them all and waited
	changes []jobChange
}

type jobChange struct {
	at      float64 // seconds
	devices int     // from then on
	up      bool
}

// timelineOf makes a timeline of what happened to a job.
func timelineOf(o *cluster.Outcome, id string) (*jobTimeline, error) {
	if len(o.Changes) == 0 {
		for _, r := range o.Refused {
			if r.ID == id {
				return nil, fmt.Errorf("job %s cannot run: %s; name another", id, r.Why)
			}
		}
		return nil, fmt.Errorf("there is no job %s among those that were scheduled; 'graft trace info' tells of the trace, and --from and --to of what is simulated", id)
	}
	t := &jobTimeline{}
	began, devices, running := int64(0), 0, false
	for _, c := range o.Changes {
		if running {
			t.budget += float64(c.At - began)
		}
		began, running = c.At, c.What != "preempt" && c.What != "end"
		if c.What == "preempt" {
			t.waits++
		}
		if running {
			t.note(&devices, devicesAt(c))
		}
	}
	return t, nil
}

// devicesAt is how many devices a job works with: half of what it shares.
func devicesAt(c cluster.Change) int {
	if c.Shared {
		return max(1, c.GPUs/2)
	}
	return c.GPUs
}

func (t *jobTimeline) note(devices *int, now int) {
	switch {
	case *devices == 0:
		t.first = now
	case now != *devices:
		t.changes = append(t.changes, jobChange{t.budget, now, now > *devices})
	}
	*devices = now
}

// scale brings the time to a budget.
func (t *jobTimeline) scale(budget float64) {
	if budget <= 0 || t.budget == 0 {
		return
	}
	by := budget / t.budget
	for k := range t.changes {
		t.changes[k].at *= by
	}
	t.budget = budget
}

func (t *jobTimeline) write(w io.Writer, o clusterTimelineOptions) error {
	var b strings.Builder
	b.WriteString("seconds,change,devices\n")
	for _, c := range t.changes {
		change := "down"
		if c.up {
			change = "up"
		}
		fmt.Fprintf(&b, "%s,%s,%d\n", strconv.FormatFloat(c.at, 'f', -1, 64), change, c.devices)
	}
	if o.out == "" {
		_, err := io.WriteString(w, b.String())
		return err
	}
	if _, err := (files.OS{}).Stat(o.out); err == nil && !o.force {
		return failure.Usagef("%s is there; name another file, or write over it with --force", o.out)
	}
	return files.WriteAtomic(files.OS{}, o.out, func(w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func (t *jobTimeline) tell(w io.Writer) error {
	_, err := fmt.Fprintf(w, "budget %g s, %s at first, %s; it waited for devices again %s\n", t.budget, document.Plural(t.first, "device"), document.Plural(len(t.changes), "change"), document.Plural(t.waits, "time"))
	return err
}
