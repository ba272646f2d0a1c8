package dl2

import (
	"slices"

	"graft/cluster/elastic"
)

// Constants of the rules that replace actions.
const (
	fewest      = 1e-20 // probability above which an action may be injected
	rareAction  = 0.001 // fraction of all actions below which a kind is injected
	rareServers = 0.01  // probability of a bundle if a job has many workers
	skipChance  = 0.1   // probability that a slot ends if all jobs have many workers
)

// inject replaces an action by the published rules, in their order of draws; later rules override earlier ones. There
// are rules for recorded speeds with servers and for analytic speeds without servers.
func (e *Env) inject(action int, m []float64, mask []bool) int {
	switch {
	case e.analytic && e.world.AllReduce():
		return e.injectSkip(action, m)
	case e.analytic || e.world.AllReduce():
		return action
	}
	per := e.Window.PerJob()
	action = e.balance(action, m)
	for k, j := range e.Window.Jobs {
		if j == nil {
			continue
		}
		if kind := e.rare(); kind >= 0 && mask[per*k+kind] && m[per*k+kind] > fewest {
			return per*k + kind
		}
		if replaced, stop := e.complete(action, k, j, m, mask); stop {
			return replaced
		}
	}
	return action
}

// injectSkip sometimes ends the slot if all jobs have more workers than the slot's draw.
func (e *Env) injectSkip(action int, m []float64) int {
	for _, j := range e.Window.Jobs {
		if j != nil && len(j.Workers) <= e.slot.Skip {
			return action
		}
	}
	if m[len(m)-1] > fewest && e.random.Float64() <= skipChance {
		return len(m) - 1
	}
	return action
}

// balance grows the job with the fewest tasks if another job has many times more. It requires bundles.
func (e *Env) balance(action int, m []float64) int {
	if e.o.NoBalance || e.Window.PerJob() <= int(elastic.Bundle) {
		return action
	}
	k := e.unbalanced()
	if k < 0 || !(m[3*k+2] > fewest && m[3*k] > fewest) {
		return action
	}
	if e.random.Float64() < 0.5 {
		return 3*k + int(elastic.Bundle)
	}
	return 3 * k
}

// unbalanced returns the column of the job with the fewest tasks if another job has many times more; otherwise -1.
func (e *Env) unbalanced() int {
	least, most, at := -1, -1, -1
	for k, j := range e.Window.Jobs {
		if j == nil {
			continue
		}
		tasks := len(j.Workers) + len(j.Servers)
		if least < 0 || tasks < least {
			least, at = tasks, k
		}
		most = max(most, tasks)
	}
	if least <= 0 || most/least <= e.random.IntN(3, 6) {
		return -1
	}
	return at
}

// rare returns the least frequent kind of action if it is rare; otherwise -1.
func (e *Env) rare() int {
	counts, sum := e.counts[:e.Window.PerJob()], 0.0
	for _, n := range counts {
		sum += n
	}
	if least := slices.Min(counts); least > 0 && least/sum < rareAction {
		return slices.Index(counts, least)
	}
	return -1
}

// complete adds missing tasks to a job, and reports whether to stop looking at jobs. The condition for servers tests
// the probability of a worker, as published. Without bundles, the conditions and draws for bundles are skipped.
func (e *Env) complete(action, k int, j *elastic.Job, m []float64, mask []bool) (int, bool) {
	workers, servers, per := len(j.Workers), len(j.Servers), e.Window.PerJob()
	worker, server, bundle := per*k, per*k+1, -1
	can := func(a int) bool { return mask[a] && m[a] > fewest }
	both := per > int(elastic.Bundle)
	if both {
		bundle = per*k + int(elastic.Bundle)
	}
	switch {
	case workers == 0 || servers == 0:
		if both && workers == 0 && servers == 0 && can(bundle) && e.random.Float64() < 0.5 {
			action = bundle
		}
		if workers == 0 && can(worker) {
			action = worker
		}
		if servers == 0 && mask[server] && m[worker] > fewest {
			action = server
		}
		return action, true
	case servers > workers*e.slot.Ratio && e.random.Float64() < 0.5:
		if both && !can(bundle) || !can(worker) {
			return action, false
		}
		if action = worker; both && e.random.Float64() < 0.5 {
			action = bundle
		}
		return action, true
	case float64(workers) >= float64(servers)*0.5 && e.random.Float64() < 0.5:
		if both && !can(bundle) || !can(server) {
			return action, false
		}
		if action = server; both && e.random.Float64() < rareServers {
			action = bundle
		}
		return action, true
	}
	return action, false
}
