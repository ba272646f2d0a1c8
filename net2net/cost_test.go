package net2net_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// costs are operations on a small network and on ones of ten million parameters:
// ResNet18 has 11.2 for ten classes, the MLP 10.
var costs = []struct {
	network, action string
}{
	{"ConvNet2", "deepen:conv1"},
	{"ConvNet2", "widen:conv1:48"},
	{"ResNet18", "deepen:layer4.1.conv1"},
	{"ResNet18", "branch:layer3.1.conv1"},
	{"ResNet18", "widen:layer4.1.conv1:640"},
	{"ResNet18", "widen:layer1.0.conv2:96"},
	{"ResNet18", "kernel:layer4.0.conv1:5"},
	{"MLP", "deepen:1"},
	{"MLP", "widen:1:3072"},
}

func costly(b testing.TB, s *torch.Scope, name string) *model.Network {
	o := model.ZooOptions{Classes: 10}
	var n *model.Network
	var err error
	if name == "MLP" {
		n = plain(2048)
	} else {
		n, err = model.Zoo(name, o)
	}
	require.NoError(b, err)
	require.NoError(b, n.Materialize(s, model.Placement{}))
	return n
}

// plain is a network of linear layers.
func plain(width int) *model.Network {
	c := &model.Container{Class: "MLP"}
	for k, l := range []model.Layer{model.Flatten{}, model.NewLinear(3072, width), model.Activate(torch.ReLU),
		model.NewLinear(width, width), model.Activate(torch.ReLU), model.NewLinear(width, 10)} {
		c.Children = append(c.Children, model.Child{Name: fmt.Sprint(k), Module: &model.Leaf{Layer: l}})
	}
	return &model.Network{Input: model.Shape{3, 32, 32}, Root: c}
}

func BenchmarkSurgery(b *testing.B) {
	for _, cost := range costs {
		b.Run(cost.network+"/"+cost.action, func(b *testing.B) {
			require.NoError(b, torch.With(func(s *torch.Scope) error {
				n := costly(b, s, cost.network)
				action, err := net2net.ParseAction(cost.action)
				require.NoError(b, err)
				batch := s.Zeros(torch.Float32, torch.CPU, append([]int{2}, n.Input...)...)
				s.Normal(batch, 0, 1, nil)
				for b.Loop() {
					b.StopTimer()
					err := torch.With(func(inner *torch.Scope) error {
						twin, err := n.Clone(inner)
						require.NoError(b, err)
						b.StartTimer()
						_, err = net2net.Apply(twin, action, net2net.Options{Batch: batch})
						b.StopTimer()
						return err
					})
					require.NoError(b, err)
					b.StartTimer()
				}
				return nil
			}))
		})
	}
}

// resident is this process's memory in bytes, now and at its highest since the last
// call. It is false where the system does not tell.
func resident() (now, highest int64, ok bool) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil || os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil {
		return 0, 0, false
	}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = kilobytes << 10
		case "VmHWM":
			highest = kilobytes << 10
		}
	}
	return now, highest, true
}

// Surgery takes no more memory on the way than twice what it makes.
func TestSurgeryMemory(t *testing.T) {
	if _, _, ok := resident(); !ok {
		t.Skip("left out: the memory of surgery, which this system does not tell")
	}
	const slack = 4 << 20 // for Go's heap and the allocator's pages
	for _, action := range []string{"deepen:1", "widen:1:3072", "branch:1"} {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n := costly(t, s, "MLP")
			a, err := net2net.ParseAction(action)
			require.NoError(t, err)
			before, _, _ := resident()
			c, err := net2net.Apply(n, a, net2net.Options{})
			require.NoError(t, err)
			_, highest, _ := resident()
			made := int64(0)
			for k, e := range n.State() {
				if c.Moves[k].Fate != net2net.Kept {
					made += 4 * int64(e.Slot.Count())
				}
			}
			t.Logf("measured: %s on a network of ten million parameters makes %d MB and takes %d MB at most", a, made>>20, (highest-before)>>20)
			require.LessOrEqual(t, highest-before, 2*made+slack, action)
			return nil
		}))
	}
}
