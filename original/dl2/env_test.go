package dl2_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/internal/random/numpy"
	"graft/original/dl2"
)

// recorded reads a file of the reference, or skips the test if the file does not exist.
func recorded(t testing.TB, name string, into any) {
	text, err := os.ReadFile("../../../shared/reference/dl2/" + name)
	if err != nil {
		t.Skip("left out: the reference data of DL2 is not beside the repository")
	}
	require.NoError(t, json.Unmarshal(text, into))
}

// recordedStudy returns a workload of the reference.
func recordedStudy(t testing.TB, config string, seed int) elastic.Study {
	var types struct {
		Models  []string            `json:"models"`
		Sizes   []float64           `json:"epoch_sizes"`
		Workers []elastic.Resources `json:"resr_workers"`
		Servers []elastic.Resources `json:"resr_ps"`
	}
	recorded(t, "types.json", &types)
	var s elastic.Study
	for k, name := range types.Models {
		s.Types = append(s.Types, elastic.JobType{Name: name, Worker: types.Workers[k], Server: types.Servers[k],
			EpochSize: types.Sizes[k]})
	}
	var raw, speeds json.RawMessage
	recorded(t, fmt.Sprintf("traces/%s/seed%d.json", config, seed), &raw)
	trace, err := elastic.ReadTrace(strings.NewReader(string(raw)), len(s.Types))
	require.NoError(t, err)
	recorded(t, "speed_table.json", &speeds)
	s.Speed, err = elastic.ReadTable(strings.NewReader(string(speeds)))
	require.NoError(t, err)
	s.Jobs, s.Options = trace.Jobs, trace.Settings.Options
	return s
}

type recordedEpisode struct {
	Config, Mode string
	Seed         int
	Actions      []int
	States       string  `json:"states_sha256_f64le"`
	First        [][]any `json:"first_200_reward_moveon_valid"`
	JCTs         map[int]float64
	AvgJCT       float64 `json:"avg_jct"`
	Makespan     float64
}

// Under a uniform policy, states, actions, rewards and completions equal the published environment's, draw for draw, in
// training and validation.
func TestPublishedEnvironment(t *testing.T) {
	var file struct{ Runs []recordedEpisode }
	recorded(t, "golden/rl_golden.json", &file)
	require.Len(t, file.Runs, 8)
	for _, want := range file.Runs {
		t.Run(fmt.Sprintf("%s %d %s", want.Config, want.Seed, want.Mode), func(t *testing.T) {
			t.Parallel()
			e, err := dl2.NewEnv(recordedStudy(t, want.Config, want.Seed),
				dl2.EnvOptions{Training: want.Mode == "train"}, numpy.New(uint32(want.Seed)))
			require.NoError(t, err)
			states := sha256.New()
			uniform := slices.Repeat([]float64{1 / float64(e.Window.Actions())}, e.Window.Actions())
			for k := 0; !e.Done(); k++ {
				for _, v := range e.Observe() {
					_, _ = states.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
				}
				got, err := e.Step(uniform)
				require.NoError(t, err)
				require.Equal(t, want.Actions[k], got.Action, "step %d", k)
				if k < len(want.First) {
					require.InDelta(t, want.First[k][0], got.Reward, 1e-12)
					require.Equal(t, want.First[k][1:], []any{got.Ended, got.Valid}, "step %d", k)
				}
			}
			require.Equal(t, want.States, hex.EncodeToString(states.Sum(nil)))
			r := e.Result()
			require.InDelta(t, want.Makespan, r.Makespan, 1e-9)
			for _, c := range r.Completions {
				require.InDelta(t, want.JCTs[c.ID], c.JCT, 1e-9)
			}
		})
	}
}
