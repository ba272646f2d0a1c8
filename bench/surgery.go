package main

import (
	"fmt"
	"time"

	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// operation is a timed surgery. The twin deepens as the original did, and widens in the textbook's way; each takes a
// fresh copy of the network, which is not timed.
type operation struct {
	network, action string
	how             string // a key of ways
	twin            bool   // the twin has it too
}

// ways maps names to options of operations; calibrated ones include a forward pass.
var ways = map[string]net2net.Options{
	"the original's way": {Compat: net2net.Original},
	"a residual branch":  {Form: net2net.Residual},
	"calibrated":         {},
	"":                   {},
}

// operations use the original's network and two of ten million parameters.
var operations = []operation{
	{"ConvNet2", "deepen:0", "the original's way", true},
	{"ConvNet2", "deepen:0", "calibrated", true},
	{"ConvNet2", "deepen:0", "a residual branch", true},
	{"ConvNet2", "widen:conv1:48", "", false},
	{"MLP", "deepen:1", "", true},
	{"MLP", "widen:1:2560", "", true},
	{"ResNet18", "deepen:layer4.1.conv1", "a residual branch", false},
	{"ResNet18", "deepen:layer4.1.conv1", "calibrated", false},
	{"ResNet18", "widen:layer4.0.conv1:640", "", false},
	{"ResNet18", "kernel:layer4.1.conv1:5", "", false},
}

// surgical makes the networks by name: MLP is the twin's, with ten million parameters.
func surgical(name string) (*model.Network, error) {
	if name != "MLP" {
		return model.Zoo(name, model.ZooOptions{Classes: 10, Input: model.Shape{3, 32, 32}})
	}
	c := &model.Container{Class: "MLP"}
	for k, l := range []model.Layer{model.Flatten{}, model.NewLinear(3072, 2048), model.Activate(torch.ReLU),
		model.NewLinear(2048, 2048), model.Activate(torch.ReLU), model.NewLinear(2048, 10)} {
		c.Children = append(c.Children, model.Child{Name: fmt.Sprint(k), Module: &model.Leaf{Layer: l}})
	}
	return &model.Network{Input: model.Shape{3, 32, 32}, Root: c}, nil
}

// operate times a number of operations, each on a copy.
func operate(c command) (answer, error) {
	action, err := net2net.ParseAction(c.Action)
	if err != nil {
		return answer{}, err
	}
	n, err := surgical(c.Network)
	if err != nil {
		return answer{}, err
	}
	var took time.Duration
	err = torch.With(func(s *torch.Scope) error {
		if err := n.Materialize(s, model.Placement{}); err != nil {
			return err
		}
		o := ways[c.How]
		o.Batch = s.Zeros(torch.Float32, torch.CPU, append([]int{batchSize}, n.Input...)...)
		s.Normal(o.Batch, 0, 1, nil)
		for range c.Iterations {
			one, err := operateOnce(n, action, o)
			if err != nil {
				return err
			}
			took += one
		}
		return nil
	})
	return answer{Seconds: took.Seconds()}, err
}

func operateOnce(n *model.Network, a net2net.Action, o net2net.Options) (took time.Duration, err error) {
	return took, torch.With(func(s *torch.Scope) error {
		twin, err := n.Clone(s)
		if err != nil {
			return err
		}
		began := time.Now()
		_, err = net2net.Apply(twin, a, o)
		took = time.Since(began)
		return err
	})
}

// surgery compares operations on one thread, in pairs of processes.
func (b *bench) surgery() error {
	const iterations = 5
	fmt.Println("\nsurgery, 1 thread; the MLP and ResNet18 have ten million parameters; calibrated on 64 images")
	fmt.Fprintln(b.table, "network\toperation\thow\tgraft ms\tPyTorch ms\tratio\t")
	defer b.table.Flush()
	for _, op := range operations {
		c := command{Cmd: "surgery", Network: op.network, Action: op.action, How: op.how, Iterations: iterations}
		var m measured
		if err := b.meetSurgery(op, c, &m); err != nil {
			return err
		}
		ms := func(seconds []float64) string { return fmt.Sprintf("%.2f", 1e3*median(seconds)/iterations) }
		theirs, ratio := "", "\t"
		if op.twin {
			theirs, ratio = ms(m.twin), m.ratio()
		}
		fmt.Fprintf(b.table, "%s\t%s\t%s\t%s\t%s\t%s\n", op.network, op.action, op.how, ms(m.ours), theirs, ratio)
	}
	return nil
}

func (b *bench) meetSurgery(op operation, c command, m *measured) error {
	for range b.starts {
		us, err := b.startOurs(ours[0], 1)
		if err != nil {
			return err
		}
		defer us.stop()
		other := us
		if op.twin {
			if other, err = b.startTwin(b.twins()[0], 1); err != nil {
				return err
			}
			defer other.stop()
		}
		if err := m.pairs(alike(us, other, c), max(1, b.rounds/b.starts)); err != nil {
			return err
		}
	}
	return nil
}
