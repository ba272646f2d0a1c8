package schedulers_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

// naive is a second simulator of the original, written from its description alone. It has no queue and no memory of
// earlier decisions, and makes every choice by exhaustive search. It shares types, speeds and workloads with package
// elastic, but no code.
type naive struct {
	study elastic.Study
	slot  int
	used  [][2]int // slots in use by node
	jobs  []*naiveJob
}

type naiveJob struct {
	elastic.Spec
	elastic.JobType
	progress, share, completion float64
	workers, servers            int
}

// naivePolicies holds the decision of each scheduler in a slot.
var naivePolicies = map[string]func(n *naive, jobs []*naiveJob){
	"FIFO":    func(n *naive, jobs []*naiveJob) { n.oneByOne(jobs, func(*naiveJob) float64 { return 0 }) },
	"SRTF":    func(n *naive, jobs []*naiveJob) { n.oneByOne(jobs, (*naiveJob).left) },
	"DRF":     (*naive).drf,
	"Tetris":  (*naive).tetris,
	"Optimus": (*naive).optimus,
}

// run simulates until all jobs are complete. It returns the digest of the allocations.
func (n *naive) run(s elastic.Study, schedule func(n *naive, jobs []*naiveJob)) string {
	n.study = s
	for _, spec := range s.Jobs {
		n.jobs = append(n.jobs, &naiveJob{Spec: spec, JobType: s.Types[spec.Type-1]})
	}
	slices.SortFunc(n.jobs, func(a, b *naiveJob) int { return a.ID - b.ID })
	var text strings.Builder
	for ; ; n.slot++ {
		n.used = make([][2]int, s.Options.Nodes)
		var present []*naiveJob
		waiting := 0
		for _, j := range n.jobs {
			j.workers, j.servers = 0, 0
			if j.progress < j.RealEpochs {
				waiting++
				if j.Arrival <= n.slot {
					present = append(present, j)
				}
			}
		}
		if waiting == 0 {
			return fmt.Sprintf("%x", sha256.Sum256([]byte(text.String())))
		}
		schedule(n, present)
		for _, j := range present {
			if j.workers+j.servers > 0 {
				fmt.Fprintf(&text, "%d:%d:%d:%d;", n.slot, j.ID, j.workers, j.servers)
			}
			n.train(j)
		}
	}
}

func (n *naive) train(j *naiveJob) {
	if j.workers == 0 || j.servers == 0 {
		return
	}
	epochs := n.speed(j, j.workers, j.servers)
	if j.progress+epochs <= j.RealEpochs {
		j.progress += epochs
		j.completion = float64(n.slot + 1 - j.Arrival)
		return
	}
	j.completion = float64(n.slot-j.Arrival) + (j.RealEpochs-j.progress)/epochs
	j.progress = j.RealEpochs
}

// speed returns the epochs per slot.
func (n *naive) speed(j *naiveJob, workers, servers int) float64 {
	return n.study.Speed.(elastic.Table)[j.Name][servers-1][workers-1] * n.study.Options.Slot / j.EpochSize
}

func (j *naiveJob) left() float64 { return 1 - j.progress/j.Epochs }

// pair returns the demand of a worker and a server.
func (j *naiveJob) pair() [2]int {
	return [2]int{j.Worker[0] + j.Server[0], j.Worker[1] + j.Server[1]}
}

// place adds tasks to a node if they fit.
func (n *naive) place(j *naiveJob, node, workers, servers int) bool {
	per, use := n.study.Options.PerNode, n.used[node]
	for k := range use {
		if use[k] += workers*j.Worker[k] + servers*j.Server[k]; use[k] > per[k] {
			return false
		}
	}
	n.used[node] = use
	j.workers, j.servers = j.workers+workers, j.servers+servers
	for k := range use {
		held := j.workers*j.Worker[k] + j.servers*j.Server[k]
		j.share = max(float64(held)/float64(per[k]*len(n.used)), j.share)
	}
	return true
}

// least returns the node with the fewest slots in use.
func (n *naive) least() (node int) {
	for k, use := range n.used {
		if use[0]+use[1] < n.used[node][0]+n.used[node][1] {
			node = k
		}
	}
	return node
}

// first returns the job with the smallest key, then arrival, then ID, among jobs that may grow, or nil.
func (n *naive) first(jobs []*naiveJob, key func(j *naiveJob) float64) (best *naiveJob) {
	for _, j := range jobs {
		if j.workers == n.study.Options.Most {
			continue
		}
		if best == nil || key(j) < key(best) || key(j) == key(best) && j.Arrival < best.Arrival {
			best = j
		}
	}
	return best
}

// oneByOne gives the first job all pairs that it may have, then the next one. The first pair that does not fit ends the
// slot.
func (n *naive) oneByOne(jobs []*naiveJob, key func(j *naiveJob) float64) {
	for j := n.first(jobs, key); j != nil && n.place(j, n.least(), 1, 1); j = n.first(jobs, key) {
	}
}

func (n *naive) drf(jobs []*naiveJob) {
	for _, j := range jobs {
		j.share = 0
	}
	n.oneByOne(jobs, func(j *naiveJob) float64 { return j.share })
}

func (n *naive) tetris(jobs []*naiveJob) {
	for node := range n.used {
		for {
			j := n.tetrisTop(jobs, node)
			if j == nil || !n.place(j, node, 1, 1) {
				break
			}
		}
	}
}

// tetrisTop returns the job with the highest score on a node, or nil.
func (n *naive) tetrisTop(jobs []*naiveJob, node int) *naiveJob {
	sumA, sumR := 0.0, 0.0
	alignment, work := make([]float64, len(jobs)), make([]float64, len(jobs))
	for at, j := range jobs {
		need, free := j.pair(), 0
		for k := range need {
			free += (n.study.Options.PerNode[k] - n.used[node][k]) * need[k]
		}
		alignment[at], work[at] = float64(free), float64(need[0]+need[1])*j.left()
		sumA, sumR = sumA+alignment[at], sumR+work[at]
	}
	count := float64(len(jobs))
	weight := (sumA / count) / (sumR / count)
	if weight == 0 || len(jobs) == 0 {
		return nil
	}
	var best *naiveJob
	highest := math.Inf(-1)
	for at, j := range jobs {
		if score := alignment[at] + float64(weight*work[at]); j.workers < n.study.Options.Most && score > highest {
			best, highest = j, score
		}
	}
	return best
}

// optimus adds the task that saves the most time until no task saves any.
func (n *naive) optimus(jobs []*naiveJob) {
	most, dropped := n.study.Options.Most, map[*naiveJob]bool{}
	for {
		var best *naiveJob
		utility, worker := math.Inf(1), false
		for _, j := range jobs {
			if u, w := n.utility(j); !dropped[j] && u < utility {
				best, utility, worker = j, u, w
			}
		}
		switch {
		case best == nil || utility >= 0:
			return
		case worker && best.workers == most || !worker && best.servers == most:
			dropped[best] = true
		case worker && !n.place(best, n.least(), 1, 0) || !worker && !n.place(best, n.least(), 0, 1):
			return
		}
	}
}

// utility returns the slots that a job's best next task saves, as a negative number, and whether that task is a worker.
func (n *naive) utility(j *naiveJob) (saves float64, worker bool) {
	switch {
	case j.workers == 0:
		return math.MinInt32 + 1, true
	case j.servers == 0:
		return math.MinInt32 + 1, false
	}
	rest, speed := j.Epochs-j.progress, n.speed(j, j.workers, j.servers)
	byWorker := rest/speed - rest/n.speed(j, j.workers+1, j.servers)
	byServer := rest/speed - rest/n.speed(j, j.workers, j.servers+1)
	if byServer >= byWorker {
		return -byServer, false
	}
	return -byWorker, true
}

// naiveSeeds lists the seeds of the workloads that both simulators run; with GRAFT_LONG=1 there are two.
var naiveSeeds = []int{1, 4}[:map[bool]int{true: 2, false: 1}[os.Getenv("GRAFT_LONG") != ""]]

// The naive simulator reproduces recorded runs.
func TestNaiveSimulatorReproducesRecordedRuns(t *testing.T) {
	p := readPublished(t)
	for _, config := range []string{"small_google", "small_epocherr", "template_google", "testbed_google",
		"default_poisson"} {
		var file struct{ Runs []recordedRun }
		referenceJSON(t, "golden/"+config+".json", &file)
		for _, run := range file.Runs {
			if !slices.Contains(naiveSeeds, run.Seed) {
				continue
			}
			var n naive
			require.Equal(t, run.Allocations, n.run(p.study(t, config, run.Seed), naivePolicies[run.Scheduler]),
				"%s, seed %d, %s", config, run.Seed, run.Scheduler)
			for _, j := range n.jobs {
				require.InDelta(t, run.JCTs[j.ID], j.completion, tolerance, "%s, seed %d, %s, job %d", config, run.Seed,
					run.Scheduler, j.ID)
			}
		}
	}
}

// Workloads without recorded results have the same allocations and completions in both simulators.
func TestUnrecordedWorkloads(t *testing.T) {
	p := readPublished(t)
	for _, config := range []string{"small_uniform", "small_varlen", "template_poisson", "default_val9973"} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			for scheduler, policy := range naivePolicies {
				for _, seed := range naiveSeeds {
					study := p.study(t, config, seed)
					got, err := simulate(t, study, scheduler)
					require.NoError(t, err)
					var n naive
					require.Equal(t, n.run(study, policy), got.Allocations, "seed %d, %s", seed, scheduler)
					require.Len(t, got.Completions, len(n.jobs))
					for _, c := range got.Completions {
						at := slices.IndexFunc(n.jobs, func(j *naiveJob) bool { return j.ID == c.ID })
						require.InDelta(t, n.jobs[at].completion, c.JCT, tolerance, "seed %d, %s, job %d", seed,
							scheduler, c.ID)
					}
				}
			}
		})
	}
}
