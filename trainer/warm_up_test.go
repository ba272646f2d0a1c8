package trainer_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
)

// Runs that are killed in the middle of a warm-up, also before and after a reversal, give the same bits as an
// uninterrupted run. A short warm-up ends before the reversal; during a long one the network shrinks.
func TestKilledWarmUpsEndTheSame(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	plain, _, err := runProcess(t, files.OS{}, filepath.Join(t.TempDir(), "plain"), -1)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(3, 3))
	for name, set := range map[string]func(o *trainer.Options){
		"short": func(o *trainer.Options) { o.Adapt.WarmUpNew = 8 },
		"long, with new moments reset": func(o *trainer.Options) {
			o.Adapt.WarmUpNew, o.Adapt.Moments = 500, net2net.ResetNew
		},
		"long, with a new optimizer": func(o *trainer.Options) { o.Adapt.WarmUpNew, o.Adapt.Reset = 500, true },
	} {
		o := brief()
		set(&o)
		want, digest, err := runBrief(t, files.OS{}, filepath.Join(t.TempDir(), "whole"), -1, o)
		require.NoError(t, err)
		require.NotEqual(t, plain.Digest, want.Digest, "the warm-up has no effect")
		kills := 0
		for kills < 5 {
			path := filepath.Join(t.TempDir(), "run")
			for {
				outcome, got, err := runBrief(t, files.OS{}, path, 1+random.IntN(60), o)
				require.NoError(t, err)
				if outcome == nil {
					kills++
					continue
				}
				require.Equal(t, want.Digest, outcome.Digest, "%s, after %d kills", name, kills)
				require.Equal(t, digest, got)
				break
			}
		}
	}
}

// A checkpoint in a warm-up holds births. A job that resumes from it gives the same network.
func TestWarmUpsResume(t *testing.T) {
	o, book := brief(), &memory{}
	o.Checkpoint.Every, o.Adapt.WarmUpNew = 20*ms, 30
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		actions := []string{"deepen:conv1", "widen:conv2:12"}
		p := parts(t, s, trainer.Parts{Recorder: book, Now: ticking()}, actions...)
		j, err := trainer.New(s, p, o)
		require.NoError(t, err)
		want, err := j.Run(context.Background())
		require.NoError(t, err)
		during := 0
		for _, saved := range book.saves {
			all := sections(saved)
			warm := strings.Contains(string(all["optimizer"]), "born/")
			require.Equal(t, warm, strings.Contains(string(all["position.json"]), "warm_until"))
			if !warm || during > 4 {
				continue
			}
			during++
			stopped, err := trainer.ReadSavedJob(all)
			require.NoError(t, err)
			clock := steady(t)
			clock.Time = stopped.Time
			again := parts(t, s, trainer.Parts{Clock: clock, Now: ticking(), Data: p.Data}, actions...)
			j, err := trainer.Resume(s, stopped, again, p.Network.Placement(), o)
			require.NoError(t, err)
			got, err := j.Run(context.Background())
			require.NoError(t, err)
			require.Equal(t, want.Digest, got.Digest)
		}
		require.Greater(t, during, 2)
		return nil
	}))
}

// New parameters hardly move in a long warm-up, while old ones learn as usual.
func TestNewParametersWarmUp(t *testing.T) {
	movement := func(warmUp int) (grown, old float64) {
		o := epochs()
		o.Optimizer, o.Adapt.WarmUpNew, o.Timeline.Events[0].At = torch.OptimizerOptions{Rule: torch.Adam, LR: 0.01},
			warmUp, 0
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			p := parts(t, s, trainer.Parts{}, "deepen:conv2")
			before := map[string][]float64{}
			values := func(x *torch.Tensor) []float64 {
				v, err := torch.Values[float64](s.To(s.Detach(x), torch.Float64, torch.CPU))
				require.NoError(t, err)
				return v
			}
			for _, e := range p.Network.Trained() {
				before[e.Name] = values(e.Tensor)
			}
			j, err := trainer.New(s, p, o)
			require.NoError(t, err)
			_, err = j.Run(context.Background())
			require.NoError(t, err)
			for _, e := range p.Network.Trained() {
				now := values(e.Tensor)
				was, isOld := before[e.Name]
				switch {
				case isOld:
					for k := range now {
						old = max(old, math.Abs(now[k]-was[k]))
					}
				case strings.HasPrefix(e.Name, "conv2.1.") && len(e.Tensor.Shape()) == 4: // begins as an identity
					for _, v := range now {
						grown = max(grown, min(math.Abs(v), math.Abs(v-1)))
					}
				}
			}
			return s.Err()
		}))
		return grown, old
	}
	grown, old := movement(0)
	require.Greater(t, grown, 0.05)
	slow, oldSlow := movement(1_000_000)
	require.Less(t, slow, 1e-3)
	require.Positive(t, slow)
	require.Greater(t, oldSlow, old/2)
}

// Several processes warm up the same parameters.
func TestWarmUpInProcesses(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: a warm-up in several processes; a single process has it; set GRAFT_LONG=1")
	}
	runtime.LockOSThread() // the number of LibTorch's threads belongs to this thread
	defer runtime.UnlockOSThread()
	require.NoError(t, torch.SetThreads(1))
	o := changing()
	o.Optimizer = torch.OptimizerOptions{Rule: torch.SGD, LR: 0.02, Momentum: 0.9}
	o.Adapt.Moments = net2net.ResetNew
	actions := []string{"deepen:conv1", "widen:conv2:12", "deepen:conv2"}
	plain, alone, book := &memory{}, &memory{}, &memory{}
	perform(t, o, plain, nil, actions...)
	o.Adapt.WarmUpNew = 60
	perform(t, o, alone, nil, actions...)
	perform(t, o, book, newTestStarter(t, smallData(1)), actions...)
	require.Equal(t, []int{2, 3, 2, 1}, book.processes())
	require.Less(t, apart(t, book, alone), lossTolerance)
	require.Greater(t, apart(t, plain, alone), 100*lossTolerance)
}

// A trial with a warm-up takes the same steps as the job that takes its action.
func TestTrialsWarmUp(t *testing.T) {
	o := epochs()
	o.Adapt.WarmUpNew = 5
	want := run(t, o, nil, "widen:conv2:12")
	got, err := runJob(t, o, trainer.Parts{Decider: trials(t, 7, "widen:conv2:12")})
	require.NoError(t, err)
	require.Equal(t, want.Digest, got.Digest)
}

// Each value of adapt.moments trains another network. The empty value equals carry.
func TestMomentsInJobs(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	digests := map[string]net2net.Moments{}
	for _, m := range net2net.AllMoments() {
		o := epochs()
		o.Adapt.Moments = m
		got := run(t, o, nil, "widen:conv2:12")
		if m == net2net.Carry {
			require.Equal(t, net2net.Moments(""), digests[got.Digest])
			continue
		}
		require.NotContains(t, digests, got.Digest)
		digests[got.Digest] = m
	}
	require.Len(t, digests, 3)
}

func TestOptionsAfterSurgery(t *testing.T) {
	for says, set := range map[string]func(o *trainer.Options){
		"expected one of: carry, reset-new, reset": func(o *trainer.Options) { o.Adapt.Moments = "new" },
		"adapt.warm_up_new is -1":                  func(o *trainer.Options) { o.Adapt.WarmUpNew = -1 },
		"remove one of them": func(o *trainer.Options) {
			o.Adapt.Reset, o.Adapt.Moments = true, net2net.Reset
		},
	} {
		o := plan()
		set(&o)
		require.ErrorContains(t, o.Validate(), says)
	}
	o := plan()
	o.Adapt.Reset, o.Adapt.Moments = true, net2net.Carry
	o.EnsureDefaults()
	require.NoError(t, o.Validate())
}
