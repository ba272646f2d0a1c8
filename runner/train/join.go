package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"syscall"
	"time"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/team"
)

// JoinOptions holds the options of a follower that joins a job from another machine.
type JoinOptions struct {
	Address string        // address of the leader, as HOST:PORT
	Token   string        // path of the file with the token; empty means the environment variable
	Set     []string      // assignments applied after the leader's, such as data.path
	Device  string        // device of this process
	Wait    time.Duration // time limit for reaching a leader; zero means one minute
	// whether srun started the process as a task; such a task starts and ends together with its leader, and receives
	// the same signals. If false, a signal makes the process leave the job.
	Task bool
	// time limit for reaching a leader again while its machine refuses connections; zero means the value of Wait
	Again time.Duration
}

// Join trains as a follower of a leader on another machine, and joins again after it is dismissed or loses the
// connection. It returns an error if it cannot reach a leader within the time limits of the options.
func Join(ctx context.Context, env *app.Env, o JoinOptions) error {
	token, err := readToken(env, o.Token)
	if err != nil {
		return err
	}
	version, err := versionOf(env)
	if err != nil {
		return err
	}
	o.Wait = cmp.Or(o.Wait, time.Minute)
	dial := func() (net.Conn, error) {
		var d net.Dialer
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return d.DialContext(limited, "tcp", o.Address)
	}
	worked := false
	for since := env.Now(); ; {
		l, err := team.Join(ctx, dial, token, version, team.Means{Now: env.Now, Random: env.Random})
		switch {
		case ctx.Err() != nil && o.Task && worked:
			return nil
		case ctx.Err() != nil:
			return failure.With(failure.Interrupted, ctx.Err())
		case err == nil:
			worked = true
			if err := followLeader(ctx, env, l, o); err != nil {
				env.Log.Warn("lost the leader; reconnecting", zap.Error(err))
				rest(ctx)
			}
			since = env.Now()
			continue
		case errors.Is(err, team.ErrLeft) && !worked:
			worked, since = true, env.Now()
			continue
		case refused(err):
			return failure.With(failure.Usage, err)
		case env.Now().Sub(since) < o.patience(worked && errors.Is(err, syscall.ECONNREFUSED)):
			rest(ctx)
			continue
		case worked:
			env.Log.Info("leader left the job")
			return nil
		}
		return fmt.Errorf("join a job: no leader found at %s within %v: %w", o.Address, o.Wait, err)
	}
}

// rest waits between two attempts, so that a failing follower does not keep its leader busy.
func rest(ctx context.Context) {
	pause, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	<-pause.Done()
}

// patience returns the time to look for a leader.
func (o JoinOptions) patience(ended bool) time.Duration {
	if ended {
		return cmp.Or(o.Again, o.Wait)
	}
	return o.Wait
}

// refused reports whether the leader is available and refuses this follower.
func refused(err error) bool { return errors.Is(err, team.ErrRefused) }

// followLeader works for one leader until it ends.
func followLeader(ctx context.Context, env *app.Env, l *team.Leader, o JoinOptions) error {
	defer l.Close()
	folder, err := env.Files.MkdirTemp("", "graft-")
	if err != nil {
		return err
	}
	defer func() { _ = files.RemoveAll(env.Files, folder) }()
	path := filepath.Join(folder, "job.toml")
	err = files.WriteAtomic(env.Files, path, func(w io.Writer) error {
		_, err := io.WriteString(w, l.Job)
		return err
	})
	if err != nil {
		return err
	}
	c, err := config.ReadJob(env.Files, path, append(l.Set, o.Set...))
	if err != nil {
		return err
	}
	env.Log.Info("joined the job; waiting for work from the leader", zap.String("address", o.Address))
	if o.Task {
		ctx = context.WithoutCancel(ctx)
	}
	return torch.With(func(s *torch.Scope) error {
		return trainer.Follow(ctx, imagesOf(env, s, c, o.Device), l.Address, l, l)
	})
}

// listener lets followers on other machines join the job.
func (j *job) listener() (team.Starter, error) {
	token, err := readToken(j.env, j.Train.Parallel.Token)
	if err != nil {
		return nil, err
	}
	version, err := versionOf(j.env)
	if err != nil {
		return nil, err
	}
	j.network, err = team.ListenFor(j.meeting, token, team.Invitation{Version: version, Job: j.Resolved(),
		Set: []string{"parallel.listen=''", "parallel.token_file=''", "parallel.elastic=false",
			"parallel.min_processes=0"}}, team.Means{Now: j.env.Now, Random: j.env.Random})
	if err != nil {
		return nil, err
	}
	j.env.Log.Info("accepting followers", zap.String("address", j.network.Addr()))
	return j.network, nil
}

// versionOf returns the version that leader and followers must share.
func versionOf(env *app.Env) (string, error) {
	r, err := torch.Describe()
	return fmt.Sprintf("graft %s with LibTorch %s", env.Version, r.Version), err
}
