package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/dataset"
	"graft/internal/validate"
	"graft/internal/words"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// Warnings lists probable mistakes in a valid file, one sentence each.
func (j *Job) Warnings() []string {
	drawn := j.MayMakeAnyNetwork() && mayWiden(j.Adapt.Kinds)
	scripted := j.Adapt.rehearsed() && widens(j.Adapt.Actions)
	return slices.Concat(j.missingData(), j.unusedKeys(), j.shortBudget(), j.fewEpochs(),
		j.freeWidth(drawn || scripted), j.lateDecisions(), j.missedEvents(), j.unasked(), j.noTrials(),
		j.blindBatch(), j.uncertainGrowth(j.Adapt.Decider != DecideNone), j.computedProfile(),
		j.otherConditions(), j.idleDevices(), j.unfinishedSchedule(),
		j.untrainedClasses(), j.slowAverage(), j.excessiveOptions())
}

// Warnings lists probable mistakes in a valid file, one sentence each.
func (m *Simulation) Warnings() []string {
	o := m.Simulate
	return slices.Concat(m.missingData(), m.unusedKeys(),
		m.freeWidth(widens(o.Actions) || len(o.Actions) == 0 && mayWiden(o.Kinds)), m.lateGrown(),
		m.uncertainGrowth(true), m.computedProfile(), m.otherConditions())
}

// unusedKeys warns of keys that the job's rules do not use.
func (j *Job) unusedKeys() (list []string) {
	if j.Program.On() {
		return nil
	}
	o := j.Options()
	for _, u := range slices.Concat(j.Data.Unused(), o.Unused(), j.unusedHere(o)) {
		list = append(list, u.String())
	}
	for _, s := range []struct {
		name, rule string
		keys       []string
	}{
		{"optimizer", o.Optimizer.Rule.String(), o.Optimizer.Unused()},
		{"schedule", string(o.Schedule.Rule), o.Schedule.Unused()},
	} {
		for _, key := range s.keys {
			why, remedy := fmt.Sprintf("%s.rule is %q", s.name, s.rule), "change the rule"
			if key == "dampening" && o.Optimizer.Rule == torch.SGD {
				why, remedy = "optimizer.momentum is 0", "set optimizer.momentum"
			}
			list = append(list, validate.Unused{Key: s.name + "." + key, Why: why, Remedy: remedy}.String())
		}
	}
	return list
}

// unusedHere lists the keys of the trainer that the job's data or device does not use.
func (j *Job) unusedHere(o trainer.Options) (unused []validate.Unused) {
	if j.Data.Kind == dataset.KindText || j.Data.LabelEach == dataset.EachWord {
		if !o.Distill.Off {
			o.Distill.Off = true
			unused = o.Distill.Unused("networks with labels for each token shrink without distillation",
				"use other data")
		}
	}
	for _, u := range []struct {
		key, why, remedy string
		set              bool
	}{
		{"train.cuda_graphs", "run.device is \"cpu\"", "set run.device to a CUDA device",
			o.CUDAGraphs && j.Run.Device == "cpu"},
		{"parallel.max_processes", notParallel, parallelRemedy, !o.Parallel.On && o.Parallel.MaxProcesses > 0},
		{"parallel.threads", notParallel, parallelRemedy, !o.Parallel.On && o.Parallel.Threads > 0},
	} {
		if u.set {
			unused = append(unused, validate.Unused{Key: u.key, Why: u.why, Remedy: u.remedy})
		}
	}
	return unused
}

// Reason and remedy of unused keys of processes.
const (
	notParallel    = "parallel.on is false"
	parallelRemedy = "set parallel.on to true"
)

// untrainedClasses warns of a number of images below the number of classes.
func (j *Job) untrainedClasses() []string {
	classes := dataset.Declared(nil, j.Data).Classes
	if most := j.Data.Limit; most > 0 && most < classes && !j.Program.On() {
		return []string{fmt.Sprintf("data.max_images is %d, but the data has %d classes, so some classes are not "+
			"trained; raise data.max_images", most, classes)}
	}
	return nil
}

// excessiveOptions warns of holes that can cover whole images, and of two warm-ups, which multiply. Jobs of earlier
// versions with these options can resume.
func (j *Job) excessiveOptions() (list []string) {
	shape := dataset.Declared(nil, j.Data).Shape
	if hole := j.Train.Augment.Cutout; len(shape) == 3 && hole > min(shape[1], shape[2]) {
		list = append(list, fmt.Sprintf("augment.cutout is %d, but images have %d x %d pixels, so the hole can cover "+
			"whole images; lower augment.cutout", hole, shape[1], shape[2]))
	}
	if s := j.Options().Schedule; s.WarmUp > 0 && s.WarmUpShare > 0 {
		list = append(list, fmt.Sprintf("schedule.warm_up is %d steps and schedule.warm_up_share is set too, so the "+
			"learning rate rises twice; remove one of them", s.WarmUp))
	}
	return list
}

// mostFirst is the maximum share of the first weights in an average at the end of a job.
const mostFirst = 0.1

// slowAverage warns of an average that is evaluated although it still consists of the first weights.
func (j *Job) slowAverage() []string {
	e, known := j.Expected()
	if ema := j.Train.EMA; known && ema > 0 && e.Steps() > 0 {
		if first := math.Pow(ema, float64(e.Steps()-1)); first > mostFirst {
			return []string{fmt.Sprintf("train.ema is %g and the job is expected to take %d steps, so %.0f%% of the "+
				"evaluated average are the weights after the first step; lower train.ema", ema, e.Steps(), 100*first)}
		}
	}
	return nil
}

// highRate is the fraction of optimizer.lr above which the last learning rate of a decaying schedule is high.
const highRate = 0.2

// unfinishedSchedule warns of a number of epochs that ends the job while the learning rate is still high, because the
// schedule follows the budget, and of a warm-up that is longer than the job.
func (j *Job) unfinishedSchedule() (list []string) {
	o := j.Options()
	e, known := j.Expected()
	if !known || j.Program.On() || e.Steps() == 0 || o.AdaptiveBatch.On {
		return nil
	}
	if lr := o.Optimizer.LR; lr > 0 && o.Schedule.MinLR >= lr && o.Schedule.Rule != trainer.Constant {
		list = append(list, fmt.Sprintf("schedule.min_lr is %g, which is not below optimizer.lr = %g, so the learning "+
			"rate never falls; lower schedule.min_lr", o.Schedule.MinLR, lr))
	}
	if o.Schedule.WarmUp > 0 && int64(o.Schedule.WarmUp) >= e.Steps() {
		list = append(list, fmt.Sprintf("schedule.warm_up is %d steps, but the job is expected to take %d, so the "+
			"learning rate never reaches optimizer.lr; lower schedule.warm_up", o.Schedule.WarmUp, e.Steps()))
	}
	if o.Epochs == 0 || len(o.Timeline.Events) > 0 {
		return list
	}
	whole := *j
	whole.Train.Epochs = 0
	all, known := whole.Expected()
	if !known || all.Steps() <= e.Steps() {
		return list
	}
	share := float64(e.Steps()) / float64(all.Steps())
	o.Schedule.EnsureDefaults()
	o.Schedule.WarmUp, o.Schedule.WarmUpShare = 0, 0
	left := o.Schedule.Rate(1, trainer.Moment{Share: share, Used: share})
	if left <= highRate || !slices.Contains([]trainer.Rule{trainer.Cosine, trainer.Linear, trainer.WSD},
		o.Schedule.Rule) {
		return list
	}
	return append(list, fmt.Sprintf("train.epochs = %d ends the job after %.0f%% of its time, but schedule.rule = "+
		"%q follows time.budget, so the last learning rate is %.0f%% of optimizer.lr; shorten time.budget, or set "+
		"schedule.rule to constant, step or exponential", o.Epochs, 100*share, string(o.Schedule.Rule), 100*left))
}

// unasked warns of decisions that never happen.
func (j *Job) unasked() (list []string) {
	if j.Adapt.Kind().Name != trainer.WhenDevices {
		return j.unusedActions()
	}
	// Requests and followers can grant devices.
	controlled := j.Run.Listen != "" || j.Train.Parallel.Listen != "" || j.Train.Parallel.Elastic
	if _, why := j.Undecided(); why != "" && j.Adapt.Decider != DecideNone && !controlled {
		return append(list, "adapt.decider: "+why)
	}
	if n := j.Adapt.MaxDecisions; n > 1 && !j.Adapt.Every && j.Adapt.Decider != DecideNone {
		list = append(list, fmt.Sprintf("adapt.max_decisions is %d, but adapt.each_epoch is false, so the "+
			"decider chooses one action per up event; set adapt.each_epoch to true, or add an up event to "+
			"time.events for each action", n))
	}
	ups := len(slices.DeleteFunc(slices.Clone(j.Options().Timeline.Events),
		func(e trainer.Event) bool { return e.Change != trainer.Up }))
	if n := len(j.Adapt.Actions); j.Adapt.kind().Actions == ActionsInOrder && !j.Adapt.Every && n > ups && ups > 0 {
		list = append(list, fmt.Sprintf("adapt.actions has %d actions, but time.events has %s "+
			"with one decision each, so the last actions are not used; add up events, or remove actions", n,
			words.Plural(ups, "up event")))
	}
	return list
}

// idleDevices warns of devices that no process uses. A virtual clock still divides the cost of work among them.
func (j *Job) idleDevices() []string {
	o := j.Options()
	if j.Time.Clock != WallClock {
		return nil
	}
	for _, e := range append([]trainer.Event{{Devices: o.Timeline.First()}}, o.Timeline.Events...) {
		switch most := o.Parallel.MaxProcesses; {
		case e.Devices > 1 && !o.Parallel.On:
			return []string{fmt.Sprintf("time: the job has %[2]d devices at %[1]v, "+
				"but on the wall clock one process trains on one device, and only that device is charged; "+
				"set parallel.on = true, or time.clock = \"virtual\"", e.At, e.Devices)}
		case o.Parallel.On && most > 0 && e.Devices > most:
			return []string{fmt.Sprintf("time: the job has %[2]d devices at %[1]v, "+
				"but parallel.max_processes is %[3]d, so the other devices are neither used nor charged; "+
				"raise parallel.max_processes", e.At, e.Devices, most)}
		}
	}
	return nil
}

// missingData warns of data that is not on this machine, which may exist on the machine that runs the job, and of data
// that is not used.
func (j *Job) missingData() []string {
	if j.ignored != "" {
		return []string{fmt.Sprintf("the images in the folder %s of data.path are not used, because a share of train "+
			"is held out for validation; set data.validation_folder to %[1]q to use them", j.ignored)}
	}
	if j.noData == nil {
		return nil
	}
	return []string{"the job cannot start on this machine: " + j.MissingData().Error()}
}

// MissingData returns an error if the dataset's files are not on this machine.
func (j *Job) MissingData() error {
	if j.noData == nil {
		return nil
	}
	return fmt.Errorf("data.path: %w", j.noData)
}

// freeWidth warns of a profile that charges no extra time for wider layers.
func (j *Job) freeWidth(widens bool) []string {
	p, err := j.Profile()
	if err != nil || p == nil || !widens || !p.WidthIsFree() {
		return nil
	}
	return []string{fmt.Sprintf("the profile %s charges nothing for wider layers, so widening costs no time; "+
		"set time.profile = \"round-gpu\", or measure a profile with 'graft profile'", p.Name)}
}

// blindBatch warns of a profile with which the best batch depends on nothing, or does not depend on the devices.
func (j *Job) blindBatch() []string {
	p, err := j.Profile()
	o := j.Options()
	if err != nil || p == nil || !o.AdaptiveBatch.On {
		return nil
	}
	if p.BatchIsFree() {
		return []string{fmt.Sprintf("adaptive_batch.on: the profile %s charges nothing for larger batches, "+
			"so the batch grows as far as noise allows; set time.profile = \"round-gpu\", "+
			"or measure a profile with 'graft profile'", p.Name)}
	}
	if o.Timeline.MostDevices() > 1 && !p.Divides() {
		return []string{fmt.Sprintf("adaptive_batch.on: the profile %s charges nothing for exchanging gradients, so "+
			"the best batch does not depend on the number of devices; measure a profile with 'graft profile "+
			"--processes', or set costs.exchange_seconds in a profile file", p.Name)}
	}
	return nil
}

// Limits of a profile's error for networks that were left out of its fit. Beyond them the charges for grown networks
// are too inaccurate to compare networks of different sizes.
const (
	mostMedianMiss = 0.10
	mostWorstMiss  = 0.25
)

// uncertainGrowth warns of a measured profile whose error for the network, or for its grown versions, is unknown or
// beyond the bounds.
func (j *Job) uncertainGrowth(grows bool) []string {
	p, err := j.Profile()
	if err != nil || p == nil || len(p.Measured) == 0 && !p.HasOperators() || p.Closed() || p.Computed.On() {
		return nil
	}
	n, err := j.Declared(nil)
	if err != nil {
		return nil
	}
	if p.HasOperators() {
		return j.uncertainOperators(p, n, grows)
	}
	const remedy = "measure these networks with 'graft profile' and the job file"
	g, misses := p.GrowthOf(n), fmt.Sprintf("by %.0f%% in the median and %.0f%% at worst", 100*p.Fit.NewStep.Median,
		100*p.Fit.NewStep.Worst)
	if p.Fit.NewStep.Network == "" {
		misses = "by an unknown amount"
	}
	switch {
	case !g.Measured && g.Relatives == 0:
		return []string{fmt.Sprintf("the profile %s has no measurement of %s or another network of its class, "+
			"and its rates mispredict such networks %s; %s", p.Name, n.Name(), misses, remedy)}
	case !grows:
		return nil
	case g.Measured && g.Relatives == 0:
		return []string{fmt.Sprintf("the profile %s has measurements of %s, but not of its grown versions, "+
			"so the costs of growth may be too low or too high; %s", p.Name, n.Name(), remedy)}
	}
	median := max(g.Step.Median, g.Batch.Median)
	if median <= mostMedianMiss && g.Worst() <= mostWorstMiss {
		return nil
	}
	return []string{fmt.Sprintf(
		"the profile %s mispredicts grown versions of %s, by %.0f%% in the median and %.0f%% at "+
			"worst (error of each of %d measured networks, left out of the fit in turn); do not compare networks of "+
			"different sizes with this profile, or measure it again on an idle machine with 'graft profile', the job "+
			"file and more rounds",
		p.Name, n.Name(), 100*median, 100*g.Worst(), g.Relatives+1)}
}

// computedProfile warns of a profile that was computed from constants of hardware, with its error.
func (j *Job) computedProfile() []string {
	p, err := j.Profile()
	if err != nil || p == nil || !p.Computed.On() {
		return nil
	}
	checked := "no computed step was compared with a measured one"
	if p.Computed.Checked != "" {
		checked = p.Computed.Checked
	}
	return []string{fmt.Sprintf("the profile %s was computed from the constants of the hardware, not measured (%s); "+
		"use it to plan, and measure the device with 'graft profile' before you compare results", p.Name, checked)}
}

// otherConditions warns of a profile whose steps were measured with another optimizer, number format or path than the
// job's, or computed for a smaller number format.
func (j *Job) otherConditions() []string {
	p, err := j.Profile()
	if err != nil || p == nil || j.Program.On() {
		return nil
	}
	o := j.Options()
	precision := o.Precision.String()
	if p.Computed.On() {
		if o.Precision == torch.Single || p.Computed.Precision == precision {
			return nil
		}
		remedy := fmt.Sprintf("set time.profile = \"%s:%s\"", p.Name, precision)
		if _, err := clock.FindProfile(p.Name + ":" + precision); err != nil {
			remedy = "choose another profile, or another precision"
		}
		return []string{fmt.Sprintf("the profile %s was computed for %s, but train.precision is %q; %s", p.Name,
			p.Computed.Precision, precision, remedy)}
	}
	made := p.Made
	if made.Optimizer == "" || made.Device == clock.InsideProgram {
		return nil
	}
	var differ []string
	note := func(what, was, now string) {
		if was != now {
			differ = append(differ, fmt.Sprintf("%s %s (the job: %s)", what, was, now))
		}
	}
	note("number format", made.NumberFormat(), precision)
	note("optimizer", made.Optimizer, o.Optimizer.Rule.String())
	note("train.exact", strconv.FormatBool(made.Exact), strconv.FormatBool(o.Exact))
	if len(differ) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the profile %s was measured under other conditions, so the job's steps may take a "+
		"different time: %s; measure a profile with 'graft profile' and the job file", p.Name,
		strings.Join(differ, ", "))}
}

// mostOutside limits the share of a step's time in operators whose work is outside of the measured range.
const mostOutside = 0.25

// uncertainOperators warns of a profile whose measured operators are far from the operators of the network, or of its
// grown versions.
func (j *Job) uncertainOperators(p *clock.Profile, n *model.Network, grows bool) []string {
	all := []clock.Subject{{Name: n.Name(), Network: n}}
	if grows {
		if adapted, err := clock.Adapted(all[0], 1); err == nil {
			all = append(all, adapted...)
		}
	}
	remedy := "import a trace of a network and a batch of similar size with 'graft profile import'"
	if len(p.GraftOperators.Operators) > 0 {
		remedy = "measure this network with 'graft profile'"
	}
	for _, s := range all {
		made, err := p.Predict(s.Network, j.Options().Batch)
		if err != nil {
			return []string{fmt.Sprintf("%v; measure this network with 'graft profile'", err)}
		}
		if outside := made.Outside(); outside > mostOutside {
			return []string{fmt.Sprintf("the profile %s predicts the steps of %s, but %.0f%% of their time is in "+
				"operators with work outside of the measured range, so the error is unknown; %s", p.Name, s,
				100*outside, remedy)}
		}
	}
	return nil
}

// freeBatches warns if compared jobs have batches of different sizes and the profile charges no extra time for larger
// batches.
func freeBatches(jobs ...*Job) []string {
	for _, j := range jobs {
		p, err := j.Profile()
		if err != nil || p == nil || !p.BatchIsFree() {
			continue
		}
		for _, other := range jobs {
			if a, b := j.Options().Batch, other.Options().Batch; a > b {
				return []string{fmt.Sprintf("the profile %s charges nothing for larger batches, "+
					"so an epoch with a batch of %d takes less time than one with %d; "+
					"set time.profile = \"round-gpu\", or measure a profile with 'graft profile'", p.Name, a, b)}
			}
		}
	}
	return nil
}

// Warnings lists the warnings about each scenario. It adds a warning if the scenarios have different batch sizes and
// the device profile charges no extra time for larger batches. Each warning is listed once.
func (p *Pipeline) Warnings() (warnings []string) {
	var jobs []*Job
	for _, m := range p.Scenarios() {
		warnings, jobs = append(warnings, m.Warnings()...), append(jobs, &m.Job)
	}
	return once(append(warnings, freeBatches(jobs...)...))
}

// SweepWarnings lists the warnings about each compared case. It adds a warning if the cases have different batch sizes
// and the device profile charges no extra time for larger batches. Each warning is listed once.
func SweepWarnings(jobs []*Job) (warnings []string) {
	for _, j := range jobs {
		warnings = append(warnings, j.Warnings()...)
	}
	return once(append(warnings, freeBatches(jobs...)...))
}

// once drops repeated texts.
func once(list []string) (kept []string) {
	for _, text := range list {
		if !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return kept
}

// widen is the kind of actions that widen a layer.
const widen net2net.Kind = "widen"

func widens(actions []net2net.Action) bool {
	return slices.ContainsFunc(actions, func(a net2net.Action) bool { return a.Kind == widen })
}

// mayWiden reports whether kinds of actions include widen. The default includes it.
func mayWiden(kinds []net2net.Kind) bool {
	return len(kinds) == 0 || slices.Contains(kinds, widen)
}
