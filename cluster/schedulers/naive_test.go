package schedulers

import (
	"math"
	"slices"

	"graft/cluster"
	"graft/cluster/lucid"
	"graft/cluster/schedtest"
	"graft/cluster/trace"
)

// This file has the reference simulator. It ticks: in each second it sorts plain lists and subtracts the rate from the
// work, exactly as the rules say. The event-driven simulator must give the same results.

// tjob is a job of the reference.
type tjob struct {
	*trace.Job
	index                int // position in the trace
	arrival, waits       int64
	estimate, priority   float64
	remain, rate         float64
	attained             int
	start, end, queue    int64
	preempted            int
	nodes                []tshare
	profiled, skipped    bool
	profQueue            int64
	exclusive, packed    bool
	packedAt, unpackedAt int64
	factor               float64 // rate factor of its type of nodes
	ending               bool
	changes              []cluster.Change
}

// ticker simulates a pool second by second.
type ticker struct {
	kind, placement string
	quirks          cluster.Quirks
	extra           bool
	each            int
	nodes           []*tnode
	gone            []int // types of removed nodes
	removed         bool
	renamed         bool
	time, until     int64
	come            []*tjob // jobs that have not arrived
	que, run        []*tjob
	ended           int
	fresh           int // arrivals in this second

	study     *cluster.Study
	gpusAhead *window
	jobsAhead *window
	adaptive  bool
	base      int // number of nodes of the profiler
	largest   int // maximum number of devices of a job in the profiler
	scalings  []schedtest.Scaling

	horizon   int64 // second up to which used and all are counted
	used, all float64
	usage     []cluster.Usage
	quiet     int
}

func keeps(quirks cluster.Quirks, name string) bool { return slices.Contains(quirks, name) }

func newTicker(kind string, nodes int, c *cluster.Study, o cluster.Options, jobs []*tjob) *ticker {
	s := &ticker{kind: kind, placement: o.Placement, quirks: o.Quirks, each: c.PerNode, study: c, come: jobs,
		time: c.Begin, horizon: horizon(c)}
	s.extra = keeps(o.Quirks, "extra-second") && slices.Contains([]string{"srtf", "tiresias", "lucid"}, kind)
	s.base = nodes
	for k := range nodes {
		s.add(k)
	}
	if c.Forecast != nil {
		s.gpusAhead, s.jobsAhead = newWindow(c.Forecast, c.Forecast.GPUs), newWindow(c.Forecast, c.Forecast.Jobs)
	}
	return s
}

// horizon returns the second up to which the use of devices is counted.
func horizon(s *cluster.Study) int64 { return s.Jobs[len(s.Jobs)-1].Submit }

// simulate ticks until all jobs have ended. It returns false if some jobs never end.
func (s *ticker) simulate() bool {
	jobs := len(s.come)
	if jobs == 0 && s.until <= s.time {
		s.usage = append(s.usage, s.sample())
		return true
	}
	for {
		s.work()
		s.finish()
		s.arrive()
		s.schedule()
		for !s.extra && slices.ContainsFunc(s.run, func(j *tjob) bool { return j.remain <= 0 }) {
			s.work0()
			s.finish()
			s.fresh = 0
			s.schedule()
		}
		for s.kind != "profiler" && len(s.scalings) > 0 && s.scalings[0].At == s.time {
			s.scale(s.scalings[0].Nodes)
			s.scalings = s.scalings[1:]
		}
		u := s.sample()
		s.usage = append(s.usage, u)
		if s.ended == jobs && s.time >= s.until {
			return true
		}
		if s.stuck() {
			return false
		}
		if s.time < s.horizon {
			s.used += float64(u.GPUs - u.Idle)
			s.all += float64(u.GPUs)
		}
		s.time++
	}
}

// stuck reports whether nothing has happened for a long time and no event is pending.
func (s *ticker) stuck() bool {
	s.quiet++
	last := int64(0)
	if f := s.study.Forecast; f != nil && len(f.At) > 0 {
		last = f.At[len(f.At)-1]
	}
	if len(s.run) > 0 || len(s.come) > 0 || len(s.scalings) > 0 && s.kind != "profiler" || s.time < max(last, s.until) {
		s.quiet = 0
	}
	return s.quiet > 300
}

// work subtracts the past second from the work of running jobs.
func (s *ticker) work() {
	for _, j := range s.run {
		if s.extra && j.remain <= 0 {
			j.ending = true
			continue
		}
		j.remain -= j.rate
		j.attained += j.GPUs
	}
	s.work0()
}

// work0 marks jobs without remaining work.
func (s *ticker) work0() {
	for _, j := range s.run {
		j.ending = j.ending || !s.extra && j.remain <= 0
	}
}

func (s *ticker) finish() {
	for _, j := range slices.Clone(s.run) {
		if !j.ending {
			continue
		}
		j.end = s.time
		s.note(j, "end", j.rate)
		if !j.exclusive {
			s.unpack(j)
		}
		s.release(j)
		s.run = without(s.run, j)
		s.ended++
	}
}

// unpack ends the sharing of devices. Quirk slow-partner frees the first job on them instead of the remaining job.
func (s *ticker) unpack(j *tjob) {
	node := s.node(j.nodes[0].node)
	freed := false
	for _, e := range node.jobs {
		if !slices.Equal(e.gpus, j.nodes[0].gpus) {
			continue
		}
		if !freed && (keeps(s.quirks, "slow-partner") || e.job != j) {
			e.job.exclusive, e.job.rate, e.job.unpackedAt, freed = true, e.job.factor, s.time, true
		}
		if e.job != j {
			s.note(e.job, "unpack", e.job.rate)
		}
	}
}

func (s *ticker) arrive() {
	s.fresh = 0
	for len(s.come) > 0 && s.come[0].arrival == s.time {
		j := s.come[0]
		j.waits = s.time
		s.que = append(s.que, j)
		s.come = s.come[1:]
		s.fresh++
	}
}

func (s *ticker) schedule() {
	switch s.kind {
	case "fifo":
		s.inOrder(func(a, b *tjob) bool { return a.Submit < b.Submit })
	case "sjf":
		s.inOrder(func(a, b *tjob) bool { return a.Duration < b.Duration })
	case "edf":
		s.inOrder(func(a, b *tjob) bool { return deadline(a) < deadline(b) })
	case "qssf":
		s.sort(func(a, b *tjob) bool { return a.GPUs < b.GPUs })
		if len(s.que) > s.fresh || !keeps(s.quirks, "size-first") {
			s.sort(func(a, b *tjob) bool { return a.priority < b.priority })
		}
		s.inOrder(nil)
	case "srtf":
		list := slices.Concat(s.que, s.run)
		stable(list, func(a, b *tjob) bool { return math.Trunc(a.remain) < math.Trunc(b.remain) })
		s.selected(list)
	case "tiresias":
		if s.time%60 == 0 {
			s.tiresias()
		}
	case "profiler":
		s.inOrder(func(a, b *tjob) bool { return a.GPUs < b.GPUs })
		s.resize()
	case "lucid":
		s.lucid()
	}
}

func deadline(j *tjob) int64 {
	if j.Limit == 0 {
		return cluster.Never
	}
	return j.Submit + j.Limit
}

func stable(list []*tjob, less func(a, b *tjob) bool) {
	slices.SortStableFunc(list, func(a, b *tjob) int {
		switch {
		case less(a, b):
			return -1
		case less(b, a):
			return 1
		}
		return 0
	})
}

func (s *ticker) sort(less func(a, b *tjob) bool) { stable(s.que, less) }

// inOrder starts jobs up to the first one without a placement.
func (s *ticker) inOrder(less func(a, b *tjob) bool) {
	if less != nil {
		s.sort(less)
	}
	for _, j := range slices.Clone(s.que) {
		if !s.start(j) {
			return
		}
	}
}

func (s *ticker) tiresias() {
	var first, second []*tjob
	for _, j := range slices.Concat(s.run, s.que) {
		if j.attained <= 18000 {
			first = append(first, j)
		} else {
			second = append(second, j)
		}
	}
	bySubmit := func(a, b *tjob) bool { return a.Submit < b.Submit }
	stable(first, bySubmit)
	stable(second, bySubmit)
	s.selected(slices.Concat(first, second))
}

// selected admits jobs in order up to the number of devices, and preempts the running jobs that are not admitted.
func (s *ticker) selected(list []*tjob) {
	quota, of := s.devices(), map[int]int{}
	for _, n := range s.nodes {
		of[n.kind] += len(n.users)
	}
	var start, stop []*tjob
	for _, j := range list {
		running := slices.Contains(s.run, j)
		kinds := s.kinds(j)
		if running {
			kinds = []int{s.node(j.nodes[0].node).kind}
		}
		fits := len(kinds) > 1 || of[kinds[0]] >= j.GPUs
		switch {
		case j.GPUs <= quota && fits:
			quota -= j.GPUs
			if len(kinds) == 1 {
				of[kinds[0]] -= j.GPUs
			}
			if !running {
				start = append(start, j)
			}
		case running:
			stop = append(stop, j)
		}
	}
	for _, j := range stop {
		j.preempted++
		j.waits = s.time
		j.remain += 40
		if j.GPUs > 8 {
			j.remain += 20
		}
		s.release(j)
		s.run, s.que = without(s.run, j), append(s.que, j)
		s.note(j, "preempt", j.rate)
	}
	for _, j := range start {
		s.start(j)
	}
}

// resize adds and removes nodes of the profiler.
func (s *ticker) resize() {
	switch {
	case s.time%10 == 0 && len(s.que) > 10 && len(s.nodes) == s.base:
		s.add(lucid.Temporary)
		s.scalings = append(s.scalings, schedtest.Scaling{At: s.time, Nodes: 1})
	case s.time%100 == 0 && len(s.que) < 5 && len(s.nodes) == s.base+1 && len(s.node(lucid.Temporary).jobs) == 0:
		if s.gpusAhead.future(s.time, -1) <= float64(5*s.largest) {
			s.scale(-1)
			s.scalings = append(s.scalings, schedtest.Scaling{At: s.time, Nodes: -1})
		}
	}
}

func (s *ticker) lucid() {
	s.sort(func(a, b *tjob) bool { return a.priority < b.priority })
	if s.time%100 == 0 {
		s.adaptive = s.study.Forecast == nil || !(s.jobsAhead.future(s.time, 10) <= 2)
	}
	if !s.adaptive {
		s.inOrder(nil)
		return
	}
	for _, j := range slices.Clone(s.que) {
		if host := s.host(j); host != nil {
			s.pack(j, host)
		} else {
			s.start(j)
		}
	}
}

// host returns the first job whose devices j can share.
func (s *ticker) host(j *tjob) *tjob {
	score, known := s.study.Profiles.Scores[cluster.ConfigOf(j.Job)]
	for _, r := range s.run {
		other, knownToo := s.study.Profiles.Scores[cluster.ConfigOf(r.Job)]
		if j.GPUs <= 8 && r.exclusive && slices.Contains(s.kinds(j), s.node(r.nodes[0].node).kind) &&
			r.GPUs == j.GPUs && r.Trains().Memory < 24576-j.Trains().Memory &&
			known && knownToo && score+other <= 2 && j.priority <= 2*r.priority {
			return r
		}
	}
	return nil
}

func (s *ticker) pack(j, host *tjob) {
	a, b := cluster.ConfigOf(j.Job), cluster.ConfigOf(host.Job)
	rates, there := s.study.Profiles.Pairs[[2]cluster.Config{a, b}]
	if other, turned := s.study.Profiles.Pairs[[2]cluster.Config{b, a}]; !there && turned {
		rates = [2]float64{other[1], other[0]}
	} else if !there {
		rates = [2]float64{1, 1}
	}
	for _, model := range []string{"NeuMF", "ResNet50", "BERT", "Transformer"} {
		if keeps(s.quirks, "four-models") && (model == a.Model || model == b.Model) {
			rates = [2]float64{1, 1}
		}
	}
	j.exclusive, host.exclusive, j.packed = false, false, true
	j.factor = s.factor(j, s.node(host.nodes[0].node).kind)
	j.rate, host.rate = rates[0]*j.factor, rates[1]*host.factor
	j.packedAt = s.time
	s.occupy(j, slices.Clone(host.nodes))
	s.note(j, "start", j.rate)
	s.note(host, "pack", host.rate)
}

func (s *ticker) start(j *tjob) bool {
	shares := s.place(j)
	if shares == nil {
		return false
	}
	j.factor = s.factor(j, s.node(shares[0].node).kind)
	j.rate = j.factor
	s.occupy(j, shares)
	s.note(j, "start", j.rate)
	return true
}

func (s *ticker) occupy(j *tjob, shares []tshare) {
	j.nodes = shares
	for _, share := range shares {
		n := s.node(share.node)
		for _, g := range share.gpus {
			n.users[g] = append(n.users[g], j)
		}
		n.jobs = append(n.jobs, tentry{j, share.gpus})
	}
	if j.start == cluster.Never {
		j.start = s.time
	}
	j.queue += s.time - j.waits
	s.que, s.run = without(s.que, j), append(s.run, j)
}

func (s *ticker) release(j *tjob) {
	for _, share := range j.nodes {
		n := s.node(share.node)
		for _, g := range share.gpus {
			n.users[g] = without(n.users[g], j)
		}
		n.jobs = slices.DeleteFunc(n.jobs, func(e tentry) bool { return e.job == j })
	}
}

func without(list []*tjob, j *tjob) []*tjob {
	return slices.DeleteFunc(list, func(other *tjob) bool { return other == j })
}

func (s *ticker) note(j *tjob, what string, rate float64) {
	j.changes = append(j.changes, cluster.Change{At: s.time, What: what, GPUs: j.GPUs, Rate: rate})
}

func (s *ticker) sample() cluster.Usage {
	u := cluster.Usage{At: s.time, GPUs: int64(s.devices()), Running: int64(len(s.run)),
		Waiting: int64(len(s.que)), Nodes: int64(len(s.nodes))}
	for _, n := range s.nodes {
		u.Idle += int64(len(n.free()))
		switch {
		case len(n.jobs) == 1:
			u.Single++
		case len(n.jobs) > 1:
			u.Several++
		}
	}
	for _, j := range s.que {
		u.WaitingGPUs += int64(j.GPUs)
		if j.GPUs <= s.widest() {
			u.WaitingFew++
		}
	}
	return u
}

// must returns the value of a call that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
