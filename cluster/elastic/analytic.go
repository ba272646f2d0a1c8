package elastic

import (
	"errors"
	"fmt"
	"slices"
)

// Analytic is a [Speed] model that computes speeds from the compute time, model size and bandwidths of a job type.
// Speeds depend on the placement, because a job's tasks on the same node share its bandwidth. In each step a worker
// computes, then sends its gradients and receives the parameters. The speed of a job, in epochs per second, is its
// steps per second divided by EpochSize.
type Analytic struct {
	// WholeShares counts all gradient traffic as traffic between nodes unless all workers are on one node. False counts
	// only the part that leaves a node. WholeShares reproduces an integer division of the original simulator, and
	// affects only clusters without parameter servers.
	WholeShares bool
}

// Epochs implements [Speed].
func (a Analytic) Epochs(d Deployment, seconds float64) float64 {
	if len(d.Servers) == 0 {
		return allReduceRate(d.Model, len(d.Workers), a.allReduceStep(d), seconds)
	}
	return float64(len(d.Workers)) * seconds / serverStep(d) / d.Model.EpochSize
}

// serverStep returns the seconds of a step with parameter servers: the step of the slowest worker.
func serverStep(d Deployment) (step float64) {
	workers, servers := len(d.Workers), len(d.Servers)
	outside := float64(workers - fewestBesideServer(d))
	volume := 2 * (d.Model.ModelSize / float64(servers))
	for k, node := range d.Workers {
		if slices.Contains(d.Workers[:k], node) {
			continue
		}
		w, p := count(d.Workers, node), count(d.Servers, node)
		between := d.Model.BetweenBW
		if p < servers {
			between = min(d.Model.BetweenBW/float64(servers-p), d.Model.BetweenBW/outside)
		}
		within := d.Model.WithinBW / float64(max(p, w))
		step = max(step, d.Model.Compute+max(volume/between, volume/within))
	}
	return step
}

// fewestBesideServer returns the smallest number of workers on a node with a server. The server there serves the most
// workers from outside.
func fewestBesideServer(d Deployment) int {
	least := len(d.Workers)
	for k, node := range d.Servers {
		if !slices.Contains(d.Servers[:k], node) {
			least = min(least, count(d.Workers, node))
		}
	}
	return least
}

// allReduceStep returns the seconds of a step with gradient exchange between workers.
func (a Analytic) allReduceStep(d Deployment) float64 {
	all, fewest := len(d.Workers), len(d.Workers)
	for _, node := range d.Workers {
		fewest = min(fewest, count(d.Workers, node))
	}
	share := float64(fewest) / float64(all)
	outside := 1 - share
	if a.WholeShares && fewest < all {
		outside = 1
	}
	between := 2 * outside * d.Model.ModelSize / d.Model.BetweenBW
	within := 2 * float64(fewest) / float64(all) * d.Model.ModelSize / d.Model.WithinBW
	return d.Model.Compute + max(between, within)
}

// linearWorkers is the number of workers up to which all-reduce scales linearly. Above it, each two further workers
// cost one.
const linearWorkers = 8

func allReduceRate(t *JobType, workers int, step, seconds float64) float64 {
	if workers <= linearWorkers {
		return float64(workers) * seconds / step / t.EpochSize
	}
	return max((12-float64(workers)/2)*seconds/step/t.EpochSize, seconds/step/t.EpochSize)
}

// Limit implements [Speed]. With parameter servers, the limit assumes that every worker has the full bandwidth of its
// links, which no placement exceeds.
func (a Analytic) Limit(t *JobType, workers, servers int, seconds float64) float64 {
	if servers > 0 {
		volume := 2 * (t.ModelSize / float64(servers))
		step := t.Compute + max(volume/t.BetweenBW, volume/t.WithinBW)
		return float64(workers) * seconds / step / t.EpochSize
	}
	return allReduceRate(t, workers, a.allReduceLimit(t, workers), seconds)
}

// allReduceLimit returns a lower bound on the seconds of a step. The smallest number of workers on a node is all
// workers, or at most half of them.
func (a Analytic) allReduceLimit(t *JobType, workers int) float64 {
	oneNode := 2 * t.ModelSize / t.WithinBW
	if workers == 1 {
		return t.Compute + oneNode
	}
	nodes := max(t.ModelSize/t.BetweenBW, 2/float64(workers)*t.ModelSize/t.WithinBW)
	return t.Compute + min(oneNode, nodes)
}

// Check implements [Speed].
func (a Analytic) Check(t *JobType, _ int) error {
	if !(t.Compute > 0 && t.ModelSize >= 0 && t.BetweenBW > 0 && t.WithinBW > 0) {
		return fmt.Errorf("type %s: %w", t.Name, errConstants)
	}
	return nil
}

var errConstants = errors.New("the analytic speed model needs a compute time, a model size and bandwidths; set them, " +
	"or use a speed table")

func count(list []int, node int) (n int) {
	for _, other := range list {
		if other == node {
			n++
		}
	}
	return n
}
