package trainer

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"graft/internal/validate"
)

// Rule names a learning rate schedule.
type Rule string

// Rules that change the learning rate. The zero Rule means Cosine.
const (
	// Cosine lowers the rate to MinLR at the end of the budget, on half a cosine wave (Loshchilov and Hutter 2017).
	Cosine      Rule = "cosine"
	Linear      Rule = "linear"      // Linear lowers the rate linearly to MinLR at the end of the budget.
	Exponential Rule = "exponential" // Exponential multiplies the rate by Decay after each epoch.
	StepDown    Rule = "step"        // StepDown multiplies the rate by Decay once per Every epochs.
	Constant    Rule = "constant"
	// WSD keeps the rate and lowers it to MinLR over the last DecayShare of the budget: warm-up, stable, decay (Hu et
	// al. 2024, MiniCPM, arXiv 2404.06395). The factor of the decay is 1-√x, where x is the elapsed fraction of the
	// decay; Hägele et al. 2024 (arXiv 2405.18392) prefer this form to a linear decay, and decay over 20% of training.
	// The position of the decay depends only on the budget, so a restart repeats only WarmUpShare.
	WSD Rule = "wsd"
)

// Restart selects the changes after which the schedule restarts.
type Restart string

// Changes that restart the schedule. The zero Restart means RestartOnDevices.
const (
	// RestartOnDevices restarts it after each change of devices, even if the network does not change.
	RestartOnDevices Restart = "devices"
	NoRestart        Restart = "never"
	RestartOnSurgery Restart = "surgery" // RestartOnSurgery restarts it after each change of the network.
)

// Schedule configures how the learning rate changes.
type Schedule struct {
	// Rule that changes the learning rate: "cosine" and "linear" lower it step by step to schedule.min_lr at the end of
	// the budget; "exponential" multiplies it by schedule.decay after each epoch; "step" multiplies it by
	// schedule.decay at a fixed interval of epochs; "constant" keeps it; "wsd" keeps it and lowers it to
	// schedule.min_lr over the last schedule.decay_share of the budget. Empty means "cosine".
	Rule Rule
	// Factor that multiplies the learning rate: after each epoch if the rule is "exponential", after every
	// schedule.every epochs if the rule is "step". Zero means 0.9 for "exponential" and 0.1 for "step".
	Decay float64
	// Duration of the decay of the rule "wsd" at the end of the budget, as a fraction of the budget between 0 and 1.
	// The factor of the learning rate is 1 minus the square root of the elapsed fraction of the decay. Zero means 0.2
	// for "wsd"; other rules do not use the key.
	DecayShare float64 `json:",omitempty"`
	// Interval at which rule = "step" changes the learning rate, in epochs. Zero means 10.
	Every int
	MinLR float64 `json:"Least" config:",was=least"` // Lower bound of the learning rate. Zero means 1e-8.
	// Number of warm-up steps, during which the learning rate rises from zero. It multiplies with
	// schedule.warm_up_share, so set only one of them. Zero means no warm-up.
	WarmUp int
	// Length of the warm-up as a fraction of the time from the schedule's start to the end of the budget, between 0 and
	// 1. The learning rate rises from zero during the warm-up. Zero means no warm-up.
	WarmUpShare float64
	// Changes that restart the schedule at the initial learning rate: "devices" (each change of devices), "surgery"
	// (each change of the network), or "never". After a restart, the rules "cosine" and "linear" decay over the
	// remaining time; the rule "wsd" only repeats schedule.warm_up_share, because its decay starts at a fixed time of
	// the budget. With "surgery", jobs that grow and jobs that do not grow have different learning rates, which affects
	// comparisons between such jobs. Empty means "devices".
	Restart Restart
}

// EnsureDefaults fills unset options.
func (s *Schedule) EnsureDefaults() {
	s.Rule, s.Restart = cmp.Or(s.Rule, Cosine), cmp.Or(s.Restart, RestartOnDevices)
	s.Decay = cmp.Or(s.Decay, map[Rule]float64{StepDown: 0.1}[s.Rule], 0.9)
	s.Every, s.MinLR = cmp.Or(s.Every, 10), cmp.Or(s.MinLR, 1e-8)
	if s.Rule == WSD {
		s.DecayShare = cmp.Or(s.DecayShare, 0.2)
	}
}

// Validate returns an error that lists every invalid option.
func (s Schedule) Validate() error {
	var faults validate.Faults
	faults.Unless(slices.Contains([]Rule{"", Cosine, Linear, Exponential, StepDown, Constant, WSD}, s.Rule),
		"rule is %q; expected one of: cosine, linear, exponential, step, constant, wsd", string(s.Rule))
	faults.Unless(slices.Contains([]Restart{"", NoRestart, RestartOnDevices, RestartOnSurgery}, s.Restart),
		"restart is %q; expected one of: never, devices, surgery", string(s.Restart))
	faults.When(s.Decay < 0 || s.Decay > 1, "decay is %v; must be between 0 and 1", s.Decay)
	faults.Unless(s.DecayShare >= 0 && s.DecayShare <= 1, "decay_share is %v; must be between 0 and 1", s.DecayShare)
	faults.When(s.DecayShare > 0 && s.Rule != WSD,
		"decay_share is used only by the rule \"wsd\", but the rule is %q; remove it, or change the rule",
		string(cmp.Or(s.Rule, Cosine)))
	faults.When(s.Every < 0, "every: got %d; must be at least 0", s.Every)
	faults.When(s.MinLR < 0, "min_lr is %v; must be at least 0", s.MinLR)
	faults.When(s.WarmUp < 0, "warm_up is %d; must be at least 0", s.WarmUp)
	faults.Unless(s.WarmUpShare >= 0 && s.WarmUpShare < 1, "warm_up_share is %v; must be at least 0 and less than 1",
		s.WarmUpShare)
	return errors.Join(faults...)
}

// Unused lists the keys of the schedule that differ from their defaults, but that the rule does not use.
func (s Schedule) Unused() (keys []string) {
	defaults := Schedule{Rule: s.Rule}
	s.EnsureDefaults()
	defaults.EnsureDefaults()
	if s.Decay != defaults.Decay && s.Rule != Exponential && s.Rule != StepDown {
		keys = append(keys, "decay")
	}
	if s.Every != defaults.Every && s.Rule != StepDown {
		keys = append(keys, "every")
	}
	if s.MinLR != defaults.MinLR && s.Rule == Constant {
		keys = append(keys, "min_lr")
	}
	return keys
}

// Moment is the position of a step in the schedule.
type Moment struct {
	Epochs int   // number of whole epochs since the schedule began
	Steps  int64 // number of the job's steps
	// elapsed fraction of the time from the schedule's start to the end of the budget, at the end of the step
	Share float64
	Used  float64 // elapsed fraction of the whole budget, at the end of the step
}

// Rate returns the learning rate of a step, given the initial rate.
func (s Schedule) Rate(rate float64, at Moment) float64 {
	first, share := rate, min(1, at.Share)
	switch s.Rule {
	case Exponential:
		rate *= math.Pow(s.Decay, float64(at.Epochs))
	case StepDown:
		rate *= math.Pow(s.Decay, float64(at.Epochs/s.Every))
	case Cosine:
		rate *= (1 + math.Cos(math.Pi*share)) / 2
	case Linear:
		rate *= 1 - share
	case WSD:
		if left := max(0, 1-at.Used); left < s.DecayShare {
			rate *= 1 - math.Sqrt(1-left/s.DecayShare)
		}
	}
	rate = max(rate, min(first, s.MinLR))
	if s.WarmUp > 0 && at.Steps < int64(s.WarmUp) {
		rate *= float64(at.Steps+1) / float64(s.WarmUp)
	}
	if share < s.WarmUpShare {
		rate *= share / s.WarmUpShare
	}
	return rate
}

// rates returns the learning rates of the next n steps.
func (j *Job) rates(n int) []float64 {
	first := j.rateFactor() * j.Optimizer.LR / math.Pow(j.Adapt.Divide, float64(j.adaptation.Divided))
	now, one, all := j.Clock.Now(), j.Clock.Cost(j.work(1)), j.Scheduler.Budget()-j.Restarted
	rates, progress, gain := make([]float64, n), j.Batching.Progress, j.gain()
	for k := range rates {
		end := now + time.Duration(k+1)*one
		at := j.moment(j.Steps+int64(k), progress)
		progress += gain // one by one, as they are counted
		at.Share = float64(end-j.Restarted) / float64(all)
		at.Used = float64(end) / float64(j.Scheduler.Budget())
		rates[k] = j.Schedule.Rate(first, at)
	}
	return rates
}

// restart restarts the schedule after a change, if the options say so.
func (c *core) restart(after Restart) {
	if c.Schedule.Restart == after {
		c.Rate, c.Restarted, c.Batching.Since = 0, c.Clock.Now(), c.Batching.Progress
	}
}
