// Package candidates trains an agent that scores candidates: it imitates a teacher, then improves by policy gradients.
// Validation selects the best agent. The [Course] defines the scheduling problem.
package candidates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/internal/stat"
	"graft/learn"
	"graft/torch/weights"
)

// Learner learns a scheduler: first by imitating another scheduler, the teacher, then in rounds of reinforcement
// learning. The result is the agent with the lowest cost on the validation workloads. It implements [learn.Learner].
type Learner struct {
	Options
	progress

	course   Course
	model    *learn.Set
	best     []byte // best agent so far, as Policy writes it; nil before the first validation
	chance   *rand.PCG
	rollouts []*learn.Rollout
	figures  [columns]float64
}

// progress is the state of learning, except the weights.
type progress struct {
	Version int     `json:"version"` // version of this format
	Step    int     `json:"step"`    // steps taken
	Best    float64 `json:"best"`    // lowest mean time to completion on the validation workloads
	BestAt  int     `json:"best_at"` // step of Best
	Worse   int     `json:"worse"`   // validations of rounds since Best
	Why     string  `json:"why"`     // reason why learning ended; empty while it continues
}

// FigureNames returns the names of the values that Figures returns. Values that do not apply to a step are NaN.
//
//   - validation_jct, best_jct: current and best validation cost, in time slots
//   - imitation_loss: mean loss on the examples of the teacher's actions
//   - training_excess: mean time to completion on training workloads, divided by its lower bound
//   - entropy: entropy of the policy in nats
//   - kl: estimated divergence from the policy that played the episodes
//   - clip_fraction: fraction of probability ratios outside of the clipping range
//   - value_loss: mean squared error of the predicted values
func FigureNames() []string {
	return []string{"validation_jct", "best_jct", "imitation_loss", "training_excess", "entropy", "kl", "clip_fraction",
		"value_loss"}
}

// Indexes of the figures.
const (
	ofValidation = iota
	ofBest
	ofImitation
	ofTraining
	ofEntropy
	ofKL
	ofClips
	ofValues
	columns
)

// Course defines the scheduling problem that an agent learns to solve.
type Course interface {
	// Shape describes the observations: the number of values for the state and for each candidate.
	Shape() Shape
	// Workloads returns the number of training workloads.
	Workloads() int
	// Env creates an environment whose episodes are drawn from the training workloads.
	Env() (learn.Env, error)
	// Lesson lets an agent schedule a workload. For a fraction of the decisions, given by follow, the teacher's actions
	// replace the agent's actions. It returns one example per decision, with the state and the teacher's actions.
	Lesson(ctx context.Context, workload int, agent learn.Agent, follow float64,
		random *rand.Rand) ([]learn.Example, error)
	// Validate returns the mean cost on the validation workloads if an agent takes its most likely actions, or
	// infinity if a workload does not finish.
	Validate(ctx context.Context, agent *learn.Set) (float64, error)
}

// NewLearner creates a learner whose agent has random parameters.
func NewLearner(c Course, o Options, seed uint64) (*Learner, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("learn a scheduler: %w", err)
	}
	l := &Learner{Options: o, progress: progress{Version: version, Best: math.Inf(1)}, course: c,
		chance: rand.NewPCG(seed, 1)}
	var err error
	if l.model, err = c.Shape().model(learn.SetOptions{Hidden: o.Hidden, Rate: o.LessonRate, Batches: o.batches()},
		rand.New(rand.NewPCG(seed, 0))); err != nil {
		return nil, err
	}
	if o.lessons() == 0 {
		learn.BeginAnew(l.model, o.Rate)
	}
	return l, l.prepare(seed)
}

// Model returns the current agent.
func (l *Learner) Model() *learn.Set { return l.model }

// prepare makes the rollouts.
func (l *Learner) prepare(seed uint64) error {
	var envs []learn.Env
	var agents []learn.Agent
	for range l.Envs {
		e, err := l.course.Env()
		if err != nil {
			return err
		}
		envs, agents = append(envs, e), append(agents, l.model.Twin())
	}
	if l.grouped() {
		l.rollouts = learn.NewGroup(envs, agents, seed, firstStream)
		return nil
	}
	for k := range envs {
		l.rollouts = append(l.rollouts, learn.NewRollout(envs[k], agents[k], seed, uint64(firstStream+k)))
	}
	return nil
}

// firstStream is the first pair of streams of random numbers for rollouts.
const firstStream = 1

// Steps implements [learn.Learner].
func (l *Learner) Steps() int { return l.Step }

// Ended implements [learn.Learner].
func (l *Learner) Ended() string { return l.Why }

// Figures implements [learn.Learner].
func (l *Learner) Figures() ([]float64, error) { return slices.Clone(l.figures[:]), nil }

// Advance takes one learning step: imitation on one workload, or one round of reinforcement learning.
func (l *Learner) Advance(ctx context.Context) (err error) {
	if l.Why != "" {
		return nil
	}
	for k := range l.figures {
		l.figures[k] = math.NaN()
	}
	lessons := l.lessons()
	if l.Step < lessons {
		err = l.lesson(ctx)
	} else {
		err = l.round(ctx)
	}
	if err != nil {
		return err
	}
	l.Step++
	if last := l.Options.Steps(); l.Step%l.Every == 0 || l.Step == lessons || l.Step == last {
		if err := l.validate(ctx); err != nil {
			return err
		}
		switch {
		case l.Step == last:
			l.Why = "all rounds are complete"
		case l.Worse >= l.Patience:
			l.Why = fmt.Sprintf("the last %d validations brought no improvement", l.Worse)
		}
	}
	if l.Step == lessons && l.Why == "" {
		return l.turn()
	}
	return nil
}

// turn starts the rounds with the best agent of the lessons.
func (l *Learner) turn() error {
	learn.BeginAnew(l.model, l.Rate)
	if l.best == nil {
		return nil
	}
	best, err := readSet(l.best)
	if err != nil {
		return err
	}
	return learn.RestoreParams(l.model, best, policyPrefix)
}

// lesson imitates the teacher on a workload. The agent plays an increasing share of it by itself.
func (l *Learner) lesson(ctx context.Context) error {
	random := rand.New(l.chance)
	examples, err := l.course.Lesson(ctx, l.Step%l.course.Workloads(), l.model.Twin(), 1/float64(1+l.Step), random)
	if err != nil {
		return err
	}
	o := learn.ImitationOptions{Batch: l.Batch, Segment: segment, MaxNorm: 5, ValueLoss: 0.5}
	l.figures[ofImitation], err = learn.Imitate(l.model, examples, o, random)
	return err
}

// round plays, and learns from it.
func (l *Learner) round(ctx context.Context) error {
	steps, advantages, returns, err := l.play(ctx)
	if err != nil {
		return err
	}
	var times []float64
	for _, r := range l.rollouts {
		for _, e := range r.Ended {
			times = append(times, -e.Reward)
		}
		r.Ended = nil
	}
	if len(times) > 0 {
		l.figures[ofTraining] = stat.DividedMean(times)
	}
	if l.Method != PPO {
		return learn.UpdateGradient(l.model, steps, l.gradient())
	}
	f, err := learn.UpdatePPOBy(l.model, steps, advantages, returns, l.ppo(), rand.New(l.chance))
	l.figures[ofEntropy], l.figures[ofKL], l.figures[ofClips], l.figures[ofValues] = f.Entropy, f.KL, f.ClipFraction,
		f.ValueLoss
	return err
}

// play plays a round. Returns are nil if values do not learn.
func (l *Learner) play(ctx context.Context) (steps []learn.Step, advantages, returns []float64, err error) {
	if !l.grouped() {
		if steps, err = learn.PlayAll(ctx, l.rollouts, l.Actions, 1); err == nil {
			advantages, returns = learn.Advantages(steps, l.ppo().Discounts)
		}
		return steps, advantages, returns, err
	}
	episodes, err := learn.PlayEpisodes(ctx, l.rollouts, 1)
	if err != nil {
		return nil, nil, nil, err
	}
	random := rand.New(l.chance)
	for k, own := range learn.GroupAdvantages(episodes, l.Gamma) {
		for _, from := range drawSegments(len(own), l.Actions, random) {
			to := min(from+segment, len(own))
			steps, advantages = append(steps, episodes[k][from:to]...), append(advantages, own[from:to]...)
		}
	}
	return steps, advantages, nil, nil
}

// drawSegments returns the starts of drawn segments of an episode, with at most actions actions in total.
func drawSegments(length, actions int, random *rand.Rand) (begins []int) {
	count := (length + segment - 1) / segment
	order := random.Perm(count)[:min(count, (actions+segment-1)/segment)]
	slices.Sort(order)
	for _, k := range order {
		begins = append(begins, k*segment)
	}
	return begins
}

// validate runs the agent on the validation workloads, and keeps the agent if it is the best.
func (l *Learner) validate(ctx context.Context) error {
	mean, err := l.course.Validate(ctx, l.model)
	if err != nil {
		return err
	}
	switch {
	case mean < l.Best:
		l.Best, l.BestAt, l.Worse = mean, l.Step, 0
		if l.best, err = l.policy().bytes(); err != nil {
			return err
		}
	case l.Step > l.lessons():
		l.Worse++
	}
	l.figures[ofValidation], l.figures[ofBest] = mean, l.Best
	return nil
}

// policy returns the current agent.
func (l *Learner) policy() *Policy {
	return &Policy{Agent: l.model, shape: l.course.Shape(), hidden: l.Hidden}
}

// Policy returns the agent with the lowest cost on the validation workloads.
func (l *Learner) Policy() (*Policy, error) {
	if l.best == nil {
		return nil, errors.New("learn a scheduler: no agent completed all validation jobs; raise learn.rounds, " +
			"set learn.teacher, or raise learn.max_slots")
	}
	set, err := readSet(l.best)
	if err != nil {
		return nil, err
	}
	return l.course.Shape().ReadPolicy(set)
}

// version is the version of the learner's state.
const version = 1

// saved is the learner's state outside tensors.
type saved struct {
	progress
	Infinite bool                 `json:"infinite"` // Best is infinite, which JSON cannot represent
	Chance   []byte               `json:"chance"`
	Rollouts []learn.RolloutState `json:"rollouts"`
	Policy   []byte               `json:"policy"`
}

// Save implements [learn.Learner].
func (l *Learner) Save() (*weights.Set, error) {
	chance, _ := l.chance.MarshalBinary() // it never fails
	now := saved{progress: l.progress, Chance: chance, Policy: l.best}
	if now.Infinite = math.IsInf(now.Best, 1); now.Infinite {
		now.Best = 0
	}
	for _, r := range l.rollouts {
		now.Rollouts = append(now.Rollouts, r.State())
	}
	text, err := json.Marshal(now)
	if err != nil {
		return nil, fmt.Errorf("save a checkpoint of scheduler learning: %w", err)
	}
	set := &weights.Set{Metadata: map[string]string{l.course.Shape().learnerKey(): string(text)}}
	learn.SaveModel(l.model, set, modelPrefix)
	return set, nil
}

// modelPrefix is the prefix of the agent's tensors in a learner's file.
const modelPrefix = "agent."

// Restore implements [learn.Learner].
func (l *Learner) Restore(set *weights.Set) error {
	text, ok := set.Metadata[l.course.Shape().learnerKey()]
	if !ok {
		return errors.New("resume learning: the file is not a checkpoint of scheduler learning")
	}
	var was saved
	if err := json.Unmarshal([]byte(text), &was); err != nil {
		return fmt.Errorf("resume learning: the file's header is damaged: %w", err)
	}
	if was.Version != version || len(was.Rollouts) != len(l.rollouts) {
		return errors.New("resume learning: the checkpoint was written with other options or another version of " +
			"graft; " +
			"start over, or use the same options and version")
	}
	if was.Infinite {
		was.Best = math.Inf(1)
	}
	if err := learn.RestoreModel(l.model, set, modelPrefix); err != nil {
		return err
	}
	for k, r := range l.rollouts {
		if err := r.Restore(was.Rollouts[k]); err != nil {
			return err
		}
	}
	l.progress, l.best = was.progress, was.Policy
	if l.Step >= l.lessons() {
		learn.SetRate(l.model, l.Rate)
	}
	if err := l.chance.UnmarshalBinary(was.Chance); err != nil {
		return fmt.Errorf("resume learning: the file's header is damaged: %w", err)
	}
	return nil
}
