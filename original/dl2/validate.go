package dl2

import (
	"context"
	"fmt"
	"math"

	"graft/cluster/elastic"
)

// Validation holds the results of a policy on the validation workloads. Results are means over workloads; times are in
// slots.
type Validation struct {
	MeanJCT    float64 // mean time from arrival to completion of a job, in slots
	Makespan   float64 // end of the last job, in slots
	MeanReward float64 // mean reward of a slot
	// number of jobs, in all workloads, that were unfinished when an episode was truncated; they count as completed
	// at that time
	Unfinished int
}

// Validate runs the policy on the validation workloads. All validations draw from the same random stream, so each
// validation gets different random numbers. An error leaves the trainer unchanged.
func (t *Trainer) Validate(ctx context.Context) (v Validation, err error) {
	was := *t.random
	n := float64(len(t.validation))
	for k, s := range t.validation {
		one, err := t.validate(ctx, s)
		if err != nil {
			*t.random = was
			return v, fmt.Errorf("validation workload %d: %w", k, err)
		}
		v.MeanJCT += one.MeanJCT / n
		v.Makespan += one.Makespan / n
		v.MeanReward += one.MeanReward / n
		v.Unfinished += one.Unfinished
	}
	if n > 0 {
		t.figures["validation_jct"], t.figures["validation_makespan"] = v.MeanJCT, v.Makespan
		t.figures["validation_reward"], t.figures["validation_unfinished"] = v.MeanReward, float64(v.Unfinished)
	}
	return v, nil
}

func (t *Trainer) validate(ctx context.Context, s elastic.Study) (v Validation, err error) {
	o := EnvOptions{ShapeOptions: t.o.Shape, Likeliest: t.o.Validation.Likeliest, MostSlots: t.o.Workloads.MostSlots}
	e, err := newEnv(s, o, t.random, newNoise(&s, t.random))
	if err != nil {
		return v, err
	}
	pass := t.newest.policy.NewPass(1)
	for !e.Done() {
		taken, err := e.Step(probabilities(pass, e.Observe()))
		if err != nil {
			return v, err
		}
		if taken.Ended {
			if err := ctx.Err(); err != nil {
				return v, err
			}
		}
	}
	return outcome(&s, e.Result()), nil
}

// outcome returns the outcome of an episode, which may have unfinished jobs.
func outcome(s *elastic.Study, r *elastic.Result) Validation {
	v := Validation{MeanReward: r.MeanReward, Makespan: r.Makespan, Unfinished: len(s.Jobs) - len(r.Completions)}
	done, sum := map[int]bool{}, 0.0
	for _, c := range r.Completions {
		done[c.ID] = true
		sum += c.JCT
	}
	for _, j := range s.Jobs {
		if !done[j.ID] {
			sum += float64(max(0, r.Slots-j.Arrival))
			v.Makespan = float64(r.Slots)
		}
	}
	v.MeanJCT = sum / float64(len(s.Jobs))
	return v
}

// FigureNames returns the names of the values that [Trainer.Figures] returns, in order.
func FigureNames() []string {
	return []string{"imitated", "reinforced", "imitation_loss", "entropy", "policy_loss", "value_loss", "error",
		"reward", "epsilon", "training_jct", "training_makespan", "validation_jct", "validation_makespan",
		"validation_reward", "validation_unfinished", "best_jct"}
}

// Figures returns a point of the learning curve: the numbers of updates in both phases; values of the last update
// (losses, mean entropy of the policy in nats, mean absolute error of rewards); means over agents (reward of the last
// slot, probability of a random action, mean JCT and makespan of the last workload); results of the last validation;
// and the lowest mean JCT of all validations that Advance ran. Times are in slots. Unknown values are NaN.
func (t *Trainer) Figures() ([]float64, error) {
	var all []float64
	for _, name := range FigureNames() {
		all = append(all, t.figure(name))
	}
	return all, nil
}

func (t *Trainer) figure(name string) float64 {
	switch name {
	case "imitated":
		return float64(t.at.Imitated)
	case "reinforced":
		return float64(t.at.Reinforced)
	}
	if v, known := t.figures[name]; known {
		return v
	}
	return math.NaN()
}
