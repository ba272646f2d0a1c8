package learn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"graft/learn"
)

// Rack has three GPUs. Each job runs for one slot, and any number of jobs can start in a slot.
type Rack struct {
	random         *rand.Rand
	slot, free     int
	waiting, needs [2]int // of small and large jobs: how many, and GPUs of one
}

// Actions, in addition to starting a small job (0) or a large job (1).
const endSlot = 2

// Reset begins an episode.
func (r *Rack) Reset(random *rand.Rand) error {
	*r = Rack{random: random, needs: [2]int{1, 2}}
	r.begin()
	return nil
}

// begin starts a slot: new jobs arrive, and all GPUs are free.
func (r *Rack) begin() {
	r.free = 3
	r.waiting[0] += r.random.IntN(3)
	r.waiting[1] += r.random.IntN(2)
}

// Observe returns inputs of magnitude one and the allowed actions. Ending the slot is always allowed.
func (r *Rack) Observe() learn.Observation {
	fits := func(kind int) bool { return r.waiting[kind] > 0 && r.needs[kind] <= r.free }
	return learn.Observation{
		Values: []float64{float64(r.free) / 3, float64(r.waiting[0]) / 5, float64(r.waiting[1]) / 5},
		Mask:   []bool{fits(0), fits(1), true},
	}
}

// Act starts a job, which takes no time, or ends the slot. The cost of a slot is the number of waiting jobs.
func (r *Rack) Act(action int) (learn.Outcome, error) {
	if action != endSlot {
		if r.waiting[action] == 0 || r.needs[action] > r.free {
			return learn.Outcome{}, errors.New("start a job: none waits, or it does not fit; heed the mask")
		}
		r.waiting[action]--
		r.free -= r.needs[action]
		return learn.Outcome{}, nil
	}
	cost := float64(r.waiting[0] + r.waiting[1])
	r.slot++
	r.begin()
	return learn.Outcome{Reward: -cost, Elapsed: 1, Done: r.slot == 20, Cut: r.slot == 20}, nil
}

// waits returns the mean number of waiting jobs under a policy. All policies get the same jobs.
func waits(choose func(learn.Observation) int) (sum float64) {
	const episodes = 50
	for seed := range uint64(episodes) {
		r := &Rack{}
		_ = r.Reset(rand.New(rand.NewPCG(seed, 7))) // it never fails
		for done := false; !done; {
			o, err := r.Act(choose(r.Observe()))
			if err != nil {
				return -1
			}
			sum, done = sum-o.Reward/(20*episodes), o.Done
		}
	}
	return sum
}

func Example_environment() {
	model, err := learn.NewMLP(learn.MLPOptions{Inputs: 3, Actions: 3, Hidden: []int{16}, Rate: 3e-3},
		rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		fmt.Println(err)
		return
	}
	likeliest := func(o learn.Observation) int {
		logits, _ := model.Score(o)
		return learn.Likeliest(learn.LogProbabilities(logits, o.Mask))
	}
	random := rand.New(rand.NewPCG(1, 1))
	drawn := waits(func(o learn.Observation) int {
		return learn.Sample(learn.LogProbabilities(make([]float64, 3), o.Mask), random)
	})

	var rollouts []*learn.Rollout
	for k := range 4 {
		rollouts = append(rollouts, learn.NewRollout(&Rack{}, model.Twin(), 1, uint64(k)))
	}
	for range 20 {
		steps, err := learn.PlayAll(context.Background(), rollouts, 256, 2)
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := learn.UpdatePPO(model, steps, learn.PPOOptions{Entropy: 0.01}, random); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("PPO: jobs wait less than half as long as with random actions:", waits(likeliest) < drawn/2)

	dqn, err := learn.NewDQN(learn.DQNOptions{Inputs: 3, Actions: 3, Hidden: []int{16}, Double: true, ExploreFor: 4000},
		1, &Rack{})
	if err == nil {
		err = dqn.Learn(context.Background(), 12_000)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("DQN: jobs wait less than half as long as with random actions:", waits(dqn.Best) < drawn/2)
	// Output:
	// PPO: jobs wait less than half as long as with random actions: true
	// DQN: jobs wait less than half as long as with random actions: true
}
