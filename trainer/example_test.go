package trainer_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/decider"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// demo runs the job of `graft demo`: a network grows when it gets devices, and shrinks when they are taken away.
func demo() (outcome *trainer.Outcome, err error) {
	o := trainer.Options{Seed: 1, Steady: true, Augment: torch.Augment{Pad: 2, Flip: true},
		Adapt: trainer.Adapt{Every: true, MaxDecisions: 2, Surgery: net2net.Options{Noise: 0.05}},
		Timeline: trainer.Timeline{Budget: 18 * time.Second, Events: []trainer.Event{{At: 5 * time.Second,
			Change: trainer.Up, Devices: 2}, {At: 14 * time.Second, Change: trainer.Down, Devices: 1}}}}
	actions := decider.Script{Actions: []net2net.Action{{Kind: "deepen", Target: "conv2"},
		{Kind: "widen", Target: "conv3", Size: 64}}}
	err = torch.With(func(s *torch.Scope) error {
		data, err := dataset.Load(s, torch.CPU, files.OS{},
			dataset.Options{Synthetic: dataset.SyntheticOptions{Train: 4000, Test: 1000}})
		if err != nil {
			return err
		}
		n, err := model.Zoo("ConvSmall", model.ZooOptions{})
		if err != nil {
			return err
		}
		profile, err := clock.FindProfile("steady")
		if err != nil {
			return err
		}
		if err := n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}); err != nil {
			return err
		}
		job, err := trainer.New(s, trainer.Parts{Network: n, Data: data, Clock: &clock.Virtual{Profile: profile},
			Decider: actions, Now: time.Now}, o)
		if err != nil {
			return err
		}
		outcome, err = job.Run(context.Background())
		return err
	})
	return outcome, err
}

// The example takes half a minute, so it is compiled but not run.
func ExampleNew() {
	outcome, err := demo()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d epochs, %.0f%% of the test images are right\n", outcome.Epochs, 100*outcome.Test.Accuracy)
}

// demoDigest is the digest of the demo's job on every processor that is limited to AVX2.
const demoDigest = "bf776d2c11f5a3e37dd7d7cdaa596d80c3dd4c1414c6fc7f1850ef7d5bce717a"

// The demo's job has one digest on every machine. The test runs in a process of its own, before LibTorch opens.
func TestDemoDigest(t *testing.T) {
	if !long {
		t.Skip("left out: it takes half a minute; set GRAFT_LONG=1")
	}
	if os.Getenv(limitedVariable) == "" {
		child := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		child.Env = append(os.Environ(), limitedVariable+"=1")
		out, err := child.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	outcome, err := demo()
	require.NoError(t, err)
	require.Equal(t, demoDigest, outcome.Digest)
}
