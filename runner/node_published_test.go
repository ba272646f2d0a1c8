package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/internal/failure"
)

// The baselines of the published study have the recorded results, bit for bit.
func TestPublishedTasks(t *testing.T) {
	text, err := os.ReadFile("../../shared/reference/gpu-tasks/golden/baselines_200ep.json")
	if os.IsNotExist(err) {
		t.Skip("left out: the recorded results are not here")
	}
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	var recorded map[string]map[string]float64
	require.NoError(t, json.Unmarshal(text, &recorded))
	names := map[string]bool{}
	for name := range recorded {
		_, policy, _ := strings.Cut(name, "_")
		names[policy] = true
	}
	var list []string
	for name := range names {
		list = append(list, name)
	}
	for gpus := range 8 {
		if recorded[fmt.Sprintf("gpus%d_gpu0", gpus)] == nil {
			continue
		}
		o := object[study.Outcome](t, fmt.Sprintf("node simulate --compat tasks --set tasks.test_count=200 "+
			"--set tasks.seed=12345 --set machine.gpus=%d --scheduler %s --out gpus%[1]d", gpus,
			strings.Join(list, ",")))
		for _, c := range o.Cells {
			want := recorded[fmt.Sprintf("gpus%d_%s", gpus, c.Scheduler)]
			require.Equal(t, study.Values{
				"reward": study.Number(want["mean_reward"]), "reward_deviation": study.Number(want["sd_reward"]),
				"placed_tasks": study.Number(want["mean_placed"]), "drawn_tasks": study.Number(want["mean_tasks"]),
				"makespan_steps": study.Number(want["mean_makespan"]),
			}, c.Values, c.Scheduler)
		}
		require.Len(t, o.Cells, len(list))
	}
}

// PPO learns with each seed, and the report states the mean over seeds.
func TestPublishedPPO(t *testing.T) {
	longOnly(t, "PPO of the published study; its learning is checked where it is written")
	t.Chdir(t.TempDir())
	text := done(t, "node", "simulate", "--compat", "tasks", "--set", "tasks.test_count=2", "--scheduler",
		"random,ppo", "--set", "run.seeds=2", "--out", "run").stdout
	require.Regexp(t, `(?s)2 episodes on 4 GPUs, seed 1.*ppo has a reward of [0-9.]+ on average over 2 seeds.*`+
		`random .*ppo, seed 1 .*ppo, seed 2 `, text)
	curve := strings.Split(contents(t, "run/ppo-seed-2/learning.csv"), "\n")
	require.Len(t, curve, 27)
	require.Equal(t, "actions,reward,length [steps],value_loss,entropy [nats],kl,clip_fraction,explained_variance",
		curve[0])
	require.Regexp(t, `^51200,`, curve[25])
	require.Equal(t, text, done(t, "node", "simulate", "--compat", "tasks", "--set", "tasks.test_count=2",
		"--scheduler", "random,ppo", "--set", "run.seeds=2", "--out", "run", "--resume").stdout)
}

func TestPublishedTasksFaults(t *testing.T) {
	t.Chdir(t.TempDir())
	for set, says := range map[string]string{
		`schedule.schedulers=["best-fit"]`: "unknown scheduler best-fit; " +
			"with machine.compat = \"tasks\", expected one of: gpu0, round_robin",
		"tasks.max_tasks=60":        "tasks.max_tasks is not used if machine.compat is tasks",
		`workload.traces=["a.csv"]`: "workload.traces is not used if machine.compat is tasks",
		"schedule.quantum=3s":       "schedule.quantum is not used if machine.compat is tasks",
	} {
		fails(t, failure.Configuration, says, "node", "simulate", "--compat", "tasks", "--set", set)
	}
	fails(t, failure.Configuration, "ppo is a scheduler of the published study; set machine.compat = \"tasks\"", "node",
		"simulate", "--scheduler", "ppo")
	path := write(t, "tasks.toml", "[machine]\ncompat = \"tasks\"\n[[task]]\nname = \"a\"\nduration = \"1s\"\n")
	fails(t, failure.Configuration, "the published study generates its tasks; remove [[task]]", "node", "simulate",
		path)
	path = write(t, "fine.toml", "[machine]\ncompat = \"tasks\"\n")
	require.Contains(t, done(t, "config", "check", path).stdout,
		"20 episodes of the published study on 4 GPUs under gpu0, ")
}
