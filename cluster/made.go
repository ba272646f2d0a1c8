package cluster

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"graft/cluster/trace"
	"graft/internal/files"
)

// MakeProfiles generates profiles for traces without measurements. Two jobs that together use less than a whole device
// slow each other down slightly, depending on the other job's utilization; other pairs share the time of the device.
// [ScoreOf] computes the score of a configuration from the mean rate of all its pairs.
func MakeProfiles(jobs []trace.Job) *Profiles {
	busy := map[Config]float64{}
	for k := range jobs {
		busy[ConfigOf(&jobs[k])] = jobs[k].Trains().GPUUtil / 100
	}
	configs := sortedConfigs(busy)
	p := &Profiles{Scores: map[Config]int{}, Pairs: map[[2]Config][2]float64{}}
	sums := map[Config]float64{}
	for i, a := range configs {
		for _, b := range configs[i:] {
			ra, rb := madeRate(busy[a], busy[b]), madeRate(busy[b], busy[a])
			p.Pairs[[2]Config{a, b}] = [2]float64{ra, rb}
			sums[a] += ra + rb
			if a != b {
				sums[b] += ra + rb
			}
		}
	}
	for _, c := range configs {
		p.Scores[c] = ScoreOf(sums[c] / float64(2*len(configs)))
	}
	return p
}

// disturbance is the share of its rate that a job loses next to one that keeps a device fully busy, while the device
// has time for both.
const disturbance = 0.1

// madeRate returns the rate of a job next to another, from the utilization of both.
func madeRate(own, other float64) float64 {
	rate := 1 - disturbance*other
	if both := own + other; both > 1 {
		rate /= both
	}
	return max(rate, 0.1)
}

// Bounds of the scores: a mean rate of at least ratesLittle is little slowdown, and a mean rate of at least ratesSome
// is some slowdown.
const (
	ratesLittle = 0.95
	ratesSome   = 0.85
)

// ScoreOf converts the mean rate of jobs that share devices into a score of the slowdown that sharing causes. The score
// is 0 for little slowdown (rate 0.95 or more), 1 for some slowdown (0.85 or more), and 2 for a large slowdown. The
// three classes are Lucid's (Hu et al., Lucid: A Non-intrusive, Scalable and Interpretable Scheduler for Deep Learning
// Training Jobs, ASPLOS 2023).
func ScoreOf(rate float64) int {
	switch {
	case rate >= ratesLittle:
		return 0
	case rate >= ratesSome:
		return 1
	}
	return 2
}

func sortedConfigs[V any](m map[Config]V) []Config {
	return slices.SortedFunc(maps.Keys(m), func(a, b Config) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Dataset, b.Dataset), cmp.Compare(a.Batch, b.Batch),
			one(a.AMP)-one(b.AMP))
	})
}

// Write writes profiles in the format of [ReadProfiles].
func (p *Profiles) Write(fsys files.FS, alone, pairs string) error {
	configs := sortedConfigs(p.Scores)
	err := files.WriteAtomic(fsys, alone, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		fmt.Fprintln(b, "model,dataset,batchsize,amp,label")
		for _, c := range configs {
			fmt.Fprintf(b, "%s,%d\n", c.row(), p.Scores[c])
		}
		return b.Flush()
	})
	if err != nil {
		return err
	}
	return files.WriteAtomic(fsys, pairs, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		fmt.Fprintln(b, "model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2")
		for _, first := range configs {
			for _, second := range configs {
				if r, ok := p.Pairs[[2]Config{first, second}]; ok {
					fmt.Fprintf(b, "%s,%g,%s,%g\n", first.row(), r[0], second.row(), r[1])
				}
			}
		}
		return b.Flush()
	})
}

func (c Config) row() string {
	line := trace.AppendCell(nil, c.Model)
	line = trace.AppendCell(append(line, ','), c.Dataset)
	return fmt.Sprintf("%s,%d,%d", line, c.Batch, one(c.AMP))
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
