package tasks

// Policy chooses the GPU for the next task. The policy is called at the start of a step, when tasks that expire in this
// step still occupy their GPUs.
type Policy func(e *Env) int

// Baseline is a simple policy of the published study, such as a fixed rule, with its name.
type Baseline struct {
	Name  string
	About string // description of the policy's rule
	// New creates the policy for an episode. The seed is for Python's random number generator, which only the policy
	// "random" uses.
	New func(seed uint64) Policy
}

// Baselines returns the simple policies that PPO is compared with.
func Baselines() []Baseline {
	fixed := func(p Policy) func(uint64) Policy { return func(uint64) Policy { return p } }
	return []Baseline{
		{"gpu0", "always the first GPU", fixed(func(*Env) int { return 0 })},
		{"round_robin", "GPUs in turn", fixed(func(e *Env) int { return e.steps % e.o.GPUs })},
		{"random", "a random GPU", func(seed uint64) Policy {
			p := NewPython(seed)
			return func(e *Env) int { return p.IntN(e.o.GPUs) }
		}},
		{"least_gpu", "the GPU with the least used compute", fixed(leastCompute)},
		{"least_mem", "the GPU with the least used memory",
			fixed(func(e *Env) int { return e.least(func(gpu int) int { return e.usage[e.o.GPUs+gpu] }) })},
		{"least_max", "the GPU with the lowest maximum of used compute and memory", fixed(func(e *Env) int {
			return e.least(func(gpu int) int { return max(e.usage[gpu], e.usage[e.o.GPUs+gpu]) })
		})},
		{"first_fit", "the first GPU with room, else the GPU with the least used compute", fixed(func(e *Env) int {
			return e.fit(func(int) int { return 0 })
		})},
		{"best_fit", "the most used GPU with room, else the least used GPU", fixed(func(e *Env) int {
			return e.fit(func(gpu int) int { return e.usage[gpu] })
		})},
		{"oracle_fit", "first fit that takes into account which tasks leave in this step", fixed(oracleFit)},
	}
}

// least returns the first GPU with the least value.
func (e *Env) least(of func(gpu int) int) (best int) {
	for gpu := range e.o.GPUs {
		if of(gpu) < of(best) {
			best = gpu
		}
	}
	return best
}

func leastCompute(e *Env) int { return e.least(func(gpu int) int { return e.usage[gpu] }) }

// fit returns the first GPU with the largest value among the GPUs with room for the next task. If none has room it
// returns the GPU with the least used compute; if no task is left, the first one.
func (e *Env) fit(of func(gpu int) int) int {
	t, ok := e.Head()
	if !ok {
		return 0
	}
	best := -1
	for gpu := range e.o.GPUs {
		if e.fits(t, gpu) && (best < 0 || of(gpu) > of(best)) {
			best = gpu
		}
	}
	if best < 0 {
		return leastCompute(e)
	}
	return best
}

// oracleFit frees GPUs as the step will, chooses, and reverts that.
func oracleFit(e *Env) int {
	change := func(sign int) {
		for _, p := range e.running {
			if p.End() <= e.steps {
				e.add(p.On, sign*p.GPU, sign*p.Memory)
			}
		}
	}
	change(-1)
	defer change(1)
	return e.fit(func(int) int { return 0 })
}

// Play plays the current episode to its end with a policy.
func (e *Env) Play(choose Policy) (Result, error) {
	for {
		o, err := e.Act(choose(e))
		if err != nil {
			return Result{}, err
		}
		if o.Done {
			return e.Result(), nil
		}
	}
}
