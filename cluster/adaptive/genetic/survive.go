package genetic

import (
	"cmp"
	"math"
	"slices"
)

// survive sorts the population into fronts of states that do not dominate each other, and keeps the first ones: whole
// fronts, and of the last front the states with the largest crowding distance.
func (s *search) survive(keep int) {
	o := &s.sorting
	o.sort(s.pop, s.scores)
	o.kept = o.kept[:0]
	for rank := 0; rank < len(o.fronts) && len(o.kept) < keep; rank++ {
		o.members(rank)
		o.crowding(rank)
		if room := keep - len(o.kept); len(o.list) > room {
			s.roomiest(room)
		}
		for _, m := range o.list {
			slot := s.pop[m.place]
			s.ranks[slot], s.crowds[slot] = int32(rank), m.crowd
			s.pop[m.place] = -1
			o.kept = append(o.kept, slot)
		}
	}
	for _, slot := range s.pop {
		if slot >= 0 {
			s.spare = append(s.spare, slot)
			o.places[slot] = -1
		}
	}
	s.pop = append(s.pop[:0], o.kept...)
	o.forget(s.pop)
}

// roomiest keeps the members of a front with the largest crowding distance, in random order on a tie.
func (s *search) roomiest(room int) {
	o := &s.sorting
	s.picks = s.picks[:0]
	for k := range o.list {
		s.picks = append(s.picks, int32(k))
	}
	s.draw.shuffle(s.picks)
	o.spare = o.spare[:0]
	for _, k := range s.picks {
		o.spare = append(o.spare, o.list[k])
	}
	slices.SortStableFunc(o.spare, func(a, b member) int { return cmp.Compare(a.crowd, b.crowd) })
	slices.Reverse(o.spare)
	o.list, o.spare = o.spare[:room], o.list
}

// ranked is a state of a population with its objectives.
type ranked struct {
	scores      objectives
	slot, place int32 // its slot, and its position in the population
}

// byObjectives compares by first objective, second objective and position.
func byObjectives(a, b ranked) int {
	switch {
	case a.scores[0] < b.scores[0]:
		return -1
	case a.scores[0] > b.scores[0]:
		return 1
	case a.scores[1] < b.scores[1]:
		return -1
	case a.scores[1] > b.scores[1]:
		return 1
	}
	return int(a.place - b.place)
}

// member is a state of a front.
type member struct {
	place, point int32 // position in the population, and the point of its objectives
	key          int32 // sort key of its front
	crowd        float64
}

func byKey(a, b member) int {
	if a.key != b.key {
		return int(a.key - b.key)
	}
	return int(a.place - b.place)
}

// point groups members with equal objectives.
type point struct {
	scores   objectives
	from, to int32 // range of its members
	last     int32 // position of its last member in the front
	counted  bool  // its first member has been visited
}

// sorting holds a population while it is sorted. Points of a front ascend in the first objective and therefore descend
// in the second.
type sorting struct {
	all    []ranked // sorted
	young  []ranked
	places []int32 // by slot: position in the population; negative for a slot that did not survive
	points []point
	fronts [][]int32 // points by front
	list   []member  // members of a front
	spare  []member
	kept   []int32
}

// sort finds the fronts of a population, whose first states are already sorted, in O(n log n) (Jensen, "Reducing the
// Run-Time Complexity of Multiobjective EAs", IEEE Transactions on Evolutionary Computation 7, 2003).
func (o *sorting) sort(pop []int32, scores []objectives) {
	young := o.young[:0]
	for place, slot := range pop[len(o.all):] {
		young = append(young, ranked{scores[slot], slot, int32(len(o.all) + place)})
	}
	slices.SortFunc(young, byObjectives)
	o.young = young
	o.merge(young)
	o.points, o.fronts = o.points[:0], o.fronts[:0]
	for k := range o.all {
		if k == 0 || o.all[k].scores != o.all[k-1].scores {
			o.points = append(o.points, point{scores: o.all[k].scores, from: int32(k)})
			o.place(len(o.points) - 1)
		}
		o.points[len(o.points)-1].to = int32(k + 1)
	}
}

// merge adds states to the sorted states.
func (o *sorting) merge(young []ranked) {
	at := len(o.all) - 1
	o.all = append(o.all, young...)
	for to, next := len(o.all)-1, len(young)-1; next >= 0; to-- {
		if at >= 0 && byObjectives(o.all[at], young[next]) > 0 {
			o.all[to] = o.all[at]
			at--
		} else {
			o.all[to] = young[next]
			next--
		}
	}
}

// forget keeps only the states of a population and updates their positions. They stay sorted except for ties.
func (o *sorting) forget(pop []int32) {
	for place, slot := range pop {
		o.places[slot] = int32(place)
	}
	all := o.all[:0]
	for _, e := range o.all {
		if e.place = o.places[e.slot]; e.place < 0 {
			continue
		}
		all = append(all, e)
		for k := len(all) - 1; k > 0 && byObjectives(all[k], all[k-1]) < 0; k-- {
			all[k], all[k-1] = all[k-1], all[k]
		}
	}
	o.all = all
}

// place adds a point to the first front whose last point does not dominate it.
func (o *sorting) place(k int) {
	rank, _ := slices.BinarySearchFunc(o.fronts, o.points[k].scores[1], func(front []int32, second float64) int {
		if o.points[front[len(front)-1]].scores[1] <= second {
			return -1
		}
		return 1
	})
	if rank == len(o.fronts) {
		o.fronts = slices.Grow(o.fronts, 1)[:rank+1]
		o.fronts[rank] = o.fronts[rank][:0]
	}
	o.fronts[rank] = append(o.fronts[rank], int32(k))
}

// members lists the members of a front in the order in which the algorithm of Deb et al. finds them: members of the
// first front by position, others when their last dominating member is visited.
func (o *sorting) members(rank int) {
	o.list = o.list[:0]
	for _, k := range o.fronts[rank] {
		key := int32(0)
		if rank > 0 {
			key = o.dominator(o.fronts[rank-1], o.points[k].scores)
		}
		for at := o.points[k].from; at < o.points[k].to; at++ {
			o.list = append(o.list, member{place: o.all[at].place, point: k, key: key})
		}
	}
	slices.SortFunc(o.list, byKey)
	for position, m := range o.list {
		o.points[m.point].last = int32(position)
	}
}

// dominator returns the position of the last member of a front that dominates a point.
func (o *sorting) dominator(front []int32, scores objectives) (last int32) {
	for _, k := range front {
		p := &o.points[k]
		if p.scores[0] > scores[0] {
			break
		}
		if p.scores[1] <= scores[1] {
			last = max(last, p.last)
		}
	}
	return last
}

// crowding computes the crowding distance of each member of a front. Among equal members only the first has one.
func (o *sorting) crowding(rank int) {
	front := o.fronts[rank]
	for k := range o.list {
		m := &o.list[k]
		p := &o.points[m.point]
		switch {
		case len(o.list) <= 2:
			m.crowd = math.Inf(1)
		case p.counted:
			m.crowd = 0
		default:
			p.counted = true
			at, _ := slices.BinarySearch(front, m.point)
			m.crowd = o.room(front, at)
		}
	}
}

// room returns the crowding distance of a point of a front.
func (o *sorting) room(front []int32, at int) (sum float64) {
	if at == 0 || at == len(front)-1 {
		return math.Inf(1)
	}
	first, last := o.points[front[0]].scores, o.points[front[len(front)-1]].scores
	before, here, after := o.points[front[at-1]].scores, o.points[front[at]].scores, o.points[front[at+1]].scores
	for k := range here {
		span := math.Abs(last[k] - first[k])
		sum += math.Abs(here[k]-before[k])/span + math.Abs(after[k]-here[k])/span
	}
	return sum / float64(len(here))
}
