package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/cluster/study"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/registry"
	"graft/internal/words"
	"graft/report"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/fabric"
	simulations "graft/runner/study"
)

func newFabricCommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "fabric",
		Short:   "Simulate training jobs on clusters, operation by operation",
		Example: "  graft fabric run --compat ramp --episode episode.json --graphs profiles --out played",
	}
	command.AddCommand(newFabricGraphCommand(), newFabricStepCommand(), newFabricRunCommand())
	return command
}

func newFabricRunCommand() *cobra.Command {
	var o fabricOptions
	command := &cobra.Command{
		Use:   "run [CONFIG]",
		Short: "Simulate a cluster whose scheduler splits, places or blocks arriving jobs",
		Long: `run simulates the episodes of CONFIG, a configuration file with a section [fabric]. A scheduler
chooses the degree of each arriving job: the number of parts into which its training step is
split. A job is blocked if no servers are free for it or if it would exceed its time limit. All
schedulers are compared on the same jobs. Schedulers:

` + fabricHelp() + `
'graft config schema --markdown' lists the keys of CONFIG. The same inputs give byte-identical
results, with any number of workers.

--compat ramp simulates a recorded episode of the RAMP and PAC-ML simulator instead of the
episodes of CONFIG, and reproduces the bugs of that simulator. Jobs arrive as recorded in the
--episode file, and their degrees are replayed from the actions in this file. If the file contains
no actions, the agent that the file names chooses the degrees. Results in the file are ignored.
--out writes jobs.csv, with a row for each job: status (completed, blocked, running or queued),
start and end in seconds.

--study repeats the published experiments under four distributions of time limits. It prints the
blocking rate of each agent, and of schedulers that give all jobs the same degree, next to the
published rates of PAC-ML. --learn ppo or --learn ape-x also learns policies with the published
method, network and settings, and writes each policy and its rewards into the folder of --out.`,
		Example: `  graft fabric run cluster.toml
  graft fabric run cluster.toml --set vary.loads=[0.5,1,2] --set "schedule.schedulers=['thrifty','best-constant']"
  graft fabric run --compat ramp --episode episode.json --graphs profiles --out played
  graft fabric run --compat ramp --episode episode.json --graphs profiles --json
  graft fabric run --compat ramp --study --graphs profiles
  graft fabric run --compat ramp --study --graphs profiles --learn ppo --limits A --out policies`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return o.run(command.Context(), command.OutOrStdout(), first(args))
		},
	}
	o.add(command)
	flags := command.Flags()
	flags.StringVar(&o.compat, "compat", "", "published simulator to reproduce: ramp")
	flags.StringVar(&o.play.Episode, "episode", "", "JSON file of the episode to simulate; requires --compat")
	flags.BoolVar(&o.study, "study", false,
		"repeat the published experiments, and simulate schedulers that give all jobs the same degree; "+
			"requires --compat")
	flags.StringVar(&o.experiment.Learn.Method, "learn", "",
		"learning algorithm for --study: ppo or ape-x; if empty, no policies are learned")
	flags.IntVar(&o.experiment.Learn.Seeds, "seeds", 0,
		"number of policies per distribution of time limits, for --learn; 0 means 10")
	flags.IntVar(&o.experiment.Learn.Updates, "updates", 0,
		"number of updates per policy, for --learn; one update follows every 4,800 actions; 0 means 15")
	flags.StringSliceVar(&o.experiment.Limits, "limits", nil,
		"distributions of time limits for --study, such as A,C; empty means A,B,C,D")
	flags.IntVar(&o.experiment.Episodes, "episodes", 0,
		"number of episodes that each row of the printed table averages, for --study; 0 means 3")
	flags.StringVar(&o.play.Graphs, "graphs", "",
		"folder with the graphs of the jobs (PipeDream profiles); requires --compat")
	return command
}

// fabricOptions are the flags of episodes.
type fabricOptions struct {
	app.FolderOptions                          // creation of the run folder
	set               []string                 // assignments after the file
	compat            string                   // simulator to reproduce; empty means graft's
	play              fabric.PlayOptions       // the recorded episode, with compat
	study             bool                     // the published experiments, with compat
	experiment        fabric.ExperimentOptions // options for the study
	out               string                   // run folder
	json              bool                     // print one object
}

func (o *fabricOptions) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "set a configuration key, such as demand.load=0.5; repeatable")
	flags.StringVar(&o.out, "out", "",
		"run folder (default: the value of run.folder or, without that key, runs/NAME for a file NAME.toml; "+
			"with --compat: none)")
	flags.BoolVar(&o.Resume, "resume", false, "resume the run in the run folder; start a new run if there is none")
	flags.BoolVar(&o.Force, "force", false, "move an existing run folder aside")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	command.MarkFlagsMutuallyExclusive("resume", "force")
}

func (o *fabricOptions) run(ctx context.Context, w io.Writer, path string) error {
	env := environment(ctx)
	e := &o.experiment
	if !o.study && (e.Learn.Method != "" || len(e.Limits) > 0 || e.Episodes != 0) {
		return failure.With(failure.Usage,
			errors.New("--learn, --limits and --episodes require --study; add --study, or omit them"))
	}
	if e.Learn.Method == "" && (e.Learn.Seeds != 0 || e.Learn.Updates != 0) {
		return failure.With(failure.Usage, errors.New(
			"--seeds and --updates require --learn; add --learn, or omit them"))
	}
	if o.compat != "" || o.study || o.play.Episode != "" || o.play.Graphs != "" {
		if o.compat != "ramp" {
			return failure.With(failure.Usage, fmt.Errorf("--compat is %q; expected ramp", o.compat))
		}
		if path != "" || len(o.set) > 0 {
			return failure.With(failure.Usage,
				errors.New("--compat replays a recorded episode; omit the file and --set"))
		}
		if o.study {
			if o.play.Episode != "" {
				return failure.With(failure.Usage,
					errors.New("--study generates all episodes; omit --episode"))
			}
			e.Graphs, e.Out, e.Learn.Resume = o.play.Graphs, o.out, o.Resume
			r, err := fabric.Experiment(ctx, env, *e)
			return show(w, o.json, r, err, printExperiments)
		}
		o.play.Out = o.out
		r, err := fabric.Play(ctx, env, o.play)
		return show(w, o.json, r, err, printEpisode)
	}
	set := o.set
	if o.out != "" {
		set = append(set, "run.folder="+config.Quote(o.out))
	}
	world := worlds.Named("fabric")
	f, err := config.ReadNamed[study.File](world.Name, config.Open(env.Files, path), set)
	if err != nil {
		return runs.AsConfigFault(err)
	}
	o.Config = f.Origins().Text()
	outcome, err := simulations.Run(ctx, env, world, f, path, o.FolderOptions)
	return show(w, o.json, outcome, err, func(w io.Writer, r *study.Outcome) error { return report.PrintStudy(r, w) })
}

// fabricHelp lists the schedulers for a help text.
func fabricHelp() string {
	w := worlds.Named("fabric")
	return listed(registry.List[study.Entry](w.Schedulers())) + "\n" +
		w.Notes + "\n"
}

func printEpisode(w io.Writer, r *fabric.PlayReport) error {
	p := &document.Printer{W: w}
	p.Line("%s arrived: %d completed, %d blocked, %d running and %d queued at the end",
		words.Plural(r.Arrived, "job"), r.Completed, r.Blocked, r.Running, r.Queued)
	if r.Folder != "" {
		p.Line("\nresults in %s", r.Folder)
	}
	return p.Err
}

func printExperiments(w io.Writer, r *fabric.Experiments) error {
	d := &document.Document{}
	d.Say(fmt.Sprintf("the published experiments: 1,001 jobs on 32 servers, %s for each row",
		words.Plural(r.Seeds, "episode")))
	t := document.NewTable("limits", "agent").Numbers("", "%.4f", "blocked", "printed").
		Numbers("", "%.2f", "MB/s", "printed MB/s").Texts("degrees")
	for _, row := range r.Rows {
		blocked, printed := document.Value(row.Blocked, ""), document.Missing()
		if row.Interval != nil {
			blocked.Low, blocked.High = &row.Interval.Low, &row.Interval.High
		}
		if row.PrintedThroughput != nil {
			printed = document.Value(*row.PrintedThroughput/1e6, "")
		}
		t.Add(row.Limits, row.Agent, blocked.As("%.4f"), row.Printed, row.Throughput/1e6, printed,
			sharesOf(row.Degrees))
	}
	d.Show(t)
	for _, b := range r.Best {
		d.Say(fmt.Sprintf("Limits %s: %s blocks %.4f of the jobs, the published learned policy %.4f: %s.", b.Limits,
			b.Agent, b.Blocked, b.Learned, b.Verdict))
		if h := b.Here; h != nil {
			d.Say(fmt.Sprintf(
				"The blocked share of policies learned here (%s, %d actions each) differs from it by %+.4f [%+.4f, "+
					"%+.4f].",
				words.Plural(r.Policies, "seed"), r.Actions, h.Mean, h.Low, h.High))
		}
	}
	d.Say("BLOCKED is the share of jobs not completed, with a 95% interval over episodes; " +
		"PRINTED is the value that PAC-ML's authors print. MB/s is requested and received bandwidth. DEGREES " +
		"shows the degrees of completed jobs. A best constant degree is the best of the degrees that the cluster " +
		"offers.")
	if r.Folder != "" {
		d.Say("results in " + r.Folder)
	}
	return d.Print(w)
}

// sharesOf lists degrees with their shares, except shares below half a percent.
func sharesOf(list []fabric.DegreeShare) string {
	var texts []string
	for _, d := range list {
		if d.Share >= 0.005 {
			texts = append(texts, fmt.Sprintf("%d: %.0f%%", d.Degree, 100*d.Share))
		}
	}
	return strings.Join(texts, ", ")
}
