package train

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"graft/runner/app"
	"graft/runner/control"
	"graft/trainer/team"
)

// slurmTask is a process started by srun.
type slurmTask struct {
	rank   int    // rank from 0, the leader
	leader string // IP address of its node
}

// afterLeader is the time that a task of srun looks for a leader whose node refuses connections, because the leader has
// ended.
const afterLeader = 3 * time.Second

// findTask reads the variables set by srun. Resolve finds the addresses of a name.
func findTask(env *app.Env, resolve func(name string) ([]net.IP, error)) (slurmTask, error) {
	rank, err := strconv.Atoi(env.Variable("SLURM_PROCID"))
	if err != nil || rank < 0 {
		return slurmTask{}, errors.New("parallel.listen is slurm, but this process was not started by srun; " +
			"use 'srun graft train', or set parallel.listen to an address")
	}
	t := slurmTask{rank: rank}
	if env.Variable("SLURM_STEP_NUM_NODES") == "1" {
		t.leader = "127.0.0.1"
		return t, nil
	}
	first := firstHost(env.Variable("SLURM_STEP_NODELIST"))
	found, err := resolve(first)
	for _, ip := range found {
		if !ip.IsLoopback() && ip.IsPrivate() {
			t.leader = ip.String()
			return t, nil
		}
	}
	// In a batch script, task 0 runs on the node that called srun.
	if t.leader = env.Variable("SLURM_LAUNCH_NODE_IPADDR"); t.leader != "" {
		return t, nil
	}
	return t, errors.Join(fmt.Errorf(
		"found no private address of %q, the node of task 0; set parallel.listen to an address", first), err)
}

// firstHost returns the first name in a Slurm host list, such as gpu[03-06,9],login or rack[1-2]-gpu[1-4].
func firstHost(list string) string {
	var name strings.Builder
	for {
		k := strings.IndexAny(list, "[,")
		if k < 0 {
			return name.String() + list
		}
		name.WriteString(list[:k])
		if list[k] == ',' {
			return name.String()
		}
		inside, after, _ := strings.Cut(list[k+1:], "]")
		number := inside
		if end := strings.IndexAny(inside, "-,"); end >= 0 {
			number = inside[:end]
		}
		name.WriteString(number)
		list = after
	}
}

// meet returns the address at which followers join the leader of a job. Task 0 of srun is the leader; another task
// follows it here until the leader has ended, and reports that.
func meet(ctx context.Context, env *app.Env, p team.Parallel,
	set []string) (address string, followed bool, err error) {
	port, is := p.Slurm()
	if !is {
		return p.Listen, false, nil
	}
	task, err := findTask(env, net.LookupIP)
	if err != nil {
		return "", false, err
	}
	address = net.JoinHostPort(task.leader, port)
	if task.rank == 0 {
		return address, false, nil
	}
	return address, true, Join(ctx, env, JoinOptions{Address: address, Token: p.Token, Set: set, Wait: p.Start,
		Again: afterLeader, Task: true})
}

// readToken reads the token of leader and followers from a file, or else from the environment.
func readToken(env *app.Env, path string) (string, error) {
	if path != "" {
		return control.ReadToken(env, path)
	}
	token := env.Variable(control.TokenVariable)
	if token == "" {
		return "", fmt.Errorf("no token for followers: set parallel.token_file or the environment variable %s; "+
			"'openssl rand -hex 16' generates a token", control.TokenVariable)
	}
	return token, nil
}
