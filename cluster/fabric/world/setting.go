package world

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"graft/cluster"
	"graft/cluster/fabric"
	"graft/internal/stat"
)

// setting is the cluster of a point with some quirks. Cells share it and the steps that its episodes simulate.
type setting struct {
	file   *File
	point  *point
	quirks cluster.Quirks

	making sync.Once
	base   *fabric.Study
	failed error

	choosing sync.Mutex
	constant int // degree of BestConstant; zero until chosen
}

// settings caches the most recently used settings, since each holds simulated steps.
type settings struct {
	mutex sync.Mutex
	list  []*setting // most recent last
}

// setting returns the cluster of a point with some quirks.
func (s *simulations) setting(at int, quirks cluster.Quirks) *setting {
	all := &s.settings
	all.mutex.Lock()
	defer all.mutex.Unlock()
	p := &s.points[at]
	same := func(o *setting) bool { return o.point == p && slices.Equal(o.quirks, quirks) }
	one := &setting{file: s.File, point: p, quirks: quirks}
	if k := slices.IndexFunc(all.list, same); k >= 0 {
		one = all.list[k]
		all.list = slices.Delete(all.list, k, k+1)
	}
	all.list = append(all.list, one)
	if most := 1 + cmp.Or(s.Schedule.Workers, runtime.GOMAXPROCS(0)); len(all.list) > most {
		all.list = slices.Delete(all.list, 0, len(all.list)-most)
	}
	return one
}

// cluster builds the cluster once.
func (s *setting) cluster() (*fabric.Study, error) {
	s.making.Do(func() { s.base, s.failed = s.file.cluster(s.point, s.quirks) })
	return s.base, s.failed
}

// episode draws the jobs of an episode.
func (s *setting) episode(k int) (*fabric.Study, error) {
	base, err := s.cluster()
	if err != nil {
		return nil, err
	}
	return s.file.episode(base, s.point, k)
}

// play plays an episode to its end.
func (s *setting) play(ctx context.Context, episode int, d fabric.Decider) (*fabric.World, error) {
	jobs, err := s.episode(episode)
	if err != nil {
		return nil, err
	}
	w, err := fabric.NewWorld(jobs)
	if err != nil {
		return nil, err
	}
	return w, fabric.Play(ctx, w, d)
}

// bestConstant is the constant degree that blocks the fewest jobs over all episodes; the smallest such degree on a tie.
func (s *setting) bestConstant(ctx context.Context) (int, error) {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	if s.constant > 0 {
		return s.constant, nil
	}
	base, err := s.cluster()
	if err != nil {
		return 0, err
	}
	best, least := 0, math.Inf(1)
	for _, degree := range base.Offered() {
		blocked, err := s.meanBlocked(ctx, fabric.Constant{Parts: degree})
		if err != nil {
			return 0, err
		}
		if blocked < least {
			best, least = degree, blocked
		}
	}
	s.constant = best
	return best, nil
}

// meanBlocked is the mean share of blocked jobs over all episodes.
func (s *setting) meanBlocked(ctx context.Context, d fabric.Decider) (float64, error) {
	shares := make([]float64, s.file.Demand.TestCount)
	err := s.file.pool().Each(ctx, len(shares), func(k int) error {
		w, err := s.play(ctx, k, d)
		if err == nil {
			shares[k] = blockedShare(w)
		}
		return err
	}).First()
	return stat.Mean(shares), err
}
