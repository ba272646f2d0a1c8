package dl2

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
	"graft/internal/random/numpy"
	"graft/learn/dense"
)

// Trainer trains a policy in the same way as DL2's published program: by imitation of a scheduler, then by
// reinforcement learning in DL2's environment. Trainers with equal options and seeds produce bit-identical results. A
// trainer is not safe for concurrent use.
type Trainer struct {
	*course
	validation []elastic.Study
	origin     string // digest of all inputs

	newest     nets
	optimizers [2]optimizer  // of policy and value
	random     *numpy.Random // random numbers of validation
	agents     []*agent
	at         progress
	figures    map[string]float64
	best       *dense.Network // policy with the lowest mean JCT in a validation; nil before the first one
}

// progress is the state of a training without tensors.
type progress struct {
	Imitated   int  `json:"imitated"`   // updates by imitation
	Reinforced int  `json:"reinforced"` // updates by reinforcement
	BestAt     int  `json:"best_at"`    // updates before the validation with the lowest mean JCT
	Turn       int  `json:"turn"`       // agent whose gradient is applied next, if asynchronous
	Due        bool `json:"due"`        // validation comes next
}

// networkStream is the random stream of initial weights.
const networkStream = 53

// NewTrainer creates a trainer. The study determines the cluster, the speeds and the job types; the jobs of the study
// are ignored. Agents train on generated workloads. Policies are validated on the validation workloads. Schedulers and
// environments reproduce the bugs of DL2's published program. The options o determine the reward of a slot. NewTrainer
// ignores the quirks, the scaling costs and the rewards that the studies set.
func NewTrainer(study elastic.Study, generate elastic.GenerateOptions, validation []elastic.Study,
	o Options) (*Trainer, error) {
	o.EnsureDefaults()
	generate.EnsureDefaults()
	study.Options = published(study.Options)
	study.Options.Reward = elastic.Progress
	if o.Reinforced.Reward == JobsLeft {
		study.Options.Reward = elastic.Unfinished
	}
	t := &Trainer{course: &course{o: o, study: study, generate: generate}, validation: slices.Clone(validation),
		random: numpy.New(uint32(o.Seed))}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("train DL2: %w", err)
	}
	t.teacher, _ = schedulers.Named(o.Supervised.Teacher) // validated
	t.at.Due = o.Validation.Every > 0
	t.figures = map[string]float64{}
	if err := t.build(); err != nil {
		return nil, fmt.Errorf("train DL2: %w", err)
	}
	return t, nil
}

// check refuses options and studies that cannot be used.
func (t *Trainer) check() (err error) {
	if err := t.o.Validate(); err != nil {
		return err
	}
	for k := range t.validation {
		s := &t.validation[k]
		s.Options = published(s.Options)
		s.Options.Reward = t.study.Options.Reward
		if _, err := elastic.NewWorld(*s); err != nil {
			return fmt.Errorf("validation workload %d: %w", k, err)
		}
		if s.Options.AllReduce != t.study.Options.AllReduce {
			return fmt.Errorf("validation workload %d and the cluster differ: one uses parameter servers, the other "+
				"all-reduce; use the same for both", k)
		}
	}
	if _, err = elastic.Generate(t.study.Types, t.generate, numpy.New(uint32(t.o.Seed))); err != nil {
		return err
	}
	probe := t.study
	probe.Jobs = nil
	for k := range t.study.Types {
		probe.Jobs = append(probe.Jobs, elastic.Spec{ID: k, Type: k + 1, Epochs: 1, RealEpochs: 1})
	}
	if _, err = elastic.NewWorld(probe); err != nil {
		return err
	}
	if first := t.o.Workloads.FirstTypes; first > len(t.study.Types) {
		return fmt.Errorf("first_types is %d, but there are only %d job types; lower first_types",
			first, len(t.study.Types))
	}
	t.origin, err = t.digest()
	return err
}

// build draws networks and makes agents.
func (t *Trainer) build() (err error) {
	random := rand.New(rand.NewPCG(t.o.Seed, networkStream))
	for k, n := range []**dense.Network{&t.newest.policy, &t.newest.value} {
		if *n, err = network(t.o.Shape, t.study.Options.AllReduce, k == 1, random); err != nil {
			return err
		}
	}
	for k := range t.optimizers {
		t.optimizers[k] = newOptimizer(t.o.Optimizer, t.o.rate(k == 0 && t.imitates()))
	}
	return t.gather()
}

// rate returns the learning rate of a phase.
func (o *Options) rate(imitates bool) float64 {
	if imitates {
		return o.Supervised.Rate
	}
	return o.Reinforced.Rate
}

// imitates reports whether the training is in its imitation phase.
func (t *Trainer) imitates() bool { return t.at.Imitated < t.o.Supervised.Steps }

// gather makes the agents of a phase.
func (t *Trainer) gather() error {
	t.agents = nil
	for id := range t.o.Agents {
		a, err := t.newAgent(id, t.imitates(), t.newest)
		if err != nil {
			return err
		}
		t.agents = append(t.agents, a)
		t.send(a)
	}
	return nil
}

// send gives an asynchronous agent the newest networks for its next gradient.
func (t *Trainer) send(a *agent) {
	if t.o.Asynchronous {
		sent := t.newest.clone()
		a.sent = &sent
	}
}

// Ended returns the reason why learning is over. The reason is empty while learning continues.
func (t *Trainer) Ended() string {
	if t.imitates() || t.at.Reinforced < t.o.Reinforced.Steps || t.at.Due {
		return ""
	}
	return fmt.Sprintf("all %d imitation updates and %d reinforcement learning updates are complete", t.at.Imitated,
		t.at.Reinforced)
}

// Updates returns the numbers of imitation updates and of reinforcement learning updates so far.
func (t *Trainer) Updates() (imitated, reinforced int) { return t.at.Imitated, t.at.Reinforced }

// Steps returns the total number of updates so far.
func (t *Trainer) Steps() int { return t.at.Imitated + t.at.Reinforced }

// Policy returns a copy of the current policy.
func (t *Trainer) Policy() *Policy { return t.policyOf(t.newest.policy) }

// BestTime returns the lowest mean JCT of all validations that Advance ran, and the number of updates before that
// validation. Before the first validation it returns NaN.
func (t *Trainer) BestTime() (jct float64, updates int) { return t.figure("best_jct"), t.at.BestAt }

// Best returns the policy with the lowest mean JCT of all validations that Advance ran. DL2's program reports the best
// policy. Before the first validation it returns the current policy. Since the best policy is selected on the
// validation workloads, it should be measured on different workloads.
func (t *Trainer) Best() *Policy {
	if t.best == nil {
		return t.Policy()
	}
	return t.policyOf(t.best)
}

func (t *Trainer) policyOf(n *dense.Network) *Policy {
	return &Policy{Shape: t.o.Shape, AllReduce: t.study.Options.AllReduce, network: clone(n)}
}

// Advance updates the parameters once. It validates before the first update, and after each update at which a
// validation is due. It does nothing once learning is over. If it returned an error because ctx ended, it can be called
// again, with bit-identical results. After any other error the trainer cannot be used.
func (t *Trainer) Advance(ctx context.Context) error {
	if err := t.settle(ctx); err != nil || t.Ended() != "" {
		return err
	}
	phase, step, every := "imitation", t.at.Imitated+1, max(1, t.o.Validation.Every/4)
	if !t.imitates() {
		phase, step, every = "reinforcement", t.at.Reinforced+1, t.o.Validation.Every
	}
	if err := t.update(ctx); err != nil {
		return fmt.Errorf("train DL2: %s, update %d: %w", phase, step, err)
	}
	t.at.Due = t.o.Validation.Every > 0 && step%every == 0
	return t.settle(ctx)
}

// settle validates if that is due.
func (t *Trainer) settle(ctx context.Context) error {
	if !t.at.Due {
		return nil
	}
	v, err := t.Validate(ctx)
	if t.at.Due = err != nil; t.at.Due || len(t.validation) == 0 {
		return err
	}
	if least, known := t.figures["best_jct"]; !known || v.MeanJCT < least {
		t.figures["best_jct"], t.best, t.at.BestAt = v.MeanJCT, clone(t.newest.policy), t.Steps()
	}
	return nil
}

// update takes a step of the optimizers. All agents act until their gradients are due, which can be interrupted; the
// rest cannot.
func (t *Trainer) update(ctx context.Context) error {
	agents := t.agents
	if t.o.Asynchronous {
		agents = agents[t.at.Turn : t.at.Turn+1]
	}
	for _, a := range agents {
		if err := a.fill(ctx); err != nil {
			return fmt.Errorf("agent %d: %w", a.id, err)
		}
	}
	var all []gradient
	for _, a := range agents {
		g, err := a.gradient(t.newest)
		if err != nil {
			return fmt.Errorf("agent %d: %w", a.id, err)
		}
		all = append(all, g)
	}
	if err := t.apply(meanGradient(all)); err != nil {
		return err
	}
	if t.o.Asynchronous {
		t.send(agents[0])
		t.at.Turn = (t.at.Turn + 1) % len(t.agents)
	}
	t.observe(agents)
	return t.count()
}

// apply takes the steps.
func (t *Trainer) apply(g gradient) error {
	if err := t.optimizers[0].Step(t.newest.policy.Params, g.policy); err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	if g.value != nil {
		if err := t.optimizers[1].Step(t.newest.value.Params, g.value); err != nil {
			return fmt.Errorf("value: %w", err)
		}
	}
	for name, v := range g.figures {
		t.figures[name] = v
	}
	return nil
}

// observe stores the means of the agents' last outcomes, if every agent has one.
func (t *Trainer) observe(agents []*agent) {
	for name, of := range map[string]func(a *agent) float64{
		"reward":            func(a *agent) float64 { return a.last.reward },
		"training_jct":      func(a *agent) float64 { return a.last.jct },
		"training_makespan": func(a *agent) float64 { return a.last.makespan },
		"epsilon":           (*agent).epsilon,
	} {
		sum := 0.0
		for _, a := range agents {
			sum += of(a)
		}
		if !math.IsNaN(sum) {
			t.figures[name] = sum / float64(len(agents))
		}
	}
}

// count counts an update. After the last update by imitation, reinforcement learning starts with its weights and its
// optimizer's moments, but with a step count of zero and new agents.
func (t *Trainer) count() error {
	if !t.imitates() {
		t.at.Reinforced++
		return nil
	}
	if t.at.Imitated++; t.imitates() {
		return nil
	}
	t.at.Turn = 0
	rate, steps, _ := optimizerState(t.optimizers[0], t.newest.policy.Params)
	*rate, *steps = t.o.rate(false), 0
	return t.gather()
}
