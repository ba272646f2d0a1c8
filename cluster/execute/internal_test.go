package execute

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/node"
	"graft/cluster/node/schedulers"
	"graft/fleet"
	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/results"
)

// fakeCgroup creates a parent folder with the executor's group, which holds the given files.
func fakeCgroup(t *testing.T, run string, held map[string]string) (parent, group string) {
	t.Helper()
	sum := sha256.Sum256([]byte(run))
	parent = t.TempDir()
	group = filepath.Join(parent, "graft-"+hex.EncodeToString(sum[:8]))
	for path, text := range held {
		path = filepath.Join(group, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	return parent, group
}

func TestCgroupsLimitTasks(t *testing.T) {
	t.Parallel()
	parent, group := fakeCgroup(t, "/run", map[string]string{
		killFile: "", freezeFile: "", eventsFile: "populated 0\nfrozen 0\n", childFile: "",
		"3/cpu.max": "", "3/memory.max": "", "3/memory.oom.group": "", "3/memory.events": "low 0\noom_kill 2\n",
		"3/cgroup.freeze": "",
	})
	o := Options{Files: files.OS{}, Clock: fleet.NewClock(time.Now), Cgroup: parent}
	g, err := openCgroups(&o, "/run")
	require.NoError(t, err)
	require.Equal(t, "CPU affinity, and a cgroup to stop and kill tasks and to limit cpu and memory", about(g, nil))
	c, err := g.task(3, 1.5, 1<<20)
	require.NoError(t, err)
	c.freeze(true)
	for name, want := range map[string]string{"cpu.max": "150000 100000", "memory.max": "1048576",
		"memory.oom.group": "1", "cgroup.freeze": "1"} {
		text, err := os.ReadFile(filepath.Join(group, "3", name))
		require.NoError(t, err)
		require.Equal(t, want, string(text), name)
	}
	require.True(t, c.oomKilled())
	require.NoError(t, g.removeAll())
	o.Cgroup = t.TempDir()
	_, err = openCgroups(&o, "/run")
	require.ErrorContains(t, err, "is not a cgroup v2 directory of Linux 5.14 or later")
	require.Contains(t, about(nil, err), "memory limits are not enforced")
}

// If the kernel refuses to move a process into its group, tasks run without groups, and an event says so.
func TestTasksRunWithoutTheirCgroup(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "run")
	parent, _ := fakeCgroup(t, folder, map[string]string{killFile: "", freezeFile: "", eventsFile: "populated 0\n"})
	kind, err := schedulers.Named("fcfs")
	require.NoError(t, err)
	run, err := results.Create(files.OS{}, folder, results.CreateOptions{}, results.Manifest{})
	require.NoError(t, err)
	var reasons []string
	o := Options{Run: run, Files: files.OS{}, Clock: fleet.NewClock(time.Now), Kind: kind, Devices: []Device{{}},
		Cgroup: parent}
	o.Observer = func(e Event) {
		if e.Kind == Opened {
			reasons = append(reasons, e.Reason)
		}
	}
	job := Job{Spec: node.Spec{Cores: 100}, Command: []string{"true"}}
	r, err := Run(t.Context(), o, []Job{job, job})
	require.NoError(t, err)
	require.NoError(t, run.Close())
	require.Equal(t, 2, r.Summary.Completed)
	require.Len(t, reasons, 2)
	require.Contains(t, reasons[1], "without cgroups (fork/exec")
	require.Equal(t, reasons[1], r.Confinement)
}

// A log stays within its limit over several starts of an attempt, and a failed write does not stop the task.
func TestBoundedLogs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	for k := range 3 {
		l := openLog(files.OS{}, path, 100)
		for range 100 {
			n, err := l.Write([]byte("0123456789"))
			require.Equal(t, 10, n)
			require.NoError(t, err)
		}
		dropped, err := l.Close()
		require.NoError(t, err)
		require.Equal(t, map[bool]int64{true: 900, false: 1000}[k == 0], dropped)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("0123456789", 5)+"\n[graft dropped 900 bytes here: "+
		"the log has reached its limit]\n"+strings.Repeat("0123456789", 5), string(text))

	for at := 1; at <= 4; at++ {
		l := openLog(faults.New(files.OS{}, at, faults.DiskFull), filepath.Join(t.TempDir(), "log"), 100)
		_, err := l.Write([]byte(strings.Repeat("x", 200)))
		require.NoError(t, err)
		dropped, err := l.Close()
		require.Positive(t, dropped)
		require.True(t, err == nil || errors.Is(err, faults.ErrInjected))
	}
}

func TestBackoffDoublesToALimit(t *testing.T) {
	t.Parallel()
	j := Job{Backoff: time.Second}
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 512 * time.Second, maxBackoff, maxBackoff},
		[]time.Duration{j.backoff(1), j.backoff(2), j.backoff(10), j.backoff(11), j.backoff(1000)})
	j.Backoff = time.Hour
	require.Equal(t, time.Hour, j.backoff(5))
}
