package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"

	"graft/torch"
)

// studyStart compares processes that open LibTorch with the empty libraries of scripts/unneeded.sh with processes that
// open all libraries on which LibTorch depends.
func (b *bench) studyStart(out io.Writer) error {
	if err := torch.Load(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "graft-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	library := torch.LibraryPath()
	if _, err := os.Stat(filepath.Join(filepath.Dir(library), "unneeded")); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder of %s has no folder unneeded; run 'make library' for Debian's LibTorch", library)
	}
	alone := filepath.Join(folder, filepath.Base(library))
	if err := copyFile(alone, library); err != nil {
		return err
	}
	var wall, processor measured
	for k := -1; k < b.rounds; k++ {
		for j := range 2 {
			which := (k + 1 + j) % 2
			if err := openIn([]string{library, alone}[which], which, k >= 0, &wall, &processor); err != nil {
				return err
			}
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "start of a process\tratio\tquartiles\tall libraries [s]\tneeded libraries [s]")
	for _, row := range []struct {
		name string
		of   *measured
	}{{"wall-clock time", &wall}, {"processor time", &processor}} {
		fmt.Fprintf(table, "%s\t%s\t%.2f\t%.2f\n", row.name, row.of.ratio(), median(row.of.twin), median(row.of.ours))
	}
	needed, all := wall.peaks[0], wall.peaks[1]
	fmt.Fprintf(table, "peak memory [MB]\t%.2f\t\t%.0f\t%.0f\n", all/needed, all, needed)
	return table.Flush()
}

// openIn starts a process that opens a library, and adds its times to one side if they count.
func openIn(library string, which int, counts bool, wall, processor *measured) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(program, "open")
	c.Env, c.Stderr = append(os.Environ(), torch.LibraryVariable+"="+library), os.Stderr
	began := time.Now()
	if err := c.Run(); err != nil {
		return fmt.Errorf("open %s: %w", library, err)
	}
	took, state := time.Since(began), c.ProcessState
	if usage, is := state.SysUsage().(*syscall.Rusage); is {
		wall.peaks[which] = max(wall.peaks[which], float64(usage.Maxrss)/1024)
	}
	if counts {
		wall.add(which, took)
		processor.add(which, state.UserTime()+state.SystemTime())
	}
	return nil
}

// add adds a time to one side.
func (m *measured) add(which int, d time.Duration) {
	to := []*[]float64{&m.ours, &m.twin}[which]
	*to = append(*to, d.Seconds())
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
