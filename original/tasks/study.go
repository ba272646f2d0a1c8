package tasks

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"graft/cluster/node/world"
	"graft/cluster/study"
	"graft/internal/words"
	"graft/results"
)

// ppo is the name of the learned scheduler of the study, in addition to the baselines.
const ppo = "ppo"

func init() {
	var schedulers []study.Entry
	for _, b := range Baselines() {
		schedulers = append(schedulers, study.Entry{Name: b.Name, About: b.About})
	}
	schedulers = append(schedulers, study.Entry{Name: ppo, About: "PPO, trained as published"})
	world.RegisterStudy(world.Published{
		Schedulers: schedulers,
		Keys: []string{"machine.gpus", "machine.compat", "tasks.seed", "tasks.test_count", "schedule.schedulers",
			"schedule.workers", "run."},
		New: func(f *world.File) study.Study { return &episodes{File: f} },
	})
}

// episodes plays the same episodes under each scheduler. PPO first learns, from each seed of the section run.
type episodes struct {
	study.Unprepared
	*world.File
}

// metrics are means over episodes.
var metrics = []study.Metric{
	{Name: "reward", Title: "reward", About: "mean total reward of an episode", Better: study.Higher,
		Format: "%.1f", Main: true},
	{Name: "reward_deviation", Title: "deviation", About: "standard deviation of total rewards", Better: study.Neutral,
		Format: "%.1f"},
	{Name: "placed", Unit: "tasks", Title: "placed", About: "mean number of tasks placed on a GPU; others are lost",
		Better: study.Higher, Format: "%.1f"},
	{Name: "drawn", Unit: "tasks", Title: "drawn", About: "mean number of tasks of an episode", Better: study.Neutral,
		Format: "%.1f"},
	{Name: "makespan", Unit: "steps", Title: "makespan", About: "mean length of an episode", Better: study.Lower,
		Format: "%.1f"},
}

// Plan lists the simulations to run: one per scheduler and seed.
func (e *episodes) Plan() *study.Plan {
	count := e.Tasks.TestCount
	p := &study.Plan{
		Title: fmt.Sprintf("the packing environment of the published study: %s on %s, seed %d",
			words.Plural(count, "episode"), words.Plural(e.GPUs(), "GPU"), e.Tasks.Seed),
		Facts:  map[string]any{"gpus": e.GPUs(), "episodes": count, "seed": e.Tasks.Seed},
		Points: []study.Point{{}}, Workloads: []string{"episodes"}, Metrics: metrics, Rank: []string{"reward"},
		Workers: cmp.Or(e.Schedule.Workers, e.Run.Workers), Remark: remark,
	}
	for _, name := range e.PublishedSchedulers() {
		s := study.Scheduler{Name: name}
		if name == ppo {
			s.Seeds = e.Run.All()
			s.Learned = len(s.Seeds)
		}
		p.Schedulers = append(p.Schedulers, s)
	}
	return p
}

// remark describes the rewards of seeds.
func remark(o *study.Outcome) []string {
	var rewards []float64
	for _, c := range o.Cells {
		if c.Scheduler == ppo {
			rewards = append(rewards, float64(c.Values["reward"]))
		}
	}
	if len(rewards) < 2 {
		return nil
	}
	for _, s := range o.Summaries {
		if s.Scheduler == ppo {
			return []string{fmt.Sprintf("%s has a reward of %.1f on average over %d seeds, from %.1f to %.1f.", ppo,
				float64(s.Values["reward"]), len(rewards), slices.Min(rewards), slices.Max(rewards))}
		}
	}
	return nil
}

// Simulate plays the episodes under a scheduler.
func (e *episodes) Simulate(ctx context.Context, c *study.Cell) (*study.Result, error) {
	policy, err := e.policy(ctx, c)
	if err != nil {
		return nil, err
	}
	s, err := Evaluate(e.GPUs(), e.Tasks.TestCount, e.Tasks.Seed, policy)
	if err != nil {
		return nil, err
	}
	return &study.Result{Values: study.Values{
		"reward": study.Number(s.Reward), "reward_deviation": study.Number(s.Deviation),
		"placed_tasks": study.Number(s.Placed), "drawn_tasks": study.Number(s.Tasks),
		"makespan_steps": study.Number(s.Makespan),
	}}, nil
}

// policy makes the policies of a scheduler. PPO first learns, and writes its curve.
func (e *episodes) policy(ctx context.Context, c *study.Cell) (policy func(seed uint64) Policy, err error) {
	name := e.PublishedSchedulers()[c.Scheduler]
	for _, b := range Baselines() {
		if b.Name == name {
			return b.New, nil
		}
	}
	err = c.Tables.Write("learning", curveColumns, func(rows *study.Rows) error {
		m, err := LearnPPO(ctx, e.GPUs(), c.Seed, Rollouts, func(p Point) error {
			rows.Ints(p.Actions).Floats(p.Reward, p.Length, p.ValueLoss, -p.Entropy, p.KL, p.Clipped, p.Explained).End()
			return nil
		})
		policy = func(uint64) Policy { return Likeliest(m) }
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("learn with seed %d: %w", c.Seed, err)
	}
	return policy, nil
}

// curveColumns define the table of PPO's learning.
var curveColumns = []results.Column{
	{Name: "actions", Kind: results.Int}, {Name: "reward"}, {Name: "length", Unit: "steps"}, {Name: "value_loss"},
	{Name: "entropy", Unit: "nats"}, {Name: "kl"}, {Name: "clip_fraction"}, {Name: "explained_variance"},
}
