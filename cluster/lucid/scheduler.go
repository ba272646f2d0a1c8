package lucid

import (
	"slices"

	"graft/cluster"
	"graft/cluster/treap"
	"graft/internal/events"
)

// scheduler schedules a pool. A class groups equal jobs: equal devices, memory and score. If one job of a class does
// not fit, the later ones do not fit either.
type scheduler struct {
	profiles *cluster.Profiles
	slow     bool // the quirk slow-partner is kept
	arena    treap.Arena
	classes  map[class]*members
	sizes    map[int]*size
	sorted   []*size // in order of first use
	came     int64
	packing  bool                  // now
	varied   bool                  // a size may hold jobs that fit and jobs that do not
	turns    []int64               // seconds at which packing begins or ends, in turn
	heads    events.Heap[*members] // classes that a pass has still to visit, ordered by their next job
}

type class struct {
	gpus   int
	beside string  // requested resources except whole devices
	memory float64 // MiB
	score  int
}

const unknownScore = 99

type members struct {
	class
	*size
	demand  int64         // of each job, in thousandths of a device
	waiting *treap.Tree   // by priority
	open    bool          // it may have a job that can be packed
	at      *cluster.Job  // next job to try in a pass
	place   events.Handle // position in heads; zero for none
}

type size struct {
	members []*members
	alone   []loner // in order of start
	open    bool    // a member may have a job that can be packed
}

// loner is a job that runs alone, so that another can be packed onto it.
type loner struct {
	job *cluster.Job
	class
}

// Limits of packing: the largest number of devices, the largest sum of both scores, the memory of a device, and the
// largest ratio of the new job's priority to the priority of the running job.
const (
	packableGPUs   = 8
	packableScore  = 2
	packableMemory = 24_576 // MiB
	packableTimes  = 2
)

func newScheduler(s cluster.Setup) (cluster.Scheduler, error) {
	return &scheduler{
		profiles: s.Study.Profiles, slow: s.Quirks.Keeps(slowPartner),
		classes: map[class]*members{}, sizes: map[int]*size{},
		varied: s.Varied,
		turns:  turns(s.Study.Forecast, s.Study.Begin),
	}, nil
}

const (
	decideEvery = 100 // seconds between two checks of the forecast
	packAbove   = 2   // expected jobs in ten minutes; with fewer, no jobs are packed
)

// turns returns the seconds at which packing begins and ends, in turn, beginning first.
func turns(f *cluster.Forecast, begin int64) (list []int64) {
	packing, next := false, 0
	for at := notBefore(begin); ; {
		if now := f == nil || !(f.Ahead(f.Jobs, at) <= packAbove); now != packing {
			list, packing = append(list, at), now
		}
		if f == nil {
			break
		}
		// The forecast changes with the next span, which the next check reads.
		for next < len(f.At) && f.At[next] <= at {
			next++
		}
		if next == len(f.At) {
			break
		}
		at = notBefore(f.At[next])
	}
	return list
}

// notBefore is the first check of the forecast at or after a second.
func notBefore(at int64) int64 { return (at + decideEvery - 1) / decideEvery * decideEvery }

func (s *scheduler) Arrived(j *cluster.Job) {
	j.Priority = j.DeviceSeconds(j.Estimate)
	Of(j).Shared = false // it shared its devices if it arrives again after a failure
	m := s.membersOf(s.classOf(j), j.Demand())
	m.waiting.Put(j, treap.Key{events.Float(j.Priority), s.came, 0})
	if m.waiting.Next(nil, j.Demand()) == j {
		m.opened()
	}
	s.came++
}

func (s *scheduler) classOf(j *cluster.Job) class {
	if j.GPUs > packableGPUs || j.Share() > 0 {
		return class{gpus: j.GPUs, beside: j.Beside(), score: unknownScore}
	}
	score, known := s.profiles.Scores[cluster.ConfigOf(j.Trace)]
	if !known {
		score = unknownScore
	}
	return class{gpus: j.GPUs, beside: j.Beside(), memory: j.Trace.Trains().Memory, score: score}
}

func (s *scheduler) membersOf(c class, demand int64) *members {
	if m := s.classes[c]; m != nil {
		return m
	}
	z := s.sizes[c.gpus]
	if z == nil {
		z = &size{}
		s.sizes[c.gpus] = z
		s.sorted = append(s.sorted, z)
	}
	m := &members{class: c, size: z, demand: demand, waiting: s.arena.Tree()}
	s.classes[c] = m
	z.members = append(z.members, m)
	return m
}

func (s *scheduler) Ended(j *cluster.Job) {
	z := s.sizes[j.GPUs]
	if at := slices.IndexFunc(z.alone, func(l loner) bool { return l.job == j }); at >= 0 {
		z.alone = slices.Delete(z.alone, at, at+1)
	}
	if s.varied {
		s.reopen() // devices are free that a job lacked
	}
	s.part(j)
}

// part frees the partner of a job that has ended. With the quirk slow-partner it frees the host of the two, even if the
// host has ended.
func (s *scheduler) part(j *cluster.Job) {
	known := Of(j)
	other := known.partner
	if known.Shared && s.slow && (other == nil || !known.Packed) {
		known.Shared, known.UnpackedAt, known.alone = false, j.End, true
	} else if other != nil {
		Of(other).Shared, Of(other).UnpackedAt = false, j.End
	}
	if other == nil {
		return
	}
	known.partner, Of(other).partner = nil, nil
	if !Of(other).Shared {
		s.alone(other, nil)
	}
}

// alone notes that others can be packed onto a job. It opens the waiting classes that qualify; within a pass, from the
// pass's position.
func (s *scheduler) alone(j *cluster.Job, from *treap.Key) {
	l := loner{j, s.classOf(j)}
	if l.score > packableScore {
		return
	}
	z := s.sizes[j.GPUs]
	at := len(z.alone)
	for at > 0 && z.alone[at-1].job.Order() > j.Order() {
		at--
	}
	z.alone = slices.Insert(z.alone, at, l)
	for _, m := range z.members {
		if !m.packable(l) {
			continue
		}
		m.opened()
		if from != nil && m.place == 0 {
			s.enter(m, m.waiting.Next(from, m.demand))
		}
	}
}

// packable reports whether jobs of a class can be packed onto a job, ignoring priority.
func (c class) packable(l loner) bool {
	return l.memory < packableMemory-c.memory && l.score+c.score <= packableScore
}

func (s *scheduler) Schedule(p *cluster.Pool) int64 {
	for len(s.turns) > 0 && s.turns[0] <= p.Now() {
		s.turns, s.packing = s.turns[1:], !s.packing
		s.reopen()
	}
	if p.Waiting() == 0 {
		return cluster.Never
	}
	started := s.pass(p)
	switch {
	case p.Waiting() == 0:
		return cluster.Never
	case started:
		return p.Now() + 1
	case len(s.turns) > 0:
		return s.turns[0]
	}
	return cluster.Never
}

func (s *scheduler) reopen() {
	for _, z := range s.sorted {
		for _, m := range z.members {
			m.opened()
		}
	}
}

// opened notes that a class may have a job that can be packed.
func (m *members) opened() { m.open, m.size.open = true, true }

// pass tries the jobs that may find a place, in order.
func (s *scheduler) pass(p *cluster.Pool) (started bool) {
	s.begin(p)
	for _, m, some := s.heads.Head(); some; _, m, some = s.heads.Head() {
		j := m.at
		at := *m.waiting.KeyOf(j)
		switch {
		case s.packing && m.open && s.pack(p, m, j):
			m.waiting.Take(j)
			s.move(m, &at)
			started = true
		case p.Start(j):
			m.waiting.Take(j)
			s.move(m, &at)
			started = true
			if from := &at; s.packing {
				s.alone(j, from)
			} else {
				s.alone(j, nil)
			}
		case !s.packing:
			for s.heads.Len() > 0 {
				_, m, _ := s.heads.Pop()
				m.place = 0
			}
		default:
			m.open = m.open && m.waiting.Next(nil, m.demand) != j // if the first job has no partner, no other job has
			s.leave(m)
		}
	}
	return started
}

// begin collects the first job of each class that may have a job that fits.
func (s *scheduler) begin(p *cluster.Pool) {
	for _, z := range s.sorted {
		seen, fits := false, !s.packing
		z.open = z.open && s.packing
		open := false
		for _, m := range z.members {
			if m.waiting.Empty() {
				m.open = false // the next arrival becomes the first, and reopens it
				continue
			}
			first := m.waiting.Next(nil, m.demand)
			if s.packing && (!seen || s.varied) { // jobs of a size fit all or not at all
				seen, fits = true, p.Fits(first)
			}
			if !fits && !z.open {
				if s.varied {
					continue
				}
				break
			}
			if fits || m.open {
				open = open || m.open
				s.enter(m, first)
			}
		}
		z.open = open
	}
}

// pack puts a job onto the first suitable job that runs alone.
func (s *scheduler) pack(p *cluster.Pool, m *members, j *cluster.Job) bool {
	for k, l := range m.alone {
		if !m.packable(l) || j.Priority > packableTimes*l.job.Priority {
			continue
		}
		if !p.Pack(j, l.job) {
			continue
		}
		guest, host := Of(j), Of(l.job)
		guest.partner, host.partner = l.job, j
		guest.Shared, host.Shared, guest.Packed, guest.PackedAt = true, true, true, p.Now()
		m.alone = slices.Delete(m.alone, k, k+1)
		return true
	}
	return false
}

// enter schedules the pass's visit of a class at a job; nil does nothing.
func (s *scheduler) enter(m *members, j *cluster.Job) {
	if m.at = j; j != nil {
		m.place = s.heads.Push(*m.waiting.KeyOf(j), m)
	}
}

// leave removes a class from the pass.
func (s *scheduler) leave(m *members) {
	s.heads.Remove(m.place)
	m.place = 0
}

// move schedules the pass's visit of a class at the next job after a position.
func (s *scheduler) move(m *members, behind *treap.Key) {
	if m.at = m.waiting.Next(behind, m.demand); m.at == nil {
		s.leave(m)
		return
	}
	s.heads.Move(m.place, *m.waiting.KeyOf(m.at))
}
