package tasks

import (
	"cmp"
	"slices"
)

// Task requests shares of a GPU's compute and memory for a number of steps.
type Task struct {
	ID       int    `json:"id"`
	Kind     string `json:"type"`
	GPU      int    `json:"gpu_demand"`    // share of a GPU's compute, in percent
	Memory   int    `json:"memory_demand"` // share of a GPU's memory, in percent
	Duration int    `json:"duration"`      // duration in steps
	Priority int    `json:"priority"`      // priority; tasks with larger values come first
}

// Source draws integers from 0 to n-1. Both [Python] and Rand of math/rand/v2 implement Source.
type Source interface{ IntN(n int) int }

func between(s Source, low, high int) int { return low + s.IntN(high-low+1) }

// kind is a type of task with the ranges of its numbers, both ends inclusive.
type kind struct {
	name                            string
	gpu, memory, duration, priority [2]int
}

// kinds are the published types, in the order in which they are drawn.
var kinds = [...]kind{
	{"image_classification", [2]int{20, 40}, [2]int{10, 30}, [2]int{5, 10}, [2]int{1, 3}},
	{"lstm_training", [2]int{30, 50}, [2]int{40, 60}, [2]int{7, 15}, [2]int{2, 4}},
	{"cnn_training", [2]int{50, 80}, [2]int{30, 50}, [2]int{10, 20}, [2]int{3, 5}},
}

// Minimum and maximum number of tasks in an episode.
const (
	fewestTasks = 40
	mostTasks   = 50
)

// DrawTask generates a random task: first its type, then its GPU and memory demand, its duration and its priority.
func DrawTask(id int, s Source) Task {
	k := &kinds[s.IntN(len(kinds))]
	of := func(r [2]int) int { return between(s, r[0], r[1]) }
	t := Task{ID: id, Kind: k.name}
	t.GPU, t.Memory, t.Duration, t.Priority = of(k.gpu), of(k.memory), of(k.duration), of(k.priority)
	return t
}

// DrawTasks generates the 40 to 50 tasks of an episode and appends them to a list.
func DrawTasks(to []Task, s Source) []Task {
	for id := range between(s, fewestTasks, mostTasks) {
		to = append(to, DrawTask(id, s))
	}
	return to
}

// byPriority sorts tasks in place, the largest priority first; equal ones keep their order.
func byPriority(list []Task) {
	slices.SortStableFunc(list, func(a, b Task) int { return cmp.Compare(b.Priority, a.Priority) })
}
