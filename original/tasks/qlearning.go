package tasks

import "slices"

// Constants of the published Q-learning.
const (
	learningRate  = 0.1
	discount      = 0.9
	firstEpsilon  = 0.8
	epsilonFactor = 0.995 // of each episode
	leastEpsilon  = 0.01
)

// QTable holds values of processes that run after others.
type QTable struct {
	Values  [][]float64 // of the process of the column, after that of the row
	Epsilon float64     // chance of a random action in the next episode
}

// QLearning learns tabular values (Watkins and Dayan, Machine Learning 8, 1992) of the order of processes,
// for a number of episodes. An episode without an arrival at time 0 is skipped, and one ends as soon as no
// process is ready. Greedy actions take any process: before its arrival, which has a positive reward, or
// again, which has the reward of the first time and costs no time.
func QLearning(list []Process, episodes int, p *Python) QTable {
	q := QTable{Epsilon: firstEpsilon}
	for range list {
		q.Values = append(q.Values, make([]float64, len(list)))
	}
	for range episodes {
		if q.episode(list, p) {
			q.Epsilon = max(leastEpsilon, q.Epsilon*epsilonFactor)
		}
	}
	return q
}

// episode reports whether it was played.
func (q *QTable) episode(list []Process, p *Python) bool {
	now, ends := 0, make([]int, len(list)) // -1 before the end
	for k := range ends {
		ends[k] = -1
	}
	ready := func() (places []int) {
		for k, r := range list {
			if r.Arrival <= now && ends[k] < 0 {
				places = append(places, k)
			}
		}
		return places
	}
	places := ready()
	if len(places) == 0 {
		return false
	}
	for last := places[p.IntN(len(places))]; len(places) > 0; places = ready() {
		var next int
		if p.Float64() < q.Epsilon {
			next = places[p.IntN(len(places))]
		} else {
			next = slices.Index(q.Values[last], slices.Max(q.Values[last]))
		}
		if ends[next] < 0 {
			now += list[next].Burst
			ends[next] = now
		}
		c := completed(list[next], 0, ends[next])
		q.learn(last, next, float64(-c.Waiting-c.Turnaround))
		last = next
	}
	return true
}

func (q *QTable) learn(last, next int, reward float64) {
	v := &q.Values[last][next]
	*v += float64(learningRate * (reward + float64(discount*slices.Max(q.Values[next])) - *v))
}
