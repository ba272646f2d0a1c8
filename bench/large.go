package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"text/tabwriter"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
	"graft/internal/files"
)

// Sizes of the traces of growing length: all have about the same number of jobs per day on the same cluster.
const (
	largeNodes = 500
	largeLoad  = 0.85
	largeDaily = 1_000_000 / 365 // jobs per day
)

var (
	largeJobs       = []int{1_000, 10_000, 100_000, 1_000_000}
	largeSchedulers = []string{"fifo", "sjf", "srtf", "tiresias"} // the last two preempt jobs
)

// steadySeconds is the minimum processor time of the simulations that give one cost of an event.
const steadySeconds = 0.2

// studyLarge prints the processor time and the peak memory of 'graft cluster run' for traces of growing length, and
// the cost of an event of the simulation alone.
func studyLarge(out io.Writer, program string, rounds int) error {
	folder, err := os.MkdirTemp("", "graft-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	fmt.Fprintf(out, "\ngraft cluster run, on %d nodes of 8 GPUs: processor time and peak memory of the process, and "+
		"cost of an event of the simulation alone\n", largeNodes)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scheduler\tjobs\tCPU s\tquartiles\tpeak MB\tevents\tµs/event\tquartiles")
	for _, jobs := range largeJobs {
		o := trace.GenerateOptions{Load: largeLoad, Seed: 1, Nodes: largeNodes, Jobs: jobs,
			Days: max(1, jobs/largeDaily)}
		if err := largeLines(w, program, folder, o, rounds); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func largeLines(w io.Writer, program, folder string, o trace.GenerateOptions, rounds int) error {
	s, err := studyOf(o)
	if err != nil {
		return err
	}
	if err := writeLarge(folder, s); err != nil {
		return err
	}
	for _, name := range largeSchedulers {
		policy, err := schedulers.Named(name)
		if err != nil {
			return err
		}
		var seconds, peaks, each []float64
		events := 0.0
		for range rounds {
			cost, err := steadyCost(policy, s)
			if err != nil {
				return err
			}
			took, peak, err := runLarge(program, folder, name)
			if err != nil {
				return err
			}
			events = cost.events
			seconds, peaks, each = append(seconds, took), append(peaks, peak), append(each, 1e6*cost.each())
		}
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%s\t%.0f\t%.0f\t%.2f\t%s\n", name, o.Jobs, median(seconds),
			quartiles(seconds, "%.2f"), median(peaks), events, median(each), quartiles(each, "%.2f"))
	}
	return nil
}

// steadyCost simulates, on one thread, until the processor time is long enough to be exact. It returns the mean,
// including the time of the garbage collector.
func steadyCost(policy cluster.Policy, s *cluster.Study) (clusterCost, error) {
	runtime.GC()
	began := processorTime()
	for n := 1.0; ; n++ {
		o, err := s.Run(context.Background(), policy, cluster.Options{Workers: 1})
		if err != nil {
			return clusterCost{}, err
		}
		if seconds := processorTime() - began; seconds >= steadySeconds {
			return clusterCost{seconds: seconds / n, events: float64(o.Events)}, nil
		}
	}
}

// Names of the files of a measurement.
const (
	largeTrace = "trace.csv"
	largeVCs   = "nodes.csv"
)

func writeLarge(folder string, s *cluster.Study) error {
	err := trace.WriteFile(files.OS{}, filepath.Join(folder, largeTrace), trace.WriterOptions{}, true,
		func(w *trace.Writer) error {
			for k := range s.Jobs {
				if err := w.Write(&s.Jobs[k]); err != nil {
					return err
				}
			}
			return nil
		})
	vcs := filepath.Join(folder, largeVCs)
	if err := os.Remove(vcs); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return errors.Join(err, trace.WriteNodes(files.OS{}, vcs, s.VCs))
}

// runLarge simulates the trace in a process. It returns its processor time in seconds, and its peak memory in MB.
func runLarge(program, folder, scheduler string) (seconds, peak float64, err error) {
	c := exec.Command(program, "cluster", "run", "--trace", filepath.Join(folder, largeTrace), "--vc-file",
		filepath.Join(folder, largeVCs), "--scheduler", scheduler, "--out", filepath.Join(folder, "run"), "--force",
		"--quiet")
	if text, err := c.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("run %s: %w: %s; build graft with 'make build', or set -graft to its path", program,
			err, text)
	}
	u, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, 0, errors.New("the peak memory of a process is unknown on this system")
	}
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), float64(u.Maxrss) / 1024, nil
}
