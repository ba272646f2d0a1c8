package clock

import (
	"fmt"
	"slices"
	"strings"

	"graft/model"
	"graft/net2net"
)

// Subject is a network to measure.
type Subject struct {
	Name    string           // name of the network before Actions; empty means the name of its class
	Network *model.Network   // network without weights; it is not changed
	Actions []net2net.Action // actions applied to the network; nil means none
}

// String returns the name and the actions, such as "ConvNet2 deepen:conv1".
func (s Subject) String() string { return subjectText(s.Name, s.Actions) }

func subjectText(name string, actions []net2net.Action) string {
	words := []string{name}
	for _, a := range actions {
		words = append(words, a.String())
	}
	return strings.Join(words, " ")
}

// designed are the networks from the zoo that are measured by default. They are small enough for a laptop and differ in
// the quantities that determine costs: linear layers alone, few and many layers, small and large activations, large
// weights, and depthwise convolutions.
var designed = []string{"FeedForwardNet2", "MLP", "BatchNormConvolution", "ConvNet", "ConvNet2", "ConvNet3",
	"ConvSmall", "LargeConvNet", "CIFARResNet20", "MobileNetV2"}

// Subjects returns the networks that are measured by default, for an input shape and a number of classes. They are
// networks from graft's model zoo and two variants of each: one deepened once, and one widened once. The costs of grown
// networks are therefore measured too, not only predicted.
func Subjects(input model.Shape, classes int) ([]Subject, error) {
	var all []Subject
	for _, name := range designed {
		n, err := model.Zoo(name, model.ZooOptions{Input: input, Classes: classes})
		if err != nil {
			return nil, err
		}
		first := Subject{Name: name, Network: n}
		adapted, err := Adapted(first, 1)
		if err != nil {
			return nil, err
		}
		all = append(append(all, first), adapted...)
	}
	return all, nil
}

// Adapted returns variants of a network, deepened or widened once, at evenly spread blocks and layers. The argument
// ways is the maximum number of variants of each kind.
func Adapted(of Subject, ways int) ([]Subject, error) {
	proposals, err := net2net.Proposals(of.Network)
	if err != nil {
		return nil, fmt.Errorf("adapt %s: %w", of, err)
	}
	var sequences [][]net2net.Action
	for _, kind := range []net2net.Kind{"deepen", "widen"} {
		fit := slices.DeleteFunc(slices.Clone(proposals), func(a net2net.Action) bool { return a.Kind != kind })
		count := min(ways, len(fit))
		for k := range count {
			sequences = append(sequences, []net2net.Action{fit[((2*k+1)*len(fit)-1)/(2*count)]})
		}
	}
	all, err := Grown(of, sequences, net2net.Options{})
	if err != nil {
		return nil, fmt.Errorf("adapt %s: %w", of, err)
	}
	return all[1:], nil
}

// Grown returns a network and all distinct networks that sequences of actions produce from it. Actions that do not fit
// are omitted.
func Grown(of Subject, sequences [][]net2net.Action, surgery net2net.Options) ([]Subject, error) {
	all, seen := []Subject{of}, map[string]bool{net2net.Fingerprint(of.Network): true}
	for _, sequence := range sequences {
		s := Subject{Name: of.Name, Network: of.Network.Sketch(), Actions: slices.Clone(of.Actions)}
		for _, a := range sequence {
			if _, err := net2net.Apply(s.Network, a, surgery); err == nil {
				s.Actions = append(s.Actions, a)
			}
		}
		if print := net2net.Fingerprint(s.Network); !seen[print] {
			seen[print] = true
			all = append(all, s)
		}
	}
	if len(sequences) > 0 && len(all) == 1 {
		return nil, fmt.Errorf("none of the actions to measure can be applied to the network %s", of)
	}
	return all, nil
}
