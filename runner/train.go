package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"graft/fleet"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/report"
	"graft/report/document"
	"graft/report/runs"
	"graft/results"
	"graft/runner/control"
	"graft/runner/sweep"
	"graft/runner/train"
	"graft/trainer"
)

// trainFlags are the flags of `graft train`.
type trainFlags struct {
	train.Options
	json      bool // print one JSON object
	temporary bool // the run folder is deleted afterwards, so messages do not name it
}

// trainHelp is the help text of graft train.
const trainHelp = `train runs one job from the first step to the end of its time budget. The job's timeline of device
changes and its decider, such as a learned policy, determine when and how the network grows and
shrinks. Unset keys have defaults; 'graft config show' prints all keys. Without CONFIG, --set
changes the default job: ConvSmall on synthetic images.

Results are written into a run folder. An existing run folder is never overwritten: --resume
continues the run, --force moves the folder aside. On SIGTERM, SIGUSR1 or the first SIGINT, train
saves the job and exits with code 75; the same command with --resume continues, and on the virtual
clock the result is bit-identical to an uninterrupted job. A second SIGINT ends the job at once.
--resume accepts changes to parts of the configuration that the job has not reached: later events,
later script actions, a different budget, or a later stop. With the key run.fork, a new job starts from a
checkpoint that another run kept.

With --seeds, --sweep or --cases, the job runs several times, as trials, in workers on this
machine or on a cluster. One run folder contains the run folders of all trials.

--listen serves an API while the job runs: GET /status and GET /metrics return the job's state,
POST /allocation adds or removes devices. Every request needs a token, from --token-file or
GRAFT_TOKEN; if neither is set, graft generates a token. graft writes the server's address and a
generated token into the run folder.`

func newTrainCommand() *cobra.Command {
	var o trainFlags
	var trials sweep.Options
	command := &cobra.Command{
		Use:   "train [CONFIG]",
		Short: "Train a network within a time budget, and adapt it when its devices change",
		Long:  trainHelp,
		Example: `  graft train job.toml
  graft train --set time.budget=30s --set network.name=ConvNet3 --folder runs/first
  graft train job.toml --resume
  graft train job.toml --seeds 5 --sweep optimizer.lr=0.1,0.01
  graft train job.toml --listen 127.0.0.1:0`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if isSweep(command) {
				trials.Set, trials.Folder, trials.Resume, trials.Force = o.Set, o.Folder, o.Resume, o.Force
				return runSweep(command.Context(), command, first(args), trials, o.json)
			}
			if len(args) == 0 && len(o.Set) == 0 && !(o.Resume && o.Folder != "") {
				return failure.Usagef("train: no job file; name one, write one with " +
					"'graft config show --describe >job.toml', or change keys of the default job with --set KEY=VALUE")
			}
			return runTrain(command.Context(), command.OutOrStdout(), first(args), o)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.Set, "set", nil, "set a configuration key, such as time.budget=30s; repeatable")
	flags.StringVar(&o.Folder, "folder", "",
		"run folder (default: the value of run.folder or, without that key, runs/NAME for a file NAME.toml)")
	flags.BoolVar(&o.Resume, "resume", false, "resume the run in the run folder; start a new run if there is none")
	flags.BoolVar(&o.Force, "force", false, "move an existing run folder aside")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.StringVar(&o.Listen.Address, "listen", "",
		"HTTP address for /status, /metrics and /allocation, such as 127.0.0.1:0 (default: the value of run.listen)")
	flags.BoolVar(&o.Listen.Anywhere, "listen-anywhere", false,
		"allow a --listen address that other machines can reach; traffic is not encrypted")
	flags.StringVar(&o.Listen.TokenFile, "token-file", "",
		"file with the access token for --listen (default: the token in GRAFT_TOKEN, or a generated token)")
	boardFlag(command, &o.Tensorboard)
	trialFlags(command, &trials)
	sweepFlags(command, &trials, strings.Join(fleet.Engines(), " or "))
	command.MarkFlagsMutuallyExclusive("resume", "force")
	return command
}

// boardFlag adds the flag for TensorBoard.
func boardFlag(command *cobra.Command, on *bool) {
	command.Flags().BoolVar(on, "tensorboard", false,
		"write event files for TensorBoard into the run folder, as run.tensorboard = true does")
}

func runTrain(ctx context.Context, w io.Writer, path string, o trainFlags) error {
	ctx, stop := heedRequeue(ctx)
	defer stop()
	o.Listen.Token = os.Getenv(control.TokenVariable)
	r, err := train.Run(ctx, environment(ctx), path, o.Options)
	if r == nil && err == nil {
		return nil // it followed another task
	}
	if errors.Is(err, trainer.ErrStopped) && o.temporary {
		return failure.With(failure.Interrupted, errors.New("stopped; no results were kept"))
	}
	return show(w, o.json, r, err, func(w io.Writer, r *train.Result) error { return printTrained(w, r, o.temporary) })
}

// printTrained prints the result of a job.
func printTrained(w io.Writer, r *train.Result, temporary bool) error {
	p := &document.Printer{W: w}
	if r.Given != nil {
		p.Line("%s\n", report.GivenText(r.Given))
	}
	if events := eventTable(r); len(events.Rows) > 1 {
		p.Table(events)
		p.Line("LAST and NEXT ACCURACY come from the evaluations before and after an event; the network trains in " +
			"between.\n")
	}
	where, o := fmt.Sprintf("results in %s, ", r.Folder), r.Outcome
	if temporary {
		where = ""
	}
	if o.Skipped > 0 {
		p.Line("%s failed and were skipped; the log states the causes", words.Plural(o.Skipped, "action"))
	}
	if o.Late > 0 {
		p.Line("%s came too late for a training step and did not change the network; move the change earlier, or "+
			"raise time.budget", words.Plural(o.Late, "action"))
	}
	if b := o.Best; b != nil {
		p.Line("best epoch by validation: %d, with %s accuracy on the test images, %s on the validation images, %s",
			b.Epoch, document.AccuracyText(b.Test.Accuracy), document.AccuracyText(b.Validation.Accuracy),
			words.Plural(b.Parameters, "parameter"))
	}
	if o.Batch > 0 {
		noise := "efficiency and noise scale unknown: the mean gradient is too small compared with the noise"
		if o.NoiseScale > 0 {
			noise = fmt.Sprintf("efficiency %.2f, noise scale %.0f images", o.Efficiency, o.NoiseScale)
		}
		p.Line("final batch %s, after %s; %s", words.Plural(o.Batch, "image"),
			words.Plural(o.BatchChanges, "change"), noise)
	}
	of := "images"
	if o.Perplexity > 0 {
		of = "text"
		p.Line("perplexity %.4g on the test text, %.4g on the validation text", o.Perplexity, o.ValidationPerplexity)
	}
	scores := fmt.Sprintf("%s accuracy on the test %s, %s on the validation %s", document.AccuracyText(o.Test.Accuracy),
		of, document.AccuracyText(o.Validation.Accuracy), of)
	if o.Test == (trainer.Score{}) { // a program reports no test scores
		scores = fmt.Sprintf("%s accuracy and loss %.4f on the validation data",
			document.AccuracyText(o.Validation.Accuracy), o.Validation.Loss)
	}
	p.Line("%s\n%s, %s, %s, %s at the end\n"+
		"%s\n%s\n%sdigest %.12s", scores,
		words.Plural(o.Epochs, "epoch"), words.Plural(o.Steps, "step"), words.Plural(o.Decisions, "decision"),
		words.Plural(o.Parameters, "parameter"), budgetText(o), costText(o), where, o.Digest)
	return p.Err
}

// budgetText describes the budget of a job, and the parts of it that decisions and operations took.
func budgetText(o *runs.JobOutcome) string {
	var parts []string
	if o.Deciding > 0 {
		parts = append(parts, document.DurationText(o.Deciding)+" for decisions")
	}
	if o.Operating > 0 {
		parts = append(parts, document.DurationText(o.Operating)+" for operations")
	}
	text := fmt.Sprintf("budget %s, %s used", document.SecondsText(o.Budget), document.SecondsText(o.Used))
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

// costText describes the resources used by a job.
func costText(o *runs.JobOutcome) string {
	text := "cost " + memoryText(o.PeakMemory)
	if o.FLOP > 0 { // otherwise the job started before graft counted
		examples := map[bool]string{false: "images", true: "windows"}[o.Perplexity > 0]
		text = fmt.Sprintf("cost %s, %.1f device-seconds, %.0f %s a second, %s", document.FLOPText(o.FLOP),
			o.DeviceTime.Seconds(), o.ImagesPerSecond, examples, memoryText(o.PeakMemory))
	}
	if o.Joules > 0 {
		text += fmt.Sprintf(", %.4g J", o.Joules)
	}
	if m := o.Measured; m != nil && m.Joules != nil {
		text += fmt.Sprintf(", %.4g J measured (%s)", *m.Joules, m.Method)
	}
	return text
}

func memoryText(peak int64) string { return fmt.Sprintf("%d MiB of memory", peak>>20) }

// eventTable shows the events of a job between its start and its end.
func eventTable(r *train.Result) *document.Table {
	events := (&document.Table{}).Numbers(document.UnitSeconds, "%.1f s", "time").Texts("event", "what").Numbers("", "",
		"parameters").Numbers(document.UnitShare, "%.1f%%", "last accuracy", "next accuracy").Numbers("", "", "took")
	for _, n := range r.Events {
		traits := n.Event.Traits()
		if traits.Notice == results.Silent {
			continue
		}
		what := cmp.Or(n.Action, n.Why)
		if traits.Of == results.OfDevices && traits.Look != results.Plain {
			what = words.Plural(n.Devices, "device")
		} else if n.Processes > 0 {
			what = fmt.Sprintf("%d of %d devices", n.Processes, n.Devices)
		}
		events.Add(n.Time.Seconds(), n.Event, what, n.Parameters, accuracyBefore(r, n), accuracyAfter(r, n),
			document.DurationText(n.Took))
	}
	return events
}

// accuracyBefore returns the accuracy at the last evaluation; nil if there was none.
func accuracyBefore(r *train.Result, n trainer.Note) *float64 {
	for _, row := range r.Epochs {
		if row.Time <= n.Time {
			return &n.Accuracy
		}
	}
	return nil
}

// accuracyAfter returns the accuracy at the next evaluation.
func accuracyAfter(r *train.Result, n trainer.Note) *float64 {
	for _, row := range r.Epochs {
		if row.Time > n.Time {
			return &row.Validation.Accuracy
		}
	}
	return nil
}
