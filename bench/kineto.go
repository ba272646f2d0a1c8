package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"graft/internal/files"
	"graft/model"
	"graft/model/python"
	"graft/net2net"
	"graft/trainer/clock"
	"graft/trainer/costs/kineto"
	"graft/trainer/operators"
)

// Size of a run of bench/kineto.py.
const (
	kinetoBatch  = 16
	kinetoTraced = 12 // steps in a trace
	kinetoLarger = 4  // factor of the larger batch
	kinetoWays   = 2  // variants to deepen and to widen
)

// tracedNetworks are recorded in PyTorch; networks with a file were imported from PyTorch.
var tracedNetworks = []string{"cnn.toml", "resnet.toml", "vit.toml", "gpt.toml", "MLP"}

// kinetoPlan is the input of bench/kineto.py.
type kinetoPlan struct {
	Threads  int             `json:"threads"`
	Rounds   int             `json:"rounds"`
	Traced   int             `json:"traced"`
	Networks []kinetoNetwork `json:"networks"`
}

type kinetoNetwork struct {
	Name    string `json:"name"`
	Module  string `json:"module"`
	Class   string `json:"class"`
	Trace   string `json:"trace"`
	Shape   []int  `json:"shape"`
	Tokens  int    `json:"tokens"`
	Classes int    `json:"classes"`
	Batch   int    `json:"batch"`

	network *model.Network
}

// kinetoResult is the output of bench/kineto.py.
type kinetoResult struct {
	Torch   string      `json:"torch"`
	Load    float64     `json:"load"`
	Seconds [][]float64 `json:"seconds"` // of each round of each network
}

// studyKineto compares steps that traces predict with measured steps of grown networks, both in PyTorch.
func (b *bench) studyKineto(out io.Writer) error {
	folder, err := os.MkdirTemp("", "kineto-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	plan := &kinetoPlan{Threads: 1, Rounds: b.rounds, Traced: kinetoTraced}
	for _, name := range tracedNetworks {
		n, err := growingNetwork(filepath.Join("bench/growth", name), name)
		if err == nil {
			err = plan.add(folder, n)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	result, err := b.record(plan)
	if err != nil {
		return err
	}
	fmt.Fprintf(out,
		"\nsteps predicted from a trace of the network before growth, PyTorch %s, a batch of %d, 1 thread, "+
			"processor time, minima of %d rounds; load of the machine %.1f\n", result.Torch, kinetoBatch, plan.Rounds,
		result.Load)
	return plan.compare(out, result)
}

// add adds a network and its grown versions to the plan.
func (p *kinetoPlan) add(folder string, n *model.Network) error {
	first := clock.Subject{Name: n.Name(), Network: n}
	adapted, err := clock.Adapted(first, kinetoWays)
	if err != nil {
		return err
	}
	whole := [][]net2net.Action{}
	for k := range len(adapted) / 2 {
		whole = append(whole, []net2net.Action{adapted[k].Actions[0], adapted[len(adapted)-1-k].Actions[0]})
	}
	every := []net2net.Action{}
	for _, s := range adapted {
		every = append(every, s.Actions...)
	}
	grown, err := clock.Grown(first, append(whole, every), net2net.Options{})
	if err != nil {
		return err
	}
	all := append(append([]clock.Subject{first}, adapted...), grown[1:]...)
	for k, s := range all {
		if err := p.put(folder, s, kinetoBatch, k == 0); err != nil {
			return err
		}
	}
	return errors.Join(p.put(folder, first, kinetoLarger*kinetoBatch, false),
		p.put(folder, all[len(all)-1], kinetoLarger*kinetoBatch, false))
}

// put adds a network with a batch.
func (p *kinetoPlan) put(folder string, s clock.Subject, batch int, traced bool) error {
	one, err := newKinetoNetwork(folder, len(p.Networks), s, batch)
	if traced {
		one.Trace = strings.TrimSuffix(one.Module, ".py") + ".json"
	}
	p.Networks = append(p.Networks, one)
	return err
}

// newKinetoNetwork writes the Python module of a network.
func newKinetoNetwork(folder string, number int, s clock.Subject, batch int) (k kinetoNetwork, err error) {
	k = kinetoNetwork{Name: s.String(), Module: filepath.Join(folder, fmt.Sprintf("network%d.py", number)),
		Class: "Network", Shape: s.Network.Input, Batch: batch, network: s.Network}
	if s.Network.Tokens() {
		k.Tokens = s.Network.Vocabulary()
	}
	out, err := s.Network.Output()
	if err != nil {
		return k, err
	}
	k.Classes = out[len(out)-1]
	source, err := python.Source(s.Network, python.Options{})
	if err != nil {
		return k, err
	}
	if s.Network.Graph == nil { // the last class of the module is the network
		k.Class, _, _ = strings.Cut(source[strings.LastIndex(source, "\nclass ")+len("\nclass "):], "(")
	}
	return k, os.WriteFile(k.Module, []byte(source), 0o600)
}

// record runs bench/kineto.py.
func (b *bench) record(plan *kinetoPlan) (r kinetoResult, err error) {
	input, err := json.Marshal(plan)
	if err != nil {
		return r, err
	}
	command := exec.Command(b.python, "bench/kineto.py")
	var faults bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(input), &faults
	text, err := command.Output()
	if err != nil {
		return r, fmt.Errorf("record traces in PyTorch: %w: %s", err, faults.String())
	}
	return r, json.Unmarshal(text, &r)
}

// tracedBase is a traced network, which predicts its grown versions.
type tracedBase struct {
	plain, calibrated   *operators.Predictor // with and without the time of the profiler
	seconds, operations float64              // measured step
}

// newTracedBase reads the trace of a network.
func newTracedBase(n *kinetoNetwork, seconds, operations float64) (*tracedBase, error) {
	t, err := kineto.Read(files.OS{}, n.Trace)
	if err != nil {
		return nil, err
	}
	of, err := operators.FromTrace(t, n.network, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name, err)
	}
	corrected := *of
	corrected.Measured = slices.Clone(of.Measured)
	corrected.Calibrate(seconds)
	return &tracedBase{operators.NewPredictor(of), operators.NewPredictor(&corrected), seconds, operations}, nil
}

// kinetoErrors are relative errors of predicted steps.
type kinetoErrors struct{ steps, plain, proportional, growth []float64 }

func (e *kinetoErrors) print(out io.Writer, name string) error {
	percent := func(list []float64) string {
		return fmt.Sprintf("%.1f%% in the median, %.1f%% at worst", 100*median(list), 100*slices.Max(list))
	}
	_, err := fmt.Fprintf(out, "%s: %d steps, %.2f times the traced step in the median\n  error %s\n  error without "+
		"-step %s\n  error of time in proportion to operations %s\n", name, len(e.steps), median(e.growth),
		percent(e.steps), percent(e.plain), percent(e.proportional))
	return err
}

// compare prints the error of each network.
func (p *kinetoPlan) compare(out io.Writer, r kinetoResult) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table,
		"network\tbatch\tmeasured ms\tpredicted ms\terror\tmeasured growth\tpredicted\twithout -step\toutside\t")
	var base *tracedBase
	var same, larger kinetoErrors
	for k, n := range p.Networks {
		seconds := slices.Min(r.Seconds[k])
		each, err := n.network.Operations()
		if err != nil {
			return err
		}
		operations := float64(each) * float64(n.Batch)
		if n.Trace != "" {
			if base, err = newTracedBase(&n, seconds, operations); err != nil {
				return err
			}
		}
		made, errMade := base.calibrated.Predict(n.network, "", n.Batch)
		raw, errRaw := base.plain.Predict(n.network, "", n.Batch)
		if err := errors.Join(errMade, errRaw); err != nil {
			return err
		}
		off, offPlain := made.Step/seconds-1, raw.Step/seconds-1
		fmt.Fprintf(table, "%s\t%d\t%.2f\t%.2f\t%+.1f%%\t%.3f\t%.3f\t%+.1f%%\t%.0f%%\t\n", n.Name, n.Batch, 1e3*seconds,
			1e3*made.Step, 100*off, seconds/base.seconds, made.Step/base.seconds, 100*offPlain, 100*made.Outside())
		if n.Trace != "" {
			continue
		}
		e := &same
		if n.Batch != kinetoBatch {
			e = &larger
		}
		e.steps, e.plain = append(e.steps, math.Abs(off)), append(e.plain, math.Abs(offPlain))
		e.growth = append(e.growth, seconds/base.seconds)
		e.proportional = append(e.proportional, math.Abs(base.seconds*operations/base.operations/seconds-1))
	}
	return errors.Join(table.Flush(), same.print(out, "grown networks"),
		larger.print(out, fmt.Sprintf("a batch of %d, grown or not", kinetoLarger*kinetoBatch)))
}

// Sample traces for the tests of trainer/operators.
var sampleTraces = []struct {
	name   string
	input  model.Shape
	traced int
}{{"BatchNormConvolution", model.Shape{3, 32, 32}, 6}, {"CIFARResNet20", model.Shape{3, 32, 32}, 1},
	{"CharGPT", model.Shape{16}, 1}}

// recordSamples writes compressed traces of networks from the zoo.
func (b *bench) recordSamples(to string) error {
	folder, err := os.MkdirTemp("", "kineto-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, s := range sampleTraces {
		n, err := model.Zoo(s.name, model.ZooOptions{Input: s.input})
		if err != nil {
			return err
		}
		plan := &kinetoPlan{Threads: 1, Rounds: 1, Traced: s.traced}
		one, err := newKinetoNetwork(folder, 0, clock.Subject{Name: s.name, Network: n}, 4)
		if err != nil {
			return err
		}
		one.Trace = filepath.Join(folder, "trace.json")
		plan.Networks = []kinetoNetwork{one}
		if _, err := b.record(plan); err != nil {
			return err
		}
		if err := compress(one.Trace, filepath.Join(to, s.name+".json.gz")); err != nil {
			return err
		}
	}
	return nil
}

func compress(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	return errors.Join(w.Close(), os.WriteFile(to, packed.Bytes(), 0o600))
}
