package train

import (
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/runner/app"
)

// The first name of a list is the first line of 'scontrol show hostnames'.
func TestFirstHostOfAList(t *testing.T) {
	for list, want := range map[string]string{"": "", "n1": "n1", "n1,n2": "n1", "gpu[03-06]": "gpu03",
		"gpu[3,7-9],login": "gpu3", "a[01-02]b,c": "a01b", "login,gpu[1-2]": "login", "rack1-n[001]": "rack1-n001",
		"a[1-2]b[3-4]": "a1b3", "a[1-2]b[03,7]c,d": "a1b03c", "q[7]-[1,3-4]-x[5],a[1-2]": "q7-1-x5"} {
		require.Equal(t, want, firstHost(list), list)
	}
}

// A task finds the leader by the step's nodes, or else by the node on which srun was called.
func TestTaskOfSrun(t *testing.T) {
	addresses := map[string][]net.IP{"gpu03": {net.IPv4(127, 0, 1, 1), net.IPv4(10, 1, 0, 3)},
		"public": {net.IPv4(8, 8, 8, 8)}}
	resolve := func(name string) ([]net.IP, error) {
		if found := addresses[name]; found != nil {
			return found, nil
		}
		return nil, errors.New("no such host")
	}
	for name, c := range map[string]struct {
		variables map[string]string
		want      slurmTask
		says      string
	}{
		"no srun":   {nil, slurmTask{}, "use 'srun graft train'"},
		"no number": {map[string]string{"SLURM_PROCID": "first"}, slurmTask{}, "use 'srun graft train'"},
		"one node": {map[string]string{"SLURM_PROCID": "2", "SLURM_STEP_NUM_NODES": "1"},
			slurmTask{2, "127.0.0.1"}, ""},
		"by name": {map[string]string{"SLURM_PROCID": "0", "SLURM_STEP_NUM_NODES": "4",
			"SLURM_STEP_NODELIST": "gpu[03-06]", "SLURM_LAUNCH_NODE_IPADDR": "10.9.9.9"}, slurmTask{0, "10.1.0.3"}, ""},
		"by srun's node": {map[string]string{"SLURM_PROCID": "3", "SLURM_STEP_NODELIST": "public,b",
			"SLURM_LAUNCH_NODE_IPADDR": "10.9.9.9"}, slurmTask{3, "10.9.9.9"}, ""},
		"by nothing": {map[string]string{"SLURM_PROCID": "3", "SLURM_STEP_NODELIST": "b[1-2]"}, slurmTask{rank: 3},
			`no private address of "b1"`},
		"no step nodelist": {map[string]string{"SLURM_PROCID": "1"}, slurmTask{rank: 1}, "no such host"},
	} {
		got, err := findTask(&app.Env{Getenv: func(key string) string { return c.variables[key] }}, resolve)
		if c.says != "" {
			require.ErrorContains(t, err, c.says, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}

func TestTokenOfFollowers(t *testing.T) {
	env := &app.Env{}
	_, err := readToken(env, "")
	require.ErrorContains(t, err, "the environment variable GRAFT_TOKEN")
	env.Getenv = func(string) string { return "0123456789abcdef" }
	token, err := readToken(env, "")
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", token)
}
