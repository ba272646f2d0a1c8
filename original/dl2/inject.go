package dl2

import (
	"slices"

	"graft/cluster/elastic"
)

// The constants of exploration by rules.
const (
	fewest      = 1e-20 // probability from which an action may be injected
	rareAction  = 0.001 // share of actions below which a kind is injected
	rareServers = 0.01  // chance of a bundle where a job has many workers
	skipChance  = 0.1   // chance of the end of a slot in which all jobs have many workers
)

// inject replaces an action by the published rules, in their order of draws; later rules replace what
// earlier ones chose. There are rules for recorded speeds with servers, and for analytic ones without.
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

// injectSkip ends the slot at times if all jobs have more workers than the slot's draw.
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

// balance grows the job with the fewest tasks, if another one has many times more. It needs bundles.
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

// unbalanced is the column of the job with the fewest tasks, if another one has many times more; else
// -1.
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

// rare is the kind of action that was taken least, if it is rare; else -1.
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

// complete gives a job what it lacks, and says whether no further job is looked at. That of servers
// tests the probability of a worker, as published. Without bundles, the conditions and draws of bundles
// fall away.
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
