package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"graft/model"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
	"graft/trainer/probes"
)

// togetherNetworks are networks of predictedNetworks whose steps several processes compute, with the size of the batch.
var togetherNetworks = []predictedNetwork{{"FeedForwardNet", model.Shape{3, 32, 32}, 64},
	{"MLP", model.Shape{3, 32, 32}, 128}, {"ConvNet", model.Shape{3, 32, 32}, 64},
	{"ConvNet3", model.Shape{3, 32, 32}, 64}, {"CIFARResNet20", model.Shape{3, 32, 32}, 64},
	{"CharGPT", model.Shape{64}, 16}, {"SmallLLaMA", model.Shape{64}, 8}, {name: "cnn.toml", rows: 64},
	{name: "gpt.toml", rows: 16}, {name: "perceptron.toml", rows: 64}, {name: "resnet.toml", rows: 64},
	{name: "transformer.toml", rows: 16}}

// togetherLinks are the rates of the loopback interface, as tc writes them. The empty one is not limited.
var togetherLinks = []string{"", "1gbit"}

// togetherResult holds what a group measures.
type togetherResult struct {
	Made  *clock.Processes
	Steps []measuredStep
}

// measuredStep holds the times of a step in seconds, of one process alone on its share and of all processes, and the
// slowdown of the reference network around them.
type measuredStep struct{ Alone, Step, Slowdown float64 }

// studyTogether predicts steps of several processes from measured operators, exchanges and slowdowns.
func (b *bench) studyTogether(out io.Writer) error {
	study, err := readStudy(b.keptOperators)
	if err != nil {
		return err
	}
	if study == nil && b.keptOperators != "" {
		return fmt.Errorf("%s does not exist; write it by 'bench operators -operators.keep FILE', or omit "+
			"-together.operators", b.keptOperators)
	}
	if study == nil {
		study = &operatorStudy{}
		all, err := probes.Draw(probes.Options{Seed: uint64(b.seed)})
		if err != nil {
			return err
		}
		if err := torch.SetThreads(1); err != nil {
			return err
		}
		o := trainer.MeasureOptions{Rounds: 3, Now: time.Now}
		measured, err := trainer.MeasureOperators(context.Background(), all, o)
		if err != nil {
			return err
		}
		study.Device, study.Quiet = measured.Device, measured.Quiet
	}
	for _, link := range togetherLinks {
		var errors []float64
		for _, size := range []int{1, 2, 4} {
			off, err := b.printTogether(out, study, size, link)
			if err != nil {
				return err
			}
			errors = append(errors, off...)
		}
		fmt.Fprintf(out, "%s: %d steps off by %.1f%% in the mean, %.1f%% in the median, %.1f%% at worst\n\n",
			linkText(link), len(errors), 100*mean(errors), 100*median(errors), 100*slices.Max(errors))
	}
	return nil
}

func linkText(link string) string {
	if link == "" {
		return "loopback"
	}
	return "loopback of " + link
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// printTogether measures a group of processes, and prints and returns the errors of predictions.
func (b *bench) printTogether(out io.Writer, study *operatorStudy, size int, link string) (off []float64, err error) {
	made, err := b.group(size, link, study.Quiet)
	if err != nil {
		return nil, fmt.Errorf("measure %d processes over %s: %w", size, linkText(link), err)
	}
	p, shared := &clock.Profile{Name: "bench", GraftOperators: *study.Device}, 1.0
	if size > 1 {
		p.Processes, shared = []clock.Processes{*made.Made}, made.Made.Slowdown
	}
	p.EnsureDefaults()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "network\tbatch\tprocesses\tstep [ms]\tpredicted [ms]\toff\talone [ms]\tpredicted [ms]\t"+
		"slowdown\t")
	for k, network := range togetherNetworks {
		n, err := network.network()
		if err != nil {
			return nil, err
		}
		is := made.Steps[k]
		alone := p.Cost(clock.Work{Kind: clock.Steps, Count: 1, Rows: network.rows / size, Network: n}).Seconds()
		// Other programs slow the computation down, and not the link.
		predicted := p.Cost(clock.Work{Kind: clock.Steps, Count: 1, Rows: network.rows, Network: n,
			Devices: size}).Seconds() + (is.Slowdown-1)*alone*shared
		ratio := predicted/is.Step - 1
		off = append(off, math.Abs(ratio))
		fmt.Fprintf(table, "%s\t%d\t%d\t%.2f\t%.2f\t%+.1f%%\t%.2f\t%.2f\t%.2f\t\n", network.name, network.rows, size,
			1e3*is.Step, 1e3*predicted, 100*ratio, 1e3*is.Alone, 1e3*alone*is.Slowdown, is.Slowdown)
	}
	return off, table.Flush()
}

// groupScript starts the processes of a group, the first of them last, in the foreground.
const groupScript = `if [ -n "$LINK" ]; then
	ip link set lo up && tc qdisc add dev lo root tbf rate "$LINK" burst 1mbit latency 100ms || exit 1
fi
rank=1
while [ "$rank" -lt "$SIZE" ]; do
	"$PROGRAM" together-peer -rank "$rank" -size "$SIZE" -file "$MEET" -rounds "$ROUNDS" -quiet "$QUIET" >/dev/null &
	rank=$((rank + 1))
done
"$PROGRAM" together-peer -rank 0 -size "$SIZE" -file "$MEET" -rounds "$ROUNDS" -quiet "$QUIET"
code=$?
wait
exit $code`

// group measures in processes of its own. A limited link needs root, and a network namespace. The argument quiet is the
// time of the reference on a quiet machine.
func (b *bench) group(size int, link string, quiet float64) (*togetherResult, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "graft-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	args := []string{"sh", "-c", groupScript}
	if link != "" {
		args = append([]string{"unshare", "-n"}, args...)
	}
	c := exec.Command(args[0], args[1:]...)
	c.Stderr = os.Stderr
	c.Env = append(os.Environ(), "LINK="+link, "PROGRAM="+program, fmt.Sprintf("SIZE=%d", size),
		"MEET="+filepath.Join(folder, "meet"), fmt.Sprintf("ROUNDS=%d", b.rounds), fmt.Sprint("QUIET=", quiet))
	text, err := c.Output()
	if err != nil {
		return nil, err
	}
	result := &togetherResult{}
	return result, json.Unmarshal(text, result)
}

// runTogetherPeer is a process of a group.
func runTogetherPeer(args []string) error {
	fs := flag.NewFlagSet("bench together-peer", flag.ContinueOnError)
	o := torch.PeersOptions{Timeout: time.Minute}
	fs.IntVar(&o.Rank, "rank", 0, "rank of the process")
	fs.IntVar(&o.Size, "size", 1, "number of processes")
	fs.StringVar(&o.File, "file", "", "file through which the processes find each other")
	m := trainer.MeasureOptions{Now: time.Now}
	fs.IntVar(&m.Rounds, "rounds", 7, "rounds")
	fs.Float64Var(&m.Quiet, "quiet", 0, "seconds of a step of the reference network on a quiet machine")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if err := torch.SetThreads(1); err != nil {
		return err
	}
	var all []probes.Probe
	for _, network := range togetherNetworks {
		n, err := network.network()
		if err != nil {
			return err
		}
		all = append(all, probes.Probe{Network: n, Rows: network.rows})
	}
	small, err := trainer.TogetherProbes()
	if err != nil {
		return err
	}
	return torch.With(func(s *torch.Scope) error {
		peers := s.NewPeers(o)
		if s.Err() != nil {
			return s.Err()
		}
		defer peers.Close()
		result := togetherResult{}
		if o.Size > 1 {
			if result.Made, err = trainer.MeasureTogether(context.Background(), peers, small, m); err != nil {
				return err
			}
		}
		steps, err := trainer.StepsTogether(context.Background(), peers, all, m)
		if err != nil || o.Rank > 0 {
			return err
		}
		for _, t := range steps {
			result.Steps = append(result.Steps, measuredStep{t.Alone, t.Step, t.Slowdown})
		}
		return json.NewEncoder(os.Stdout).Encode(result)
	})
}
