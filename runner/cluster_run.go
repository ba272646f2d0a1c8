package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/cluster"
	"graft/config"
	"graft/files"
	"graft/results"
	"graft/results/document"
	"graft/results/failure"
	"graft/results/report"
	"graft/results/runs"
	"graft/work"
)

// clusterRunOptions are the flags of `graft cluster run`.
type clusterRunOptions struct {
	clusterFlags        // what is simulated
	out          string // folder
	force        bool   // write over
	json         bool   // print one object
}

func newClusterRunCommand() *cobra.Command {
	var o clusterRunOptions
	command := &cobra.Command{
		Use:   "run [CONFIG]",
		Short: "Replay a trace under schedulers, and say what came of the jobs",
		Long: `run replays the jobs of a trace on the nodes of a cluster under each scheduler, and
prints how long jobs took from submission to end, how long they waited, and how the
devices were used. Simulations go from event to event and are exact: the same inputs
give the same bytes, whatever is simulated side by side. Schedulers:

` + schedulerHelp() + `
CONFIG is a TOML file with the section cluster, where the flags have keys with the same
meaning and there are more: 'graft config schema --markdown'. The results are a run
folder: SCHEDULER/jobs.csv has a row for each job, and 'graft report' and 'graft plot'
read the rest. Jobs that cannot run are left out and counted, and the exit code is 3.

--compat lucid keeps the faults of Lucid's simulator, and its month of jobs, and has its
results job by job. Without it they are corrected, and the report says what each is worth.`,
		Example: `  graft cluster run --trace jobs.csv --nodes vc_config.csv --scheduler fifo,sjf
  graft cluster run --trace log.swf --nodes 64 --scheduler backfill
  graft cluster run --data venus --trace september.csv --scheduler all --out runs/venus
  graft cluster run --data venus --trace september.csv --scheduler lucid --compat lucid --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.file = args[0]
			}
			return runCluster(command.Context(), command.OutOrStdout(), o)
		},
	}
	o.add(command)
	command.Flags().StringVar(&o.out, "out", "", "the run folder; empty is output.folder, or runs/ and the trace's name")
	command.Flags().BoolVar(&o.force, "force", false, "write over the run in the folder")
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func runCluster(ctx context.Context, w io.Writer, o clusterRunOptions) error {
	var more []string
	if o.out != "" {
		more = append(more, "output.folder="+config.Quote(o.out))
	}
	c, err := o.read(more...)
	if err != nil {
		return err
	}
	study, err := readClusterStudy(c)
	if err != nil {
		return err
	}
	if err := study.ready(); err != nil {
		return err
	}
	folder := folderOf(c.Output.Folder, "", c.Cluster.Trace)
	run, err := createClusterRun(c, o, folder)
	if err != nil {
		return err
	}
	r, err := (&replay{clusterStudy: study, log: loggerFrom(ctx), run: run, completions: map[runs.ClusterCellKey][]int64{}}).all(ctx)
	if err == nil {
		err = run.WriteOutcome(r)
	}
	if err = errors.Join(err, run.Close()); err != nil {
		return err
	}
	r.Folder = folder
	if o.json {
		err = document.PrintJSON(w, r)
	} else {
		err = report.PrintCluster(r, w)
	}
	return errors.Join(err, refusalsError(r))
}

// createClusterRun makes the run folder before anything is simulated.
func createClusterRun(c *config.Cluster, o clusterRunOptions, folder string) (*results.Run, error) {
	given := ""
	if o.file != "" {
		text, err := files.ReadAll(files.OS{}, o.file, 1<<20)
		if err != nil {
			return nil, err
		}
		given = string(text)
	}
	host, _ := os.Hostname() // without a name the manifest has none
	run, err := results.Create(files.OS{}, folder, results.CreateOptions{Force: o.force || isUnfinished(folder, c.Digest()), Config: given, Resolved: c.Resolved()}, results.Manifest{
		Created: time.Now().UTC(), Graft: thisVersion(), ConfigSHA256: c.Digest(), Host: host, CommandLine: os.Args})
	if err != nil {
		return nil, err
	}
	_, err = run.Stream(runs.ClusterStream, clusterColumns) // by which the folder is known
	return run, err
}

// isUnfinished says whether a run of the same configuration was begun in a folder and did not
// come to its end: it takes seconds, and is simply done again.
func isUnfinished(folder, digest string) bool {
	m, err := results.ReadManifest(files.OS{}, folder)
	if err != nil || m.ConfigSHA256 != digest {
		return false
	}
	_, err = os.Stat(filepath.Join(folder, runs.OutcomeFile))
	return runs.NotThere(err)
}

// replay is simulations of a trace at work.
type replay struct {
	*clusterStudy
	log *zap.Logger
	run *results.Run

	mu          sync.Mutex
	completions map[runs.ClusterCellKey][]int64
}

// all runs the simulations, several side by side, and makes the report.
func (r *replay) all(ctx context.Context) (*runs.ClusterOutcome, error) {
	report := r.report()
	for _, load := range r.Schedule.Loads {
		for _, name := range r.Schedule.Schedulers {
			report.Cells = append(report.Cells, &runs.ClusterCell{Scheduler: name, Load: load})
		}
	}
	if err := r.each(len(report.Cells), func(k int) error { return r.cell(ctx, report.Cells[k]) }); err != nil {
		return nil, err
	}
	r.compare(report)
	return report, r.tables(report)
}

// manyJobs is from how many jobs on simulations run one after the other, each with all
// processors, so that only one of them is in memory at a time beside what is compared.
const manyJobs = 200_000

// each runs tasks side by side, in their order.
func (r *replay) each(tasks int, do func(k int) error) error {
	if len(r.study.Jobs) >= manyJobs {
		for k := range tasks {
			if err := do(k); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, tasks)
	runs.Parallel(tasks, func(k int) { errs[k] = do(k) })
	return errors.Join(errs...)
}

// cell runs a simulation and writes what came of its jobs.
func (r *replay) cell(ctx context.Context, cell *runs.ClusterCell) error {
	key := runs.ClusterCellKey{Scheduler: cell.Scheduler, Load: cell.Load}
	policy := r.policy(cell.Scheduler)
	study, err := r.with(policy, cell.Load)
	if err != nil {
		return err
	}
	o := cluster.Options{Placement: r.Cluster.Cluster.Placement, Quirks: r.quirks(policy), Workers: r.Schedule.Workers, Series: r.Output.Every > 0}
	out, err := study.Run(ctx, policy, o)
	if err != nil {
		return err
	}
	if err := out.Write(files.OS{}, r.run.Path(key.Folder()), r.Output.Every); err != nil {
		return err
	}
	completions := out.Completions()
	takeOutcome(cell, out, cluster.MeanCompletion(study.Jobs, completions))
	if err := r.worth(ctx, cell, study, policy, o, completions); err != nil {
		return err
	}
	r.log.Info("simulated", zap.String("scheduler", key.Folder()), zap.Int("jobs", len(out.Jobs)), zap.Int64("events", out.Events), zap.Float64("completion_s", work.Rounded(runs.Value(cell.All.Completion.Mean))))
	r.mu.Lock()
	r.completions[key] = completions
	r.mu.Unlock()
	return nil
}

// worth simulates once more for each fault that is corrected, with that one fault, to say
// what the correction is worth.
func (r *replay) worth(ctx context.Context, cell *runs.ClusterCell, study *cluster.Study, policy cluster.Policy, o cluster.Options, completions []int64) error {
	if r.Cluster.Cluster.Compat != config.CompatNone || len(study.Jobs) >= manyJobs {
		return nil
	}
	o.Series = false
	for _, q := range policy.Quirks {
		o.Quirks = cluster.Quirks{q.Name}
		with, err := study.Run(ctx, policy, o)
		if err != nil {
			return err
		}
		cell.Fixes = append(cell.Fixes, runs.ClusterFix{What: q.Fixed, Worth: clusterIntervalOf(cluster.Compare(study.Jobs, completions, with.Completions()))})
	}
	return nil
}

// refusalsError is an error where jobs were left out.
func refusalsError(r *runs.ClusterOutcome) error {
	var texts []string
	total := 0
	for _, w := range r.Refused {
		texts, total = append(texts, fmt.Sprintf("%d %s, job %s for one", w.Jobs, w.Why, w.Example)), total+w.Jobs
	}
	if total == 0 {
		return nil
	}
	return failure.With(failure.Partial, fmt.Errorf("%s left out: %s; correct the trace or the nodes", document.Plural(total, "job"), strings.Join(texts, "; ")))
}
