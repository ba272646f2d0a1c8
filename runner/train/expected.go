package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"graft/config"
	"graft/internal/words"
	"graft/model"
	"graft/report/document"
	"graft/runner/app"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// Expected describes the work that a job is expected to do, and the time that the work takes on this machine. The text
// has one line for each period between two changes of the job's devices, and a line with the total. Expected returns an
// error if a training step fails.
func Expected(ctx context.Context, env *app.Env, c *config.Job, e config.Expected) (string, error) {
	events := c.Options().Timeline.Events
	var lines []string
	for k, s := range e.Spans {
		if len(e.Spans) == 1 {
			break // the total says the same
		}
		end := cmp.Or(c.Time.Stop, c.Time.Budget)
		until := end
		if k+1 < len(e.Spans) {
			until = min(end, e.Spans[k+1].From)
		}
		if k > 0 && s.Steps == 0 && s.From >= until {
			continue
		}
		lines = append(lines, spanText(s, until, k, events))
	}
	most := ""
	if c.Time.StopLoss > 0 {
		most = "at most "
	}
	total := fmt.Sprintf("expected: %s%s, %s", most, words.Plural(e.Epochs(), "epoch"), words.Plural(e.Steps(), "step"))
	if n := e.Spans[0].Decisions; len(e.Spans) == 1 && n > 0 {
		total += ", " + words.Plural(n, "decision")
	}
	if e.Open {
		total += " if the network does not change"
	}
	took, known, err := here(ctx, env, c, e)
	if known {
		total += fmt.Sprintf("; about %s of computing on this machine", document.RoughDurationText(took))
	}
	return "  " + strings.Join(append(lines, total), "\n  ") + "\n", err
}

// spanText describes the work of a span. Event is the number of the event that begins it, from 1; zero is the start.
func spanText(s trainer.Span, until time.Duration, event int, events []trainer.Event) string {
	what := "start"
	if event > 0 {
		what = string(events[event-1].Change)
	}
	text := fmt.Sprintf("%s to %s: %s, %s: %s, %s", document.RoughDurationText(s.From),
		document.RoughDurationText(until), what, words.Plural(s.Devices, "device"), words.Plural(s.Epochs, "epoch"),
		words.Plural(s.Steps, "step"))
	if s.Decisions > 0 {
		text += ", " + words.Plural(s.Decisions, "decision")
	}
	if n := len(s.Work); n > 0 {
		text += ", " + words.Plural(s.Work[n-1].Network.Parameters(), "parameter")
	}
	return text
}

// Limits on the networks that are measured to predict the time of a job.
const (
	mostMeasured   = 3               // networks
	mostOperations = 100_000_000_000 // multiplications of a batch, which take some seconds
)

// here returns the time of the expected work on this machine, from some measured steps; false means unknown, as for
// work on a GPU. It returns an error if a step fails.
func here(ctx context.Context, env *app.Env, c *config.Job, e config.Expected) (time.Duration, bool, error) {
	o := c.Options()
	o.EnsureDefaults()
	networks := measurable(e, max(o.Batch, o.EvalBatch))
	if c.Program.On() || len(networks) == 0 || c.Run.Device != "cpu" || torch.Load() != nil {
		return 0, false, nil
	}
	// One thread unless the job sets a number: short steps on several threads take many times longer if other programs
	// use the processors.
	if torch.SetThreads(max(1, c.Run.Threads)) != nil {
		return 0, false, nil
	}
	times, err := trainer.MeasureQuickly(ctx, networks, trainer.MeasureOptions{
		Batches: slices.Compact([]int{o.Batch, o.EvalBatch}), Burst: 5 * time.Millisecond, Exact: o.Exact,
		Steady: o.Steady, Optimizer: o.Optimizer, Now: env.Now})
	if errors.Is(err, trainer.ErrDiverged) {
		return 0, false, nil // images that are not random may train
	}
	if err != nil {
		return 0, false, fmt.Errorf("a training step fails on random examples: %w; change the network or the options "+
			"of the step", err)
	}
	return timeOf(e, networks, times), true, nil
}

// measurable returns the first and the last networks of a job; nil if their batches would take too long.
func measurable(e config.Expected, rows int) (all []*model.Network) {
	for _, s := range e.Spans {
		for _, w := range s.Work {
			if !slices.Contains(all, w.Network) {
				all = append(all, w.Network)
			}
		}
	}
	for len(all) > mostMeasured {
		all = slices.Delete(all, 1, 2)
	}
	for _, n := range all {
		size, err := clock.SizeOf(n)
		if err != nil || size.Operations > int64(mostOperations/max(1, rows)) {
			return nil
		}
	}
	return all
}

// timeOf sums the time of expected work. Work on a network that was not measured takes the time of the last measured
// one before it.
func timeOf(e config.Expected, measured []*model.Network, times []trainer.QuickTimes) (sum time.Duration) {
	var now trainer.QuickTimes
	for _, s := range e.Spans {
		for _, w := range s.Work {
			if k := slices.Index(measured, w.Network); k >= 0 {
				now = times[k]
			}
			sum += time.Duration(w.Steps)*now.Step + time.Duration(w.Batches)*now.Batch
		}
	}
	return sum
}
