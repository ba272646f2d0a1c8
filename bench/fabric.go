package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"text/tabwriter"
	"time"

	"graft/cluster/fabric"
	"graft/cluster/fabric/networks"
	"graft/model"
	"graft/original/ramp"
	"graft/trainer/clock"
)

// fabricNetworks lists the networks of the benchmark's jobs; images have 224 pixels, as in PAC-ML's experiments.
var fabricNetworks = []string{"ResNet18", "VGG11BN", "MobileNetV2"}

// studyFabric prints the cost of an episode: of PAC-ML's size with the quirks of its simulator, and with few and many
// jobs on a large network, for which the cost per event should not change.
func studyFabric(out io.Writer, rounds int) error {
	had := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(had)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\ntraining steps on a network, on one thread")
	fmt.Fprintln(w, "what\tmedian\tquartiles")
	small := &fabric.Ramp{Groups: 4, Racks: 4, Servers: 2, Channels: 1, Bandwidth: 1.6e12, Latency: 50e-9, IO: 100e-9,
		Quirks: ramp.Quirks()}
	err := elasticLine(w, "1001 jobs on 32 servers, 4 parts, as PAC-ML, s", rounds, func() (float64, error) {
		seconds, _, err := playFabric(small, 1001, 4)
		return seconds, err
	})
	if err != nil {
		return err
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Fprintf(w, "memory of the process, MiB\t%d\t\n", memory.Sys>>20)
	large := &fabric.Ramp{Groups: 16, Racks: 16, Servers: 16, Channels: 1, Bandwidth: 1e10, Latency: 50e-9, IO: 100e-9}
	for _, jobs := range []int{10_000, 100_000} {
		err := elasticLine(w, fmt.Sprintf("an event of %d jobs on 4096 servers, µs", jobs), min(rounds, 3),
			func() (float64, error) {
				seconds, events, err := playFabric(large, jobs, 8)
				return 1e6 * seconds / float64(events), err
			})
		if err != nil {
			return err
		}
	}
	runtime.ReadMemStats(&memory)
	fmt.Fprintf(w, "memory of the process, MiB\t%d\t\n", memory.Sys>>20)
	return w.Flush()
}

// playFabric plays an episode without prior knowledge.
func playFabric(network *fabric.Ramp, jobs, parts int) (seconds float64, events int, err error) {
	s := &fabric.Study{Network: network, Options: fabric.Options{Quirks: network.Quirks}}
	s.Options.EnsureDefaults()
	profile, err := clock.FindProfile("round-gpu")
	if err != nil {
		return 0, 0, err
	}
	for _, name := range fabricNetworks {
		n, err := model.Zoo(name, model.ZooOptions{})
		if err != nil {
			return 0, 0, err
		}
		p, err := networks.Profile(n, networks.Options{Profile: profile})
		if err != nil {
			return 0, 0, err
		}
		s.Models = append(s.Models, fabric.NewModel(p.Mirror(fabric.Mirror(network.Quirks))))
	}
	if err := (fabric.Demand{Jobs: jobs}).Draw(s, rand.New(rand.NewPCG(1, 1))); err != nil {
		return 0, 0, err
	}
	runtime.GC()
	began := time.Now()
	w, err := fabric.NewWorld(s)
	if err == nil {
		err = fabric.Play(context.Background(), w, fabric.Constant{Parts: parts})
	}
	if err != nil {
		return 0, 0, err
	}
	return time.Since(began).Seconds(), w.Record.Events, nil
}
