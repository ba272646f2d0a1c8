package tasks

import "math/big"

// Summary holds means over episodes. Each mean is rounded once, as in Python's statistics module.
type Summary struct {
	Reward float64 // mean of the episodes' reward sums
	// sample standard deviation of the episodes' reward sums; 0 for fewer than two episodes
	Deviation float64
	Makespan  float64 // mean makespan, in steps
	Placed    float64 // mean number of tasks that got a GPU
	Tasks     float64 // mean number of tasks per episode
}

// EvaluationSeed is the seed of the 200 episodes in the published comparison of simple policies.
const EvaluationSeed = 12345

// Evaluate plays episodes whose tasks are drawn by one random generator with the given seed. For each episode k,
// counted from 0, it calls choose with seed k to create the policy.
func Evaluate(gpus, episodes int, seed uint64, choose func(seed uint64) Policy) (s Summary, err error) {
	e, err := NewEnv(EnvOptions{GPUs: gpus, Source: NewPython(seed)})
	if err != nil {
		return s, err
	}
	var rewards, makespans, placed, tasks []float64
	for k := range episodes {
		if err := e.Reset(nil); err != nil {
			return s, err
		}
		r, err := e.Play(choose(uint64(k)))
		if err != nil {
			return s, err
		}
		rewards, makespans = append(rewards, r.Reward), append(makespans, float64(r.Makespan))
		placed, tasks = append(placed, float64(r.Placed)), append(tasks, float64(r.Tasks))
	}
	s = Summary{Makespan: mean(makespans), Placed: mean(placed), Tasks: mean(tasks)}
	s.Reward, s.Deviation = mean(rewards), deviation(rewards)
	return s, nil
}

// exactMean returns the mean without rounding; zero if there are no values.
func exactMean(values []float64) *big.Rat {
	sum := new(big.Rat)
	for _, v := range values {
		sum.Add(sum, new(big.Rat).SetFloat64(v))
	}
	return sum.Mul(sum, big.NewRat(1, int64(max(1, len(values)))))
}

func mean(values []float64) float64 {
	m, _ := exactMean(values).Float64()
	return m
}

// rootBits is more than any quotient of squares of float64 needs to round a root correctly.
const rootBits = 300

// deviation returns the sample standard deviation, with its root rounded once.
func deviation(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	m, squares := exactMean(values), new(big.Rat)
	for _, v := range values {
		off := new(big.Rat).SetFloat64(v)
		off.Sub(off, m)
		squares.Add(squares, off.Mul(off, off))
	}
	squares.Mul(squares, big.NewRat(1, int64(len(values)-1)))
	root := new(big.Float).SetPrec(rootBits).SetRat(squares)
	d, _ := root.Sqrt(root).Float64()
	return d
}
