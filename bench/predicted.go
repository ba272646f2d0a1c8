package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graft/model"
	"graft/net2net"
	"graft/trainer"
	"graft/trainer/clock"
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

// measuredNetwork holds the measurements of a network.
type measuredNetwork struct {
	Name    string // name in predictedNetworks, or "probe"
	Rows    int
	Actions []net2net.Action
	// times of a step relative to a step of the reference network around it: the median of each turn
	Steps []float64
	Last  clock.Measurement // the last measurement

	network *model.Network // the network after the actions; nil means not made yet
}

// networksToPredict returns the networks of predictedNetworks, before growth and after one and two actions.
func networksToPredict() (all []measuredNetwork, err error) {
	for _, p := range predictedNetworks() {
		n, err := p.network()
		if err != nil {
			return nil, err
		}
		for _, g := range grownTwice(clock.Subject{Name: p.name, Network: n}) {
			all = append(all, measuredNetwork{Name: p.name, Rows: p.rows, Actions: g.Actions, network: g.Network})
		}
	}
	return all, nil
}

// grow makes the network of measurements that were read from a file.
func (m *measuredNetwork) grow() error {
	if m.network != nil {
		return nil
	}
	p, err := predicted(m.Name)
	if err != nil {
		return err
	}
	n, err := p.network()
	if err != nil {
		return err
	}
	m.network = n.Sketch()
	for _, a := range m.Actions {
		if _, err := net2net.Apply(m.network, a, net2net.Options{}); err != nil {
			return err
		}
	}
	return nil
}

// measureSteps gives each network a turn, with a number of measurements.
func measureSteps(ctx context.Context, networks []measuredNetwork, bursts int) error {
	for k := range networks {
		n := &networks[k]
		m, err := trainer.Measure(ctx, []clock.Subject{{Name: n.Name, Network: n.network, Actions: n.Actions}},
			trainer.MeasureOptions{Batches: []int{n.Rows}, Rounds: bursts, Quiet: 1, Now: time.Now})
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		n.Last = m.Networks[0]
		n.Steps = append(n.Steps, n.Last.StepSeconds) // relative to a reference that takes one second
	}
	return nil
}

// quiet returns the measurement on a quiet machine: the median of the turns. The argument is the time of the reference
// on a quiet machine.
func (m *measuredNetwork) quiet(reference float64) clock.Measurement {
	made := m.Last
	made.StepSeconds = reference * median(m.Steps)
	return made
}
