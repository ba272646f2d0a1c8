package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
	"graft/trainer/operators"
	"graft/trainer/probes"
)

// predictedNetwork is a network whose steps are predicted.
type predictedNetwork struct {
	name  string // name in the zoo, or the file of a network that was imported from PyTorch
	input model.Shape
	rows  int
}

// predictedNetworks lists the networks, none of which is measured for the prediction.
func predictedNetworks() (all []predictedNetwork) {
	image := model.Shape{3, 32, 32}
	all = []predictedNetwork{{"FeedForwardNet", image, 64}, {"FeedForwardNet2", image, 64},
		{"FeedForwardNet3", model.Shape{1, 28, 28}, 32}, {"MLP", image, 128}, {"BatchNormConvolution", image, 64},
		{"ConvNet", image, 64}, {"ConvNet2", image, 128}, {"ConvNet3", image, 64}, {"ConvSmall", image, 64},
		{"LargeConvNet", image, 32}, {"CIFARResNet20", image, 64}, {"CIFARResNet56", image, 16},
		{"ResNet18", model.Shape{3, 64, 64}, 8}, {"MobileNetV2", model.Shape{3, 64, 64}, 16},
		{"EfficientNetB0", model.Shape{3, 64, 64}, 8}, {"ViTTiny32", image, 4}, {"Mixer32", image, 16},
		{"ConvNeXt32", image, 8}, {"CharGPT", model.Shape{64}, 16}, {"SmallLLaMA", model.Shape{64}, 8}}
	for name, rows := range map[string]int{"cnn": 64, "resnet": 64, "convnext": 32, "vit": 16, "gpt": 16,
		"densenet": 32, "squeezenet": 64, "separable": 32, "perceptron": 64, "transformer": 16} {
		all = append(all, predictedNetwork{name: name + ".toml", rows: rows})
	}
	slices.SortStableFunc(all[len(all)-10:], func(a, b predictedNetwork) int { return strings.Compare(a.name, b.name) })
	return all
}

func (p *predictedNetwork) network() (*model.Network, error) {
	if p.input == nil {
		return growingNetwork(filepath.Join("bench/growth", p.name), p.name)
	}
	o := model.ZooOptions{Input: p.input, Classes: 10}
	if len(p.input) == 1 {
		o.Classes = 0 // the size of the vocabulary
	}
	return model.Zoo(p.name, o)
}

// operatorStudy holds what was measured.
type operatorStudy struct {
	Threads int
	Torch   string
	Device  *operators.Device // operators of the small networks
	// number of small networks that were measured only while other programs slowed the machine down
	Disturbed int
	Probes    []clock.Measurement
	Steps     map[string][]clock.Measurement // by network: before growth, and after one and two actions
}

// probesForRates is the number of small networks to which rates are fitted, to compare with.
const probesForRates = 120

// studyOperators predicts steps of networks from operators that were measured in other networks.
func (b *bench) studyOperators(out io.Writer) error {
	study, err := readStudy(b.keep)
	if err != nil {
		return err
	}
	if study == nil {
		if study, err = b.measureOperators(); err != nil {
			return err
		}
		if b.keep != "" {
			text, err := json.Marshal(study)
			if err == nil {
				err = os.WriteFile(b.keep, text, 0o600)
			}
			if err != nil {
				return err
			}
		}
	}
	return study.print(out)
}

func readStudy(file string) (*operatorStudy, error) {
	text, err := os.ReadFile(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	study := &operatorStudy{}
	return study, json.Unmarshal(text, study)
}

func (b *bench) measureOperators() (*operatorStudy, error) {
	if err := torch.SetThreads(b.options.threads); err != nil {
		return nil, err
	}
	runtime, err := torch.Describe()
	if err != nil {
		return nil, err
	}
	all, err := probes.Draw(probes.Options{Seed: uint64(b.seed), Count: b.probes})
	if err != nil {
		return nil, err
	}
	s, ctx := &operatorStudy{Threads: b.options.threads, Torch: runtime.Version,
		Steps: map[string][]clock.Measurement{}}, context.Background()
	// All measurements take turns, so a slow phase of the machine affects all of them. The networks have two turns per
	// round, because disturbed small networks are measured again.
	var failed error
	o := trainer.MeasureOptions{Rounds: b.rounds, Now: time.Now, Tell: func(_ string, done, of int) {
		if half := max(1, len(all)/2); failed == nil && (done == of || done%half == 0) {
			failed = s.measureNetworks(ctx)
		}
		if failed == nil && done%len(all) == 0 {
			failed = s.measureProbes(ctx, all)
		}
	}}
	measured, err := trainer.MeasureOperators(ctx, all, o)
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	s.Device, s.Disturbed = measured.Device, measured.Disturbed
	return s, nil
}

// measureProbes measures the steps of the small networks for rates once, and keeps the shortest ones.
func (s *operatorStudy) measureProbes(ctx context.Context, all []probes.Probe) error {
	for k, p := range all[:min(len(all), probesForRates)] {
		m, err := trainer.Measure(ctx, []clock.Subject{{Name: "probe", Network: p.Network}},
			trainer.MeasureOptions{Batches: []int{p.Rows}, Rounds: 1, Now: time.Now})
		if err != nil {
			return err
		}
		if k == len(s.Probes) {
			s.Probes = append(s.Probes, m.Networks[0])
		}
		s.Probes[k].StepSeconds = min(s.Probes[k].StepSeconds, m.Networks[0].StepSeconds)
	}
	return nil
}

// measureNetworks measures the steps of all networks once. The shortest step of all calls is kept, as for operators,
// because other programs can only make a step slower.
func (s *operatorStudy) measureNetworks(ctx context.Context) error {
	for _, p := range predictedNetworks() {
		n, err := p.network()
		if err != nil {
			return err
		}
		m, err := trainer.Measure(ctx, grownTwice(clock.Subject{Name: p.name, Network: n}),
			trainer.MeasureOptions{Batches: []int{p.rows}, Rounds: 1, Now: time.Now})
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for k, before := range s.Steps[p.name] {
			m.Networks[k].StepSeconds = min(before.StepSeconds, m.Networks[k].StepSeconds)
		}
		s.Steps[p.name] = m.Networks
	}
	return nil
}

// grownTwice returns a network, and the network after it was deepened, and then widened.
func grownTwice(first clock.Subject) []clock.Subject {
	all := []clock.Subject{first}
	for _, kind := range []net2net.Kind{"deepen", "widen"} {
		last := all[len(all)-1]
		proposals, err := net2net.Proposals(last.Network)
		if err != nil {
			break
		}
		for k := range proposals {
			a := proposals[(k+len(proposals)/3)%len(proposals)]
			next := clock.Subject{Name: last.Name, Network: last.Network.Sketch(),
				Actions: append(slices.Clone(last.Actions), a)}
			if a.Kind != kind {
				continue
			}
			if _, err := net2net.Apply(next.Network, a, net2net.Options{}); err == nil {
				all = append(all, next)
				break
			}
		}
	}
	return all
}

// stepPredictor is a way to predict steps.
type stepPredictor struct {
	name    string
	seconds func(n *model.Network, rows int) (float64, error)

	steps, growth []float64 // errors of steps, and of the ratio of a grown network to the network before growth
}

func (s *operatorStudy) predictors() []*stepPredictor {
	device := operators.NewDevicePredictor(s.Device)
	m := clock.Measured{Networks: s.Probes}
	rates := m.Profile("rates", "this machine", clock.Provenance{})
	var each []float64
	for _, p := range s.Probes {
		each = append(each, p.StepSeconds/float64(p.Operations+p.Grouped)/float64(p.Batch))
	}
	perOperation := median(each)
	return []*stepPredictor{
		{name: "operators", seconds: func(n *model.Network, rows int) (float64, error) {
			made, err := device.Predict(n, "", rows)
			return made.Step, err
		}},
		{name: "rates", seconds: func(n *model.Network, rows int) (float64, error) {
			w := clock.Work{Kind: clock.Steps, Count: 1, Rows: rows, Network: n}
			return rates.Cost(w).Seconds(), rates.Knows(w)
		}},
		{name: "floating-point operations", seconds: func(n *model.Network, rows int) (float64, error) {
			count, err := n.Operations()
			return perOperation * float64(count) * float64(rows), err
		}},
	}
}

func (s *operatorStudy) print(out io.Writer) error {
	fmt.Fprintf(out, "\nsteps predicted from operators of %d small networks, LibTorch %s, threads: %d\n"+
		"small networks that were measured only while other programs slowed the machine down: %d\n", s.Device.Networks,
		s.Torch, s.Threads, s.Disturbed)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "network\tbatch\tactions\tstep [ms]\t")
	predictors := s.predictors()
	for _, p := range predictors {
		fmt.Fprintf(table, "%s\t", p.name)
	}
	fmt.Fprintln(table)
	for _, p := range predictedNetworks() {
		if err := s.printNetwork(table, &p, predictors); err != nil {
			return err
		}
	}
	for _, p := range predictors {
		fmt.Fprintf(table, "\n%s: %d steps off by %.1f%% in the median, %.1f%% at worst; growth by %.1f%% in the "+
			"median, %.1f%% at worst\n", p.name, len(p.steps), 100*median(p.steps), 100*slices.Max(p.steps),
			100*median(p.growth), 100*slices.Max(p.growth))
	}
	return table.Flush()
}

func (s *operatorStudy) printNetwork(out io.Writer, p *predictedNetwork, predictors []*stepPredictor) error {
	first, err := p.network()
	if err != nil {
		return err
	}
	bases := make([]float64, len(predictors))
	for _, m := range s.Steps[p.name] {
		n := first.Sketch()
		for _, a := range m.Actions {
			if _, err := net2net.Apply(n, a, net2net.Options{}); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%s\t%d\t%d\t%.2f\t", p.name, p.rows, len(m.Actions), 1e3*m.StepSeconds)
		for k, by := range predictors {
			seconds, err := by.seconds(n, p.rows)
			if err != nil {
				return err
			}
			ratio := seconds / m.StepSeconds
			if by.steps = append(by.steps, math.Abs(ratio-1)); len(m.Actions) == 0 {
				bases[k] = ratio
			} else {
				by.growth = append(by.growth, math.Abs(ratio/bases[k]-1))
			}
			fmt.Fprintf(out, "%+.1f%%\t", 100*(ratio-1))
		}
		fmt.Fprintln(out)
	}
	return nil
}
