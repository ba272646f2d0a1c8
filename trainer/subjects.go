package trainer

import (
	"fmt"
	"slices"
	"strings"

	"graft/model"
	"graft/net2net"
)

// Subject is a network that is measured.
type Subject struct {
	Name    string           // that people know it by; empty means the class that it prints as
	Network *model.Network   // without weights; measuring leaves it as it is
	Actions []net2net.Action // that made the network of the one of that name; nil means none
}

// String is the name and the actions, such as "ConvNet2 deepen:conv1".
func (s Subject) String() string { return subjectText(s.Name, s.Actions) }

func subjectText(name string, actions []net2net.Action) string {
	words := []string{name}
	for _, a := range actions {
		words = append(words, a.String())
	}
	return strings.Join(words, " ")
}

// designed are the networks of the zoo that are measured where none is named. They
// are small enough for a laptop, and differ in what costs depend on: linear layers
// alone, few and many layers, small and large images inside, large weights, and
// convolutions of one channel each.
var designed = []string{"FeedForwardNet2", "MLP", "BatchNormConvolution", "ConvNet", "ConvNet2", "ConvNet3", "ConvSmall", "LargeConvNet", "CIFARResNet20", "MobileNetV2"}

// Subjects are the networks that are measured where none is named, for images of a
// shape and a number of classes: some of the zoo, and each of them deepened and
// widened once, so that what adaptation costs is measured and not guessed.
func Subjects(input model.Shape, classes int) ([]Subject, error) {
	var all []Subject
	for _, name := range designed {
		n, err := model.Zoo(name, model.ZooOptions{Input: input, Classes: classes})
		if err != nil {
			return nil, err
		}
		first := Subject{Name: name, Network: n}
		adapted, err := Adapted(first)
		if err != nil {
			return nil, err
		}
		all = append(append(all, first), adapted...)
	}
	return all, nil
}

// Adapted is a network deepened and widened, each once and by itself, where it can
// be. The blocks are those in the middle of what can be.
func Adapted(of Subject) ([]Subject, error) {
	proposals, err := net2net.Proposals(of.Network)
	if err != nil {
		return nil, fmt.Errorf("adapt %s: %w", of, err)
	}
	var all []Subject
	for _, kind := range []net2net.Kind{"deepen", "widen"} {
		fit := slices.DeleteFunc(slices.Clone(proposals), func(a net2net.Action) bool { return a.Kind != kind })
		if len(fit) == 0 {
			continue
		}
		a := fit[(len(fit)-1)/2]
		n := of.Network.Sketch()
		if _, err := net2net.Apply(n, a, net2net.Options{}); err != nil {
			return nil, fmt.Errorf("adapt %s: %w", of, err)
		}
		all = append(all, Subject{Name: of.Name, Network: n, Actions: append(slices.Clone(of.Actions), a)})
	}
	return all, nil
}
