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

// plain returns a network of linear layers.
func plain(width int) *model.Network {
	c := &model.Container{Class: "MLP"}
	for k, l := range []model.Layer{model.Flatten{}, model.NewLinear(3072, width), model.Activate(torch.ReLU),
		model.NewLinear(width, width), model.Activate(torch.ReLU), model.NewLinear(width, 10)} {
		c.Children = append(c.Children, model.Child{Name: fmt.Sprint(k), Module: &model.Leaf{Layer: l}})
	}
	return &model.Network{Input: model.Shape{3, 32, 32}, Root: c}
}

// resident returns this process's memory in bytes, now and at its highest since the last call. ok is false if the
// system does not report it.
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

// Surgery takes at most twice the memory of the tensors that it makes.
func TestSurgeryMemory(t *testing.T) {
	if _, _, ok := resident(); !ok {
		t.Skip("left out: the memory of surgery, which this system does not tell")
	}
	const slack = 4 << 20 // for Go's heap and the allocator's pages
	for _, action := range []string{"deepen:1", "widen:1:3072", "branch:1"} {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n := plain(2048)
			require.NoError(t, n.Materialize(s, model.Placement{}))
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
			t.Logf("measured: %s on a network of ten million parameters makes %d MB and takes %d MB at most", a,
				made>>20, (highest-before)>>20)
			require.LessOrEqual(t, highest-before, 2*made+slack, action)
			return nil
		}))
	}
}
