package node

import (
	"context"
	"fmt"

	"graft/config"
	"graft/internal/parallel"
	"graft/internal/stat"
	"graft/original/tasks"
	"graft/report/runs"
	"graft/results"
)

// curveColumns define the table of PPO's learning.
var curveColumns = []results.Column{{Name: "seed", Kind: results.Int}, {Name: "actions", Kind: results.Int},
	{Name: "reward"}, {Name: "length"}, {Name: "value_loss"}, {Name: "entropy"}, {Name: "kl"}, {Name: "clip_fraction"},
	{Name: "explained_variance"}}

// published plays the published study: the baselines, and PPO, which learns first, on the same episodes.
func published(ctx context.Context, c *config.Node, run *results.Run) (*runs.NodePublished, error) {
	p := &runs.NodePublished{GPUs: len(c.Options().Devices), Episodes: c.Tasks.TestCount, Seed: c.Tasks.Seed}
	for _, name := range c.PublishedSchedulers() {
		var policies []func(seed uint64) tasks.Policy
		if name == config.PublishedPPO {
			learned, err := learnPublished(ctx, c, run)
			if err != nil {
				return nil, err
			}
			policies = learned
		}
		if b, found := tasks.Baselines().Find(name); found {
			policies = append(policies, b.New)
		}
		cell := runs.NodePublishedCell{Scheduler: name}
		for _, policy := range policies {
			s, err := tasks.Evaluate(p.GPUs, p.Episodes, p.Seed, policy)
			if err != nil {
				return nil, err
			}
			cell.Rewards = append(cell.Rewards, s.Reward)
			n := float64(len(policies))
			cell.Deviation, cell.Makespan, cell.Placed, cell.Tasks = cell.Deviation+s.Deviation/n,
				cell.Makespan+s.Makespan/n, cell.Placed+s.Placed/n, cell.Tasks+s.Tasks/n
		}
		if cell.Reward = stat.Mean(cell.Rewards); name == config.PublishedPPO {
			cell.Seeds = len(cell.Rewards)
		}
		p.Cells = append(p.Cells, cell)
	}
	return p, nil
}

// learnPublished learns PPO from each seed, and writes its curves.
func learnPublished(ctx context.Context, c *config.Node,
	run *results.Run) (policies []func(seed uint64) tasks.Policy, err error) {
	stream, err := run.Stream(runs.NodeCurveStream, curveColumns)
	if err == nil {
		err = stream.Truncate(0)
	}
	if err != nil {
		return nil, err
	}
	seeds := c.Run.All()
	points, policies := make([][]tasks.Point, len(seeds)), make([]func(uint64) tasks.Policy, len(seeds))
	err = parallel.Pool{Workers: c.Run.Workers}.Each(ctx, len(seeds), func(k int) error {
		m, err := tasks.LearnPPO(ctx, len(c.Options().Devices), seeds[k], tasks.Rollouts, func(p tasks.Point) error {
			points[k] = append(points[k], p)
			return nil
		})
		if err != nil {
			return fmt.Errorf("learn from seed %d: %w", seeds[k], err)
		}
		policies[k] = func(uint64) tasks.Policy { return tasks.Likeliest(m) }
		return nil
	}).First()
	for k, rows := range points {
		for _, p := range rows {
			if err == nil {
				err = stream.Append(seeds[k], p.Actions, p.Reward, p.Length, p.ValueLoss, -p.Entropy, p.KL, p.Clipped,
					p.Explained)
			}
		}
	}
	return policies, err
}
