package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/trainer/clock"
	"graft/trainer/operators"
)

// A job gets a warning only if its profile makes wider layers free and it may widen.
func TestFreeWidthIsWarnedOf(t *testing.T) {
	const script, widen = "adapt.decider=script", `adapt.actions=["deepen:conv1", "widen:conv2:48"]`
	const ups = `time.events=[{at="1s", change="up"}, {at="2s", change="up"}]`
	for name, tc := range map[string]struct {
		set   []string
		warns bool
	}{
		"no decider":            {nil, false},
		"a script that widens":  {[]string{script, widen}, true},
		"a script that deepens": {[]string{script, `adapt.actions=["deepen:conv1"]`}, false},
		"random actions":        {[]string{"adapt.decider=random"}, true},
		"random deepening":      {[]string{"adapt.decider=random", `adapt.kinds=["deepen"]`}, false},
		"a profile that counts": {[]string{script, widen, "time.profile=round-gpu"}, false},
		"the wall clock":        {[]string{script, widen, "time.clock=wall"}, false},
	} {
		warnings := must(parseJob("a.toml", "", append(tc.set, ups)...)).Warnings()
		assert.Equal(t, tc.warns, len(warnings) == 1, "%s: %v", name, warnings)
	}
	assert.Contains(t, must(parseJob("a.toml", "", script, widen, ups)).Warnings()[0], "profile steady")
	assert.Contains(t, must(parseJob("a.toml", "", script, widen, "time.profile=round-gpu")).Warnings()[0],
		"adapt.decider: the timeline has no up event, so there are no decisions; add an up event")
	assert.Empty(t, must(parseJob("a.toml", "", script, widen, "time.profile=round-gpu",
		"run.listen=127.0.0.1:0")).Warnings(), "requests can grant devices")
	assert.Empty(t, must(readScenario(t, aScenario)).Warnings())
	assert.Len(t, must(readScenario(t, aScenario, `simulate.actions=["widen:conv1:48", "none"]`)).Warnings(), 1)
	assert.Empty(t, must(readScenario(t, aScenario, `simulate.actions=["widen:conv1:48", "none"]`,
		"time.profile=round-gpu")).Warnings())
}

// A sweep gets a warning if its jobs differ in their batch and larger batches are free.
func TestFreeBatchesAreWarnedOf(t *testing.T) {
	job := func(set ...string) *Job { return must(parseJob("a.toml", "", set...)) }
	small, large := job("train.batch=32"), job("train.batch=256")
	assert.Equal(t, []string{"the profile steady charges nothing for larger batches, " +
		"so an epoch with a batch of 256 takes less time than one with 32; set time.profile = \"round-gpu\", " +
		"or measure a profile with 'graft profile'"}, SweepWarnings([]*Job{small, large, large}))
	assert.Empty(t, SweepWarnings([]*Job{small, small}))
	assert.Empty(t, SweepWarnings([]*Job{job("train.batch=32", "time.profile=round-gpu"),
		job("train.batch=256", "time.profile=round-gpu")}))
	assert.Empty(t, SweepWarnings([]*Job{job("train.batch=32", "time.clock=wall"),
		job("train.batch=256", "time.clock=wall")}))
	wide := job("adapt.decider=script", `adapt.actions=["widen:conv2:48"]`, `time.events=[{at="1s", change="up"}]`)
	assert.Len(t, SweepWarnings([]*Job{wide, wide}), 1, "each once")
}

// A job gets a warning if its adaptive batch cannot follow the time of larger batches or the number of devices.
func TestBlindBatchesAreWarnedOf(t *testing.T) {
	const up = `time.events=[{at="1s", change="up", devices=2}]`
	for name, tc := range map[string]struct {
		set  []string
		says string
	}{
		"a fixed batch":           {[]string{up}, ""},
		"larger batches are free": {[]string{"adaptive_batch.on=true"}, "charges nothing for larger batches"},
		"devices divide a step": {[]string{"adaptive_batch.on=true", "time.profile=round-gpu", up},
			"does not depend on the number of devices"},
		"one device": {[]string{"adaptive_batch.on=true", "time.profile=round-gpu"}, ""},
		"the wall clock fits times": {[]string{"adaptive_batch.on=true", "time.clock=wall", "parallel.on=true",
			up}, ""},
	} {
		warnings := must(parseJob("a.toml", "", tc.set...)).Warnings()
		if tc.says == "" {
			assert.Empty(t, warnings, name)
			continue
		}
		assert.Len(t, warnings, 1, name)
		assert.Contains(t, warnings[0], tc.says, name)
	}
}

// A job gets a warning about each key that its optimizer or its schedule does not use.
func TestUnusedKeysAreWarnedOf(t *testing.T) {
	const because = ` has no effect, because optimizer.rule is "adam"; remove optimizer.`
	for name, tc := range map[string]struct {
		set  []string
		says []string
	}{
		"defaults": {[]string{"optimizer.beta1=0.9", "optimizer.eps=1e-8", "schedule.every=10"}, nil},
		"momentum of Adam": {[]string{"optimizer.momentum=0.9", "optimizer.dampening=0.1"},
			[]string{"optimizer.momentum" + because + "momentum, or change the rule",
				"optimizer.dampening" + because + "dampening, or change the rule"}},
		"Nesterov's momentum of Adam": {[]string{"optimizer.momentum=0.9", "optimizer.nesterov=true"},
			[]string{"optimizer.momentum has no effect", "optimizer.nesterov has no effect"}},
		"moments of SGD": {[]string{"optimizer.rule=sgd", "optimizer.beta1=0.8", "optimizer.beta2=0.9",
			"optimizer.eps=1e-4"}, []string{"optimizer.beta1 has", "optimizer.beta2 has", "optimizer.eps has"}},
		"momentum of SGD": {[]string{"optimizer.rule=sgd", "optimizer.momentum=0.9", "optimizer.dampening=0.1"}, nil},
		"dampening of no momentum": {[]string{"optimizer.rule=sgd", "optimizer.dampening=0.1"},
			[]string{"optimizer.dampening has no effect, because optimizer.momentum is 0; " +
				"remove optimizer.dampening, or set optimizer.momentum"}},
		"decay of a cosine": {[]string{"schedule.decay=0.5", "schedule.every=3"},
			[]string{`schedule.decay has no effect, because schedule.rule is "cosine"`, "schedule.every has no"}},
		"decay of nothing": {[]string{"schedule.rule=constant", "schedule.min_lr=0.1"},
			[]string{`schedule.min_lr has no effect, because schedule.rule is "constant"`}},
		"size of other data": {[]string{"data.size=64", "data.path=/"},
			[]string{`data.size has no effect, because data.kind is "synthetic"; remove data.size, or set it to ` +
				`"folder" or "shards"`, `data.path has no effect, because data.kind is "synthetic"`}},
		"validation by the test": {[]string{"data.test_as_validation=true", "data.validation_share=0.3"},
			[]string{"data.validation_share has no effect, because data.test_as_validation uses the test images"}},
		"micro-batch":       {[]string{"train.batch=32", "train.micro_batch=31"}, nil},
		"large micro-batch": {[]string{"train.batch=32", "train.micro_batch=32"}, []string{"train.micro_batch has no"}},
		"distillation": {[]string{"distill.off=true", "distill.share=0.5", "distill.span=0.5"},
			[]string{"distill.share has no effect, because distill.off is true", "distill.span has no effect"}},
		"processes": {[]string{"parallel.threads=2", "parallel.max_processes=3"},
			[]string{"parallel.max_processes has no effect, because parallel.on is false; remove",
				"parallel.threads has no effect"}},
		"few images": {[]string{"data.max_images=5"},
			[]string{"data.max_images is 5, but the data has 10 classes, so some classes are not trained"}},
		"a slow average": {[]string{"train.ema=0.9999999"}, []string{"of the evaluated average are the weights after " +
			"the first step; lower train.ema"}},
		"checkpoints": {[]string{"checkpoint.off=true", "checkpoint.every=5s"},
			[]string{"checkpoint.every has no effect, because checkpoint.off is true"}},
		"recorded steps": {[]string{"train.cuda_graphs=true"},
			[]string{`train.cuda_graphs has no effect, because run.device is "cpu"`}},
		"a high minimum": {[]string{"schedule.min_lr=0.01"},
			[]string{"schedule.min_lr is 0.01, which is not below optimizer.lr = 0.01, so the learning rate never"}},
		"a long warm-up": {[]string{"schedule.warm_up=10000000"},
			[]string{"so the learning rate never reaches optimizer.lr; lower schedule.warm_up"}},
		"few of many epochs": {[]string{"train.epochs=1"},
			[]string{"train.epochs = 1 ends the job after"}},
		"epochs at one rate":     {[]string{"train.epochs=1", "schedule.rule=constant"}, nil},
		"decay in steps":         {[]string{"schedule.rule=step", "schedule.decay=0.5", "schedule.every=3"}, nil},
		"decay after each epoch": {[]string{"schedule.rule=exponential", "schedule.decay=0.5"}, nil},
	} {
		warnings := must(parseJob("a.toml", "", tc.set...)).Warnings()
		require.Len(t, warnings, len(tc.says), "%s: %v", name, warnings)
		for k, text := range tc.says {
			assert.Contains(t, warnings[k], text, name)
		}
	}
	assert.Empty(t, must(ReadJob(files.OS{}, writeResolved(t), nil)).Warnings(), "a file with every key")
	assert.Len(t, must(readScenario(t, aScenario, "optimizer.momentum=0.9")).Warnings(), 1)
}

// writeResolved writes a job file that has every key.
func writeResolved(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "job.toml")
	require.NoError(t, os.WriteFile(path, []byte(must(parseJob("a.toml", "")).Resolved()), 0o600))
	return path
}

// A job gets a warning if its timeline gives devices that no process uses.
func TestIdleDevicesAreWarnedOf(t *testing.T) {
	const wall, up = "time.clock=wall", `time.events=[{at="1s", change="up", devices=4}]`
	for name, tc := range map[string]struct {
		set  []string
		says string
	}{
		"a virtual clock":    {[]string{up}, ""},
		"one device":         {[]string{wall, `time.events=[{at="1s", change="up"}]`}, ""},
		"a process for each": {[]string{wall, up, "parallel.on=true"}, ""},
		"one process": {[]string{wall, up}, "the job has 4 devices at 1s, but on the wall clock one process " +
			"trains on one " +
			"device, and only that device is charged; set parallel.on = true"},
		"devices at the start": {[]string{wall, "time.devices=4"}, "the job has 4 devices at 0s, but"},
		"fewer processes": {[]string{wall, up, "parallel.on=true", "parallel.max_processes=2"},
			"parallel.max_processes is 2, so the other devices are neither used nor charged"},
		"processes are as many": {[]string{wall, up, "parallel.on=true", "parallel.max_processes=4"}, ""},
	} {
		warnings := must(parseJob("a.toml", "", tc.set...)).Warnings()
		if tc.says == "" {
			assert.Empty(t, warnings, name)
			continue
		}
		assert.Len(t, warnings, 1, name)
		assert.Contains(t, warnings[0], tc.says, name)
	}
}

// A job gets a warning about each event that it never reaches.
func TestMissedEventsAreWarnedOf(t *testing.T) {
	const last = `time.events=[{at="1s", change="up"}, {at="60s", change="down"}]`
	for name, tc := range map[string]struct {
		set  []string
		says string
	}{
		"reached": {[]string{`time.events=[{at="1s", change="up"}, {at="40s", change="down"}]`}, ""},
		"at the end": {[]string{last}, "time.events: the down event at 1m0s is never reached, because too little of " +
			"the 1m0s budget is left then for a training step; move it earlier, or remove it"},
		"after the last epoch": {[]string{`time.events=[{at="55s", change="down"}]`, "train.epochs=3"},
			"the down event at 55s is never reached, because the job ends after 3 epochs (train.epochs); move"},
		"after the stop": {[]string{last, "time.stop=40s"}, ""},
		"the wall clock": {[]string{last, "time.clock=wall"}, ""},
		"up without decisions": {[]string{`time.events=[{at="60s", change="up", devices=2}]`},
			"the up event at 1m0s is never reached"},
		"up with decisions": {[]string{`time.events=[{at="60s", change="up"}]`, "adapt.decider=random",
			"time.profile=round-gpu"}, "after the up event at 1m0s"},
	} {
		warnings := must(parseJob("a.toml", "", tc.set...)).Warnings()
		if tc.says == "" {
			assert.Empty(t, warnings, name)
			continue
		}
		require.Len(t, warnings, 1, "%s: %v", name, warnings)
		assert.Contains(t, warnings[0], tc.says, name)
	}
}

// A job gets a warning if its decider cannot make a trial.
func TestTrialsThatDoNotFitAreWarnedOf(t *testing.T) {
	const trials, up = "adapt.decider=trials", `time.events=[{at="30s", change="up"}]`
	for name, tc := range map[string]struct {
		set  []string
		says string
	}{
		"trials that fit": {[]string{up}, ""},
		"long trials": {[]string{up, "adapt.trial_steps=100000"}, "adapt.trial_steps: the network never changes, " +
			"because a trial of 100000 steps and the evaluations after it take"},
		"a late decision": {[]string{"adapt.when=share", "adapt.at=[0.995]",
			"adapt.trial_steps=5000"}, "but only 300ms of the budget is left at the first decision"},
		"few images": {[]string{up, "train.batch=64", "data.synthetic.train=50"},
			"because trials need a full batch, but train.batch is 64 and there are 45 training images"},
		"the wall clock":   {[]string{up, "adapt.trial_steps=100000", "time.clock=wall", "time.profile="}, ""},
		"times of a curve": {[]string{"adapt.when=plateau", "adapt.trial_steps=100000"}, ""},
		"another decider":  {[]string{"adapt.decider=random", up, "data.synthetic.train=50"}, ""},
	} {
		warnings := must(parseJob("a.toml", "", append([]string{trials, "time.profile=round-gpu"}, tc.set...)...)).
			Warnings()
		if tc.says == "" {
			assert.Empty(t, warnings, name)
			continue
		}
		assert.Contains(t, strings.Join(warnings, "\n"), tc.says, name)
	}
}

// A job gets a warning if its script has more actions than the job has decisions.
func TestActionsThatNobodyAsksForAreWarnedOf(t *testing.T) {
	const script, two, up = "adapt.decider=script", `adapt.actions=["deepen:conv1", "none"]`,
		`time.events=[{at="1s", change="up"}]`
	for name, tc := range map[string]struct {
		set   []string
		warns int
	}{
		"two for one up": {[]string{script, two, up}, 1},
		"two for two": {[]string{script, two,
			`time.events=[{at="1s", change="up"}, {at="2s", change="up"}]`}, 0},
		"asked again each epoch": {[]string{script, two, up, "adapt.each_epoch=true", "adapt.max_decisions=2"}, 0},
		"a number without effect": {[]string{"adapt.decider=random", up, "adapt.max_decisions=2",
			"time.clock=wall"}, 1},
		"a number and the actions": {[]string{script, two, up, "adapt.max_decisions=2"}, 2},
	} {
		warnings := must(parseJob("a.toml", "", tc.set...)).Warnings()
		assert.Len(t, warnings, tc.warns, "%s: %v", name, warnings)
	}
}

// profiled writes a profile with exact times of the networks that are measured by default. It keeps the given number of
// versions of ConvSmall, and multiplies the time of the widened one by a factor.
func profiled(t *testing.T, keep int, wrong float64) string {
	p := must(clock.FindProfile("round-gpu"))
	p.Name = "mine"
	kept := 0
	for _, s := range must(clock.Subjects(model.Shape{3, 32, 32}, 10)) {
		if s.Name == "ConvSmall" {
			if kept++; kept > keep {
				continue
			}
		}
		m := clock.Measurement{Network: s.Name, Actions: s.Actions, Fingerprint: net2net.Fingerprint(s.Network),
			Batch: 64, Size: must(clock.SizeOf(s.Network))}
		m.StepSeconds, m.BatchSeconds = p.Estimate(m)
		if kept == 3 && s.Name == "ConvSmall" {
			m.StepSeconds *= wrong
		}
		p.Measured = append(p.Measured, m)
	}
	p.Refit()
	path := filepath.Join(t.TempDir(), "mine.toml")
	require.NoError(t, WriteProfile(files.OS{}, path, p))
	return path
}

// A job gets a warning if its measured profile lacks the network, or the grown versions of the network.
func TestUncertainGrowthIsWarnedOf(t *testing.T) {
	const random = "adapt.decider=random"
	for name, tc := range map[string]struct {
		profile string
		set     []string
		says    string
	}{
		"another network": {profiled(t, 0, 1), nil,
			"has no measurement of ConvSmall or another network of its class, " +
				"and its rates mispredict such networks by "},
		"the network alone": {profiled(t, 1, 1), []string{random},
			"has measurements of ConvSmall, but not of its grown versions"},
		"the network never grows": {profiled(t, 1, 1), nil, ""},
		"what it grows to":        {profiled(t, 3, 1), []string{random}, ""},
		"what it grows to is wrong": {profiled(t, 3, 3), []string{random}, "mispredicts grown versions of " +
			"ConvSmall, by"},
	} {
		warnings := must(readJob(t, append(tc.set, "time.profile="+tc.profile, "run.listen=127.0.0.1:0")...)).Warnings()
		if tc.says == "" {
			assert.Empty(t, warnings, name)
			continue
		}
		assert.Len(t, warnings, 1, name)
		assert.Contains(t, strings.Join(warnings, "\n"), tc.says, name)
	}
}

// A job gets a warning if the measured operators are far from the network's operators.
func TestOperatorsOutsideOfTheRangeAreWarnedOf(t *testing.T) {
	n := must(model.Zoo("ConvSmall", model.ZooOptions{Input: model.Shape{3, 32, 32}, Classes: 10}))
	for name, tc := range map[string]struct {
		rows int
		says string
	}{
		"the batch of the job": {64, ""},
		"a batch of one":       {1, "predicts the steps of ConvSmall, but "},
	} {
		p := &clock.Profile{Name: "traced", Operators: operators.Table{Network: "ConvSmall", Rows: tc.rows}}
		for _, c := range must(operators.Calls(n, tc.rows)) {
			m := operators.Measurement{Name: c.Name, Shapes: c.Shapes, Calls: 1, Operations: c.Operations,
				Bytes:       c.Bytes,
				ForwardHost: 1e-6 + 1e-10*c.Bytes, ForwardRecorded: 1}
			if !slices.Contains(p.Operators.Measured, m) {
				p.Operators.Measured = append(p.Operators.Measured, m)
			}
		}
		p.EnsureDefaults()
		path := filepath.Join(t.TempDir(), "traced.toml")
		require.NoError(t, WriteProfile(files.OS{}, path, p))
		warnings := must(readJob(t, "time.profile="+path)).Warnings()
		if tc.says == "" {
			assert.Empty(t, warnings, name)
			continue
		}
		require.Len(t, warnings, 1, name)
		assert.Contains(t, warnings[0], tc.says)
		assert.Contains(t, warnings[0], "import a trace of a network and a batch of similar size")
	}
}

func readJob(t *testing.T, set ...string) (*Job, error) {
	path := filepath.Join(t.TempDir(), "job.toml")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	return ReadJob(files.OS{}, path, set)
}

// Options that no job can have are faults: too many devices, a shift by the whole image, statistics of other channels.
func TestImagesAndDevicesAreCompared(t *testing.T) {
	for set, says := range map[string]string{
		"time.devices=65537":    "devices is 65537; must be between 0 and 65536",
		"augment.pad=32":        "pad is 32, but images have 32 x 32 pixels; expected at most 31",
		"data.mean=[123.7]":     "but pixels are between 0 and 1; divide values for pixels from 0 to 255 by 255",
		"data.deviation=[58.4]": "divide values for pixels from 0 to 255 by 255",
		"data.mean=[0.5,0.5]":   "mean has 2 values, but images have 3 channels; expected one value, or one per",
		"data.deviation=[1, 1]": "deviation has 2 values, but images have 3 channels",
	} {
		_, err := ReadJob(files.OS{}, "", []string{set})
		assert.ErrorContains(t, err, says)
	}
	must(ReadJob(files.OS{}, "", []string{"augment.pad=31", "data.mean=[0.5]", "data.deviation=[1, 1, 1]"}))
}

// Options that probably spoil a job, but with which jobs of earlier versions can resume, give warnings.
func TestExcessiveOptionsGiveWarnings(t *testing.T) {
	j := must(readJob(t, "augment.cutout=33", "schedule.warm_up=5", "schedule.warm_up_share=0.1"))
	assert.Equal(t, []string{"augment.cutout is 33, but images have 32 x 32 pixels, so the hole can cover whole " +
		"images; lower augment.cutout", "schedule.warm_up is 5 steps and schedule.warm_up_share is set too, so the " +
		"learning rate rises twice; remove one of them"}, j.excessiveOptions())
	assert.Empty(t, must(readJob(t, "augment.cutout=32", "schedule.warm_up=5")).excessiveOptions())
}
