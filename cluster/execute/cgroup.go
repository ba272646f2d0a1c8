package execute

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"graft/fleet/process"
	"graft/internal/files"
)

// Names of files of a cgroup v2 (Linux, Documentation/admin-guide/cgroup-v2.rst).
const (
	killFile    = "cgroup.kill"
	freezeFile  = "cgroup.freeze"
	eventsFile  = "cgroup.events"
	childFile   = "cgroup.subtree_control"
	maxCgroup   = 1 << 20 // bytes of a file
	cpuPeriod   = 100_000 // period of cpu.max, µs
	oomKillLine = "oom_kill"
)

// cgroups makes a group for each task inside the executor's group.
type cgroups struct {
	fsys     files.FS
	clock    process.Clock
	folder   string
	controls []string // controllers that limit tasks
}

// openCgroups creates the executor's cgroup. The error is the reason why the user may not create it.
func openCgroups(o *Options, folder string) (*cgroups, error) {
	parent := o.Cgroup
	switch {
	case parent == NoCgroup:
		return nil, errors.New("cgroups are turned off")
	case parent == "":
		var err error
		if parent, err = ownCgroup(o.Files); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256([]byte(folder))
	g := &cgroups{fsys: o.Files, clock: o.Clock, folder: filepath.Join(parent, "graft-"+hex.EncodeToString(sum[:8]))}
	if err := o.Files.MkdirAll(g.folder); err != nil {
		return nil, err
	}
	for _, name := range []string{killFile, freezeFile, eventsFile} {
		if _, err := o.Files.Stat(filepath.Join(g.folder, name)); err != nil {
			return nil, errors.Join(fmt.Errorf("%s is not a cgroup v2 directory of Linux 5.14 or later: %w", parent,
				err), o.Files.Remove(g.folder))
		}
	}
	for _, controller := range []string{"cpu", "memory"} {
		_ = put(o.Files, filepath.Join(parent, childFile), "+"+controller) // it may already be enabled
		if put(o.Files, filepath.Join(g.folder, childFile), "+"+controller) == nil {
			g.controls = append(g.controls, controller)
		}
	}
	return g, nil
}

// ownCgroup returns the folder of this process's cgroup.
func ownCgroup(fsys files.FS) (string, error) {
	text, err := files.ReadAll(fsys, "/proc/self/cgroup", maxCgroup)
	if err != nil {
		return "", err
	}
	mounts, err := files.ReadAll(fsys, "/proc/self/mountinfo", maxCgroup)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		own, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for mount := range strings.Lines(string(mounts)) {
			const root, point = 3, 4
			if fields := strings.Fields(mount); strings.Contains(mount, " - cgroup2 ") && len(fields) > point {
				if beneath, ok := strings.CutPrefix(own, strings.TrimSuffix(fields[root], "/")); ok {
					return filepath.Join(fields[point], beneath), nil
				}
			}
		}
	}
	return "", errors.New("this machine has no cgroup v2 file system")
}

// put writes a setting.
func put(fsys files.FS, path, value string) error {
	if _, err := fsys.Stat(path); err != nil {
		return err
	}
	file, err := fsys.Append(path)
	if err != nil {
		return err
	}
	_, err = file.Write([]byte(value))
	return errors.Join(err, file.Close())
}

// cgroup is the group of a task.
type cgroup struct {
	*cgroups
	path string
}

// task makes the group of a task with its limits: CPU cores (zero means no limit) and bytes of main memory.
func (g *cgroups) task(place int, cores, bytes float64) (*cgroup, error) {
	c := &cgroup{g, filepath.Join(g.folder, strconv.Itoa(place))}
	err := g.fsys.MkdirAll(c.path)
	if err == nil && cores > 0 && slices.Contains(g.controls, "cpu") {
		err = c.put("cpu.max", fmt.Sprintf("%d %d", max(1000, int(math.Round(cores*cpuPeriod))), cpuPeriod))
	}
	if err == nil && bytes > 0 && g.limitsMemory() {
		err = errors.Join(c.put("memory.max", strconv.FormatInt(int64(bytes), 10)), c.put("memory.oom.group", "1"))
		_ = c.put("memory.swap.max", "0") // a machine without swap does not have this file
	}
	return c, err
}

// limitsMemory reports whether memory limits are enforced.
func (g *cgroups) limitsMemory() bool { return g != nil && slices.Contains(g.controls, "memory") }

func (c *cgroup) put(name, value string) error {
	return put(c.fsys, filepath.Join(c.path, name), value)
}

// freeze stops all processes of the group, or continues them.
func (c *cgroup) freeze(stop bool) {
	value := map[bool]string{true: "1", false: "0"}[stop]
	_ = c.put(freezeFile, value) // signals also stop the process group
}

// oomKilled reports whether the kernel killed a process because of the memory limit.
func (c *cgroup) oomKilled() bool {
	n, ok := c.counter("memory.events", oomKillLine)
	return ok && n > 0
}

func (c *cgroup) counter(file, name string) (int, bool) {
	text, err := files.ReadAll(c.fsys, filepath.Join(c.path, file), maxCgroup)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == name {
			n, err := strconv.Atoi(fields[1])
			return n, err == nil
		}
	}
	return 0, false
}

// remove kills all processes in a group and its subgroups, waits for their ends, and deletes the groups.
func (c *cgroup) remove() error {
	const (
		rounds = 200
		pause  = 10 * time.Millisecond
	)
	for range rounds {
		if errors.Is(c.put(killFile, "1"), fs.ErrNotExist) {
			return nil
		}
		if n, ok := c.counter(eventsFile, "populated"); ok && n == 0 {
			removeFolders(c.fsys, c.path)
			return nil
		}
		_ = c.clock.Wait(context.Background(), pause)
	}
	return fmt.Errorf("processes of cgroup %s do not exit after SIGKILL: they are blocked in the kernel; "+
		"check the device or file system that they use", c.path)
}

// removeFolders deletes the folders of a cgroup, whose files cannot be deleted. A remaining empty group is harmless.
func removeFolders(fsys files.FS, path string) {
	entries, _ := fsys.ReadDir(path)
	for _, entry := range entries {
		if entry.IsDir() {
			removeFolders(fsys, filepath.Join(path, entry.Name()))
		}
	}
	_ = fsys.Remove(path)
}

// removeAll kills the remaining processes in the executor's group and deletes it.
func (g *cgroups) removeAll() error {
	if g == nil {
		return nil
	}
	return (&cgroup{g, g.folder}).remove()
}

// about describes in words how tasks are confined.
func about(g *cgroups, why error) string {
	if g == nil {
		return fmt.Sprintf("CPU affinity, without cgroups (%v), so memory limits are not enforced", why)
	}
	if len(g.controls) == 0 {
		return "CPU affinity, and a cgroup to stop and kill tasks; it has no controllers, so memory limits are not " +
			"enforced"
	}
	return "CPU affinity, and a cgroup to stop and kill tasks and to limit " + strings.Join(g.controls, " and ")
}
