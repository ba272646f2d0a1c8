package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"graft/cluster"
	"graft/cluster/fabric"
	"graft/cluster/trace"
	"graft/torch"
)

// linkJob is a job of two processes. In each step, both pause, as if accelerators computed, and then add gradients over
// the link.
type linkJob struct {
	pause time.Duration
	bytes int
}

// linkGroups are the jobs that share a link.
var linkGroups = [][]linkJob{
	{{20 * time.Millisecond, 1 << 20}, {20 * time.Millisecond, 1 << 20}},
	{{60 * time.Millisecond, 1 << 20}, {60 * time.Millisecond, 1 << 20}},
	{{200 * time.Millisecond, 1 << 20}, {200 * time.Millisecond, 1 << 20}},
	{{20 * time.Millisecond, 1 << 20}, {200 * time.Millisecond, 1 << 20}},
	{{60 * time.Millisecond, 1 << 19}, {90 * time.Millisecond, 1 << 21}},
	{{0, 1 << 20}, {150 * time.Millisecond, 1 << 21}},
	{{0, 1 << 20}, {0, 1 << 21}},
	{{40 * time.Millisecond, 1 << 20}, {70 * time.Millisecond, 1 << 20}, {110 * time.Millisecond, 1 << 20}},
}

// linkRate is the rate of the loopback interface, as tc writes it.
const linkRate = "200mbit"

// studyLinks compares the steps of jobs on a common link with the steps that the cluster simulation predicts from the
// steps of each job alone.
func (b *bench) studyLinks(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "jobs\tpause [ms]\tgradients [MiB]\talone [ms]\ttogether [ms]\tpredicted [ms]\toff\t"+
		"none shared\t")
	var off, ignored []float64
	for k, group := range linkGroups {
		var alone []float64
		for _, job := range group {
			one, err := b.linkSteps([]linkJob{job})
			if err != nil {
				return err
			}
			alone = append(alone, one[0])
		}
		together, err := b.linkSteps(group)
		if err != nil {
			return err
		}
		for i, predicted := range predictLinks(group, alone) {
			off = append(off, predicted/together[i]-1)
			ignored = append(ignored, alone[i]/together[i]-1)
			fmt.Fprintf(table, "%d\t%.0f\t%.1f\t%.1f\t%.1f\t%.1f\t%+.1f%%\t%+.1f%%\t\n", k+1,
				1e3*group[i].pause.Seconds(), float64(group[i].bytes)/(1<<20), 1e3*alone[i], 1e3*together[i],
				1e3*predicted, 100*off[len(off)-1], 100*ignored[len(ignored)-1])
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	size := func(list []float64) []float64 {
		list = slices.Clone(list)
		for k := range list {
			list[k] = math.Abs(list[k])
		}
		return list
	}
	_, err := fmt.Fprintf(out, "%d steps off by %.1f%% in the mean and %.1f%% at worst; without sharing, by %.1f%% "+
		"and %.1f%%\n", len(off), 100*mean(size(off)), 100*slices.Max(size(off)), 100*mean(size(ignored)),
		100*slices.Max(size(ignored)))
	return err
}

// predictLinks returns the step of each job in seconds, as [fabric.Rings] predicts it from the steps alone.
func predictLinks(group []linkJob, alone []float64) (steps []float64) {
	rings := &fabric.Rings{Tree: &fabric.Tree{Racks: 1, Servers: 2, Bandwidth: 1, Uplink: 2},
		Of: map[string]fabric.Ring{}}
	var jobs []*cluster.Job
	for k, job := range group {
		exchange := max(0, alone[k]-job.pause.Seconds())
		id := strconv.Itoa(k)
		rings.Of[id] = fabric.Ring{Asked: []int{1, 1}, Step: func([]int) (fabric.RingStep, error) {
			return fabric.RingStep{Time: alone[k], Exchange: exchange, Transfer: exchange}, nil
		}}
		jobs = append(jobs, &cluster.Job{Trace: &trace.Job{ID: id},
			Nodes: []cluster.Share{{Node: 0, GPUs: 1 << k}, {Node: 1, GPUs: 1 << k}}})
	}
	rates := make([]float64, len(jobs))
	rings.Together(jobs, rates)
	for k, rate := range rates {
		steps = append(steps, alone[k]/rate)
	}
	return steps
}

// linkScript starts two processes for each job on a limited loopback interface of their own.
const linkScript = `ip link set lo up mtu 9000 || exit 1
tc qdisc add dev lo root tbf rate "$LINK" burst 64kb latency 50ms || exit 1
job=0
for args in $JOBS; do
	"$PROGRAM" link-peer -rank 1 -file "$FOLDER/$job" -job "$args" -seconds "$SECONDS_" >/dev/null &
	"$PROGRAM" link-peer -rank 0 -file "$FOLDER/$job" -job "$args" -seconds "$SECONDS_" >"$FOLDER/$job.step" &
	job=$((job + 1))
done
wait`

// linkSteps returns the mean time of a step of each job, in seconds, while all jobs run.
func (b *bench) linkSteps(group []linkJob) (all []float64, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "graft-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	var jobs []string
	for _, job := range group {
		jobs = append(jobs, fmt.Sprintf("%d,%d", job.pause.Microseconds(), job.bytes))
	}
	c := exec.Command("unshare", "-n", "sh", "-c", linkScript)
	c.Stderr = os.Stderr
	c.Env = append(os.Environ(), "LINK="+linkRate, "PROGRAM="+program, "FOLDER="+folder,
		"JOBS="+strings.Join(jobs, " "), fmt.Sprintf("SECONDS_=%d", 2*b.rounds))
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("run jobs on a link, which needs root and tc: %w", err)
	}
	for k := range group {
		text, err := os.ReadFile(filepath.Join(folder, strconv.Itoa(k)+".step"))
		if err != nil {
			return nil, err
		}
		var step float64
		if err := json.Unmarshal(text, &step); err != nil {
			return nil, fmt.Errorf("job %d printed no step: %w", k, err)
		}
		all = append(all, step)
	}
	return all, nil
}

// runLinkPeer is a process of a job on a link.
func runLinkPeer(args []string) error {
	fs := flag.NewFlagSet("bench link-peer", flag.ContinueOnError)
	o := torch.PeersOptions{Timeout: time.Minute, Size: 2}
	fs.IntVar(&o.Rank, "rank", 0, "rank of the process")
	fs.StringVar(&o.File, "file", "", "file through which the processes find each other")
	text := fs.String("job", "", "pause in microseconds and bytes of gradients, separated by a comma")
	seconds := fs.Int("seconds", 10, "seconds in which steps count")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var pause, bytes int
	if _, err := fmt.Sscanf(*text, "%d,%d", &pause, &bytes); err != nil {
		return fmt.Errorf("job %q: %w", *text, err)
	}
	return torch.With(func(s *torch.Scope) error {
		peers := s.NewPeers(o)
		gradients := s.Zeros(torch.Float32, torch.CPU, bytes/4)
		if s.Err() != nil {
			return s.Err()
		}
		defer peers.Close()
		step, err := countSteps(s, peers, gradients, time.Duration(pause)*time.Microsecond,
			time.Duration(*seconds)*time.Second)
		if err != nil || o.Rank > 0 {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(step)
	})
}

// countSteps measures the steps of a job, and takes further steps while jobs that began later measure theirs. It
// returns the mean time of a step in seconds.
func countSteps(s *torch.Scope, peers *torch.Peers, gradients *torch.Tensor, pause,
	measured time.Duration) (float64, error) {
	const before, after = time.Second, 2 * time.Second
	began, count, first, last := time.Now(), 0, time.Duration(0), time.Duration(0)
	for {
		ends := 0.0
		if peers.Rank == 0 && time.Since(began) > before+measured+after {
			ends = 1
		}
		flag := s.Full(ends, torch.Float32, torch.CPU, 1)
		time.Sleep(pause)
		if err := peers.Sum(gradients, flag); err != nil {
			return 0, err
		}
		end, err := flag.Item()
		s.Free(flag)
		if err != nil || end > 0 {
			return (last - first).Seconds() / float64(max(1, count-1)), err
		}
		if now := time.Since(began); now > before && now < before+measured {
			if count++; count == 1 {
				first = now
			}
			last = now
		}
	}
}
