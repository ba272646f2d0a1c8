package sweep

import (
	"errors"
	"fmt"
	"strings"

	"graft/config"
	"graft/internal/failure"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/train"
	"graft/runner/workers"
)

// casesOf lists the cases in the options: the product of the file's cases and the sweeps.
func casesOf(env *app.Env, o Options) ([]config.Case, error) {
	if o.Seeds < 0 {
		return nil, failure.Usagef("option \"seeds\" is %d; must be at least 1", o.Seeds)
	}
	grid, err := config.GridCases(o.Sweep)
	if err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	if err := sweptOnce(grid[0].Set, o.Set, "option \"set\""); err != nil {
		return nil, err
	}
	if o.Cases == "" {
		if len(o.Sweep) == 0 {
			grid[0].Name = config.AsGiven
		}
		return grid, nil
	}
	named, err := config.ReadCases(env.Files, o.Cases)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	if len(o.Sweep) == 0 {
		return named, nil
	}
	for _, c := range named {
		if err := sweptOnce(grid[0].Set, c.Set, "case "+c.Name); err != nil {
			return nil, err
		}
	}
	if len(named)*len(grid) > config.MostTrials {
		return nil, failure.Usagef("%d cases and %d combinations of option \"sweep\" give too many trials; "+
			"the maximum is %d trials", len(named), len(grid), config.MostTrials)
	}
	return config.CombineCases(named, grid), nil
}

// sweptOnce returns an error if a swept key, or a key of a swept table, is also assigned elsewhere, because the sweep
// would replace the value.
func sweptOnce(swept, others []string, where string) error {
	keyOf := func(set string) string {
		key, _, _ := strings.Cut(set, "=")
		return strings.TrimSpace(key)
	}
	for _, set := range swept {
		for _, other := range others {
			key := keyOf(other)
			if key == keyOf(set) {
				return failure.Usagef("%s is swept, but %s sets it too; remove one of them", key, where)
			}
			if strings.HasPrefix(key, keyOf(set)+".") {
				return failure.Usagef("%s is swept, which would replace %s of %s; add it to each value of the sweep",
					keyOf(set), key, where)
			}
		}
	}
	return nil
}

// planCases checks all cases, and plans their trials.
func (s *sweep) planCases(path string, o Options, cases []config.Case) error {
	var faults []error
	for _, c := range cases {
		if _, err := s.add(path, o, c, s.seeds(max(1, o.Seeds), 0)); err != nil {
			faults = append(faults, c.Located(err))
		}
	}
	return runs.AsConfigFault(config.JoinCases(faults))
}

// seeds returns n seeds from run.seed on, after a number of other seeds.
func (s *sweep) seeds(n, after int) (list []int64) {
	for k := range n {
		list = append(list, s.Run.Seed+int64(after+k))
	}
	return list
}

// add checks a case, and adds it to the plan.
func (s *sweep) add(path string, o Options, c config.Case, seeds []int64) (*runs.SweepCase, error) {
	job, err := s.file.Sweep(append(workers.Assigned(o.Set, o.Engine, o.Workers), c.Set...))
	if err != nil {
		return nil, err
	}
	for _, set := range c.Set {
		if key, _, _ := strings.Cut(set, "="); strings.TrimSpace(key) == "run.seed" {
			return nil, failure.Usagef("run.seed is set for each trial; use option \"seeds\" instead")
		}
	}
	job.Run.Folder, job.Run.Listen, job.Run.Seed = "", "", s.Run.Seed // each trial has its own folder
	if err := s.checkSeeds(&job.Job, seeds, o.Resume); err != nil {
		return nil, err
	}
	added := &runs.SweepCase{Shared: job.SharedBySeeds(), Name: c.Name, Set: append([]string{}, c.Set...),
		Key: c.Key(func(key string) bool { return s.jobs[key] != nil }), Digest: job.Job.Digest(), Seeds: seeds}
	if added.Weights, err = s.weightsOf(&job.Job, seeds); err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	s.plan.Cases = append(s.plan.Cases, added)
	s.jobs[added.Key] = &job.Job
	return added, nil
}

// weightsOf returns the digest of the weight file of each seed; nil without initial weights.
func (s *sweep) weightsOf(job *config.Job, seeds []int64) (digests []string, err error) {
	if job.Network.Weights == "" {
		return nil, nil
	}
	for k, seed := range seeds {
		if k > 0 && !job.WeightsBySeed() {
			digests = append(digests, digests[0])
			continue
		}
		digest, err := job.WeightsDigest(s.env.FileDigests(), seed)
		if err != nil {
			return nil, fmt.Errorf("seed %d: network.weights: %w", seed, err)
		}
		digests = append(digests, digest)
	}
	return digests, nil
}

// checkSeeds checks the weight file of each seed and, unless the sweep resumes, the run from which its trial starts.
func (s *sweep) checkSeeds(job *config.Job, seeds []int64, resumes bool) error {
	for _, seed := range seeds {
		var err error
		if !resumes {
			err = train.CheckFork(s.env.FileDigests(), job, seed)
		}
		if job.WeightsBySeed() {
			err = errors.Join(err, train.CheckWeights(s.env, job, seed))
		}
		if err != nil {
			return failure.With(failure.Configuration, fmt.Errorf("seed %d: %w", seed, err))
		}
	}
	return nil
}
