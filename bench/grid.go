package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/simulation/grid"
	"graft/simulation/tables"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// plantation is a scenario that runs as a tree and as single sequences.
type plantation struct {
	plan   grid.Plan
	ground grid.Space
	lab    *grid.Executor
}

// gridSeconds is the budget of the scenario on a clock with 12 ms per step.
const gridSeconds = 2

// newPlantation makes a scenario of nine sequences about ConvNet2.
func newPlantation(s *torch.Scope) (*plantation, error) {
	data, err := dataset.Load(s, torch.CPU, files.OS{},
		dataset.Options{Seed: 1, Synthetic: dataset.SyntheticOptions{Train: 2000, Test: 500}})
	if err != nil {
		return nil, err
	}
	profile, err := clock.FindProfile("steady")
	if err != nil {
		return nil, err
	}
	o := trainer.Options{Steady: true, Adapt: trainer.Adapt{Every: true, MaxDecisions: 2}}
	o.Timeline = trainer.Timeline{Budget: gridSeconds * time.Second,
		Events: []trainer.Event{{At: gridSeconds * time.Second / 4, Change: trainer.Up}}}
	o.EnsureDefaults()
	network := func() (*model.Network, error) { return model.Zoo("ConvNet2", model.ZooOptions{}) }
	p := &plantation{lab: &grid.Executor{Options: o, Data: data, Now: time.Now,
		Clock: func(at time.Duration) clock.Clock { return &clock.Virtual{Profile: profile, Time: at} },
		Begin: func(s *torch.Scope, seed int64) (*model.Network, *trainer.Pretrained, error) {
			n, err := network()
			if err != nil {
				return nil, nil, err
			}
			return n, nil, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, seed)})
		}}}
	p.plan = grid.Plan{Seeds: []int64{1}, Scenario: tables.Scenario{Name: "bench", Network: "ConvNet2",
		Dataset: data.Name, Budget: gridSeconds, Decisions: 2}}
	p.ground = grid.Space{Decisions: 2, Actions: []net2net.Action{{Kind: "deepen", Target: "conv1"},
		{Kind: "deepen", Target: "conv2"}, {}}}
	p.ground.Network, err = network()
	return p, err
}

// asTree runs sequences as a grid, in an empty folder, and returns the result and its duration in seconds.
func (p *plantation) asTree(folder string, d grid.Design) (state grid.Progress, seconds float64, err error) {
	store, err := grid.OpenStore(files.OS{}, folder)
	if err != nil {
		return state, 0, err
	}
	log, err := grid.OpenFailures(files.OS{}, filepath.Join(folder, "failures"))
	if err != nil {
		return state, 0, err
	}
	plan := p.plan
	plan.Design = d
	began := time.Now()
	g := grid.NewGrid(plan, p.ground, store, log)
	if err := g.Work(context.Background(), grid.Worker{Executor: p.lab, Leases: everything{},
		Wait: func(context.Context) {}}); err != nil {
		return state, 0, err
	}
	if _, err := g.WriteTable(files.OS{}, filepath.Join(folder, "table")); err != nil {
		return state, 0, err
	}
	seconds = time.Since(began).Seconds()
	state, err = g.Progress()
	return state, seconds, err
}

// everything takes legs for a worker that is alone.
type everything struct{}

// Take grants every lease, because there is no other worker.
func (everything) Take(ctx context.Context, _ string) (context.Context, func(), error) {
	return ctx, func() {}, nil
}

// alone trains a sequence from start to end, without files, and returns the seconds.
func (p *plantation) alone(sequence []string) (float64, error) {
	var script decider.Script
	for _, text := range sequence {
		a, err := net2net.ParseAction(text)
		if err != nil {
			return 0, err
		}
		script.Actions = append(script.Actions, a)
	}
	began := time.Now()
	_, err := p.sequence(script)
	return time.Since(began).Seconds(), err
}

func (p *plantation) sequence(d decider.Decider) (steps int64, err error) {
	err = torch.With(func(s *torch.Scope) error {
		n, _, err := p.lab.Begin(s, 1)
		if err != nil {
			return err
		}
		o := p.lab.Options
		o.Seed, o.Checkpoint.Off = 1, true
		job, err := trainer.New(s, trainer.Parts{Network: n, Data: p.lab.Data, Clock: p.lab.Clock(0), Decider: d,
			Now: time.Now}, o)
		if err != nil {
			return err
		}
		_, err = job.Run(context.Background())
		steps = job.Progress().Steps
		return err
	})
	return steps, err
}

// grid prints the overhead of a grid relative to its training, and the throughput of concurrent workers. The overhead
// depends on the host and its disk: it is not measured on a GPU.
func (b *bench) grid(program string) error {
	if b.device != "cpu" {
		return b.sideBySide(program)
	}
	if err := b.legs(); err != nil {
		return err
	}
	return b.sideBySide(program)
}

// legs compares a sequence in legs, each of which is saved, committed and started from a saved state, with the same
// sequence in one go, and prints the savings of a tree.
func (b *bench) legs() error {
	if err := torch.SetThreads(1); err != nil {
		return err
	}
	var ratios []float64
	err := torch.With(func(s *torch.Scope) error {
		p, err := newPlantation(s)
		if err != nil {
			return err
		}
		sequence := []string{}
		for round := -1; round < 2*b.starts; round++ { // the first round warms up
			var legs, whole float64
			var one grid.Progress
			grown := func() (err error) {
				one, legs, err = p.asTree(filepath.Join(b.folder, fmt.Sprintf("grid-%d", round)),
					grid.Design{Which: grid.Sampled, Most: 1})
				return err
			}
			if round%2 != 0 || round < 0 { // alternate the first side
				err = grown()
			}
			if err == nil {
				whole, err = p.alone(sequence)
			}
			if err == nil && round >= 0 && round%2 == 0 {
				err = grown()
			}
			if err != nil {
				return err
			}
			if sequence = one.Best[0].Sequence; round < 0 {
				continue
			}
			ratios = append(ratios, legs/whole)
		}
		tree, _, err := p.asTree(filepath.Join(b.folder, "grid-tree"), grid.Design{})
		fmt.Fprintf(b.table, "grid: steps one by one over steps as a tree\t%.2f\t%d / %d\n",
			float64(tree.Alone)/float64(tree.Steps), tree.Alone, tree.Steps)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(b.table, "grid: a sequence in three legs over the same in one leg\t%.3f\t%s\n", median(ratios),
		quartiles(ratios, "%.3f"))
	return b.table.Flush()
}

// sideScenario has 27 sequences about ConvNet2, with a batch of 64.
const sideScenario = `
[network]
name = "ConvNet2"
[run]
device = %q
[data.synthetic]
train = 1000
test = 200
[time]
budget = "1s"
events = [{at = "300ms", change = "up"}]
[adapt]
each_epoch = true
[simulate]
actions = ["deepen:conv1", "deepen:conv2", "none"]
cache = %q
[fleet]
threads = 1
`

// sideBySide prints the steps per second of concurrent workers, with growing numbers of workers up to twice the
// processors.
func (b *bench) sideBySide(program string) error {
	var best float64
	for _, workers := range b.sides() {
		folder := filepath.Join(b.folder, fmt.Sprintf("side-%d", workers))
		path := folder + ".toml"
		if err := os.WriteFile(path, fmt.Appendf(nil, sideScenario, b.device, folder+"-cache"), 0o644); err != nil {
			return err
		}
		c := exec.Command(program, "simulate", path, "--folder", folder, "--workers", strconv.Itoa(workers), "--json",
			"--quiet")
		c.Stderr = os.Stderr
		text, err := c.Output()
		if err != nil {
			return fmt.Errorf("run %s: %w; build graft with 'make build', or set -graft to its path", program, err)
		}
		var r struct{ State grid.Progress }
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		rate := float64(r.State.Steps) / (r.State.Seconds / float64(workers))
		best = max(best, rate)
		fmt.Fprintf(b.table, "grid: steps a second, ConvNet2, batch 64, %s\t%d workers\t%.0f\n", b.device,
			workers, rate)
	}
	return b.project(best)
}

// sides lists the numbers of workers to try.
func (b *bench) sides() []int {
	sides := []int{1, 2, 4}
	if b.device != "cpu" {
		sides = append(sides, 8, 16)
	}
	return sides
}

// The original's ten tables of 64 sequences: networks of the size of ConvNet2, epochs of 782 steps and about 11 s, at
// five start times of 400 s on, two networks each.
const (
	originalSteps   = 782
	originalEpoch   = 11.0
	originalBudget  = 400.0
	originalTables  = 2
	originalActions = 4
)

var originalStarts = []float64{70, 135, 200, 265, 330}

// project prints the time for the original's 640 sequences at a rate.
func (b *bench) project(rate float64) error {
	var tree, single float64
	for _, start := range originalStarts {
		epochs := (originalBudget - start) / originalEpoch
		legs, width := 0.0, 1.0
		for range 2 { // sequences share an epoch after each of the first two decisions
			width *= originalActions
			legs += width
		}
		leaves := width * originalActions
		tree += originalTables * originalSteps * (legs + leaves*(epochs-2))
		single += originalTables * originalSteps * leaves * epochs
	}
	fmt.Fprintf(b.table, "grid: the original's 640 sequences, %.1f million steps as trees, "+
		"at that rate\t%.1f hours\tone by one %.1f\n", tree/1e6, tree/rate/3600, single/rate/3600)
	return b.table.Flush()
}
