package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The workers of a program's grid can run under Slurm, and the grid gives the same bytes as a local one.
func TestProgramsOnSlurm(t *testing.T) {
	longOnly(t, "a program's grid on Slurm; grids of programs and Slurm are tested apart")
	onCluster(t)
	last := "  {at = \"110ms\", change = \"up\", devices = 4},\n"
	job := programJob(t, "", "", strings.Replace(gridScenario, last, "", 1))
	here, there := filepath.Join(t.TempDir(), "program"), filepath.Join(t.TempDir(), "program")
	require.Contains(t, simulated(t, job, "--folder", here), "9 of 9 runs ended")
	text := simulated(t, job, "--folder", there, "--engine", "slurm", "--set", "fleet.cpus=4", "--set",
		"fleet.threads=1")
	require.Contains(t, text, "submitted ")
	require.Contains(t, done(t, "fleet", "attach", there).stdout, "9 of 9 runs ended")
	require.Equal(t, tableBytes(t, filepath.Join(here, "table")), tableBytes(t, filepath.Join(there, "table")))
}
