package execute

import (
	"sync"

	"graft/fleet/process"
	"graft/internal/files"
)

// sweeper kills processes that tasks leave behind, found by their environment. One scan of all processes of the machine
// serves every waiting task. It is safe for concurrent use.
type sweeper struct {
	fsys   files.FS
	clock  process.Clock
	folder string     // run folder of the executor
	turn   sync.Mutex // held during a round
	mu     sync.Mutex
	next   *round // not started; nil if no task waits
}

// round is a sweep of some tasks.
type round struct {
	tasks map[string]bool
	over  chan struct{}
	err   error
}

// sweep returns when a task has no process.
func (s *sweeper) sweep(task string) error {
	s.mu.Lock()
	r, first := s.next, s.next == nil
	if first {
		r = &round{tasks: make(map[string]bool), over: make(chan struct{})}
		s.next = r
	}
	r.tasks[task] = true
	s.mu.Unlock()
	if first {
		s.do(r)
	}
	<-r.over
	return r.err
}

func (s *sweeper) do(r *round) {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	s.next = nil // later tasks wait for another round
	s.mu.Unlock()
	r.err = process.Sweep(s.clock,
		func() ([]process.Found, error) { return s.find(func(task string) bool { return r.tasks[task] }) })
	close(r.over)
}

// find returns the processes of tasks.
func (s *sweeper) find(of func(task string) bool) (found []process.Found, err error) {
	all, err := process.With(s.fsys, []string{folderVariable + "=" + s.folder})
	for _, p := range all {
		if of(p.Variable(taskVariable)) {
			found = append(found, p)
		}
	}
	return found, err
}

// sweepAll kills the processes of all tasks.
func (s *sweeper) sweepAll() error {
	return process.Sweep(s.clock, func() ([]process.Found, error) { return s.find(func(string) bool { return true }) })
}
