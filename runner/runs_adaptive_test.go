package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/cluster/study"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/app"
	simulations "graft/runner/study"
)

// writeAdaptive writes the run folder of two workloads under two schedulers.
func writeAdaptive(t testing.TB, dir string) {
	t.Helper()
	world := worlds.Named("adaptive")
	f, err := config.ReadNamed[study.File](world.Name, config.Open(files.OS{}, ""), []string{
		"adaptive.data=" + config.Quote(exampleData),
		`workload.traces=["workload-1.csv", "workload-2.csv"]`, "adaptive.nodes=4", "adaptive.gpus_per_node=4",
		`schedule.schedulers=["optimus", "srtf"]`, "schedule.ablate=true", "run.folder=" + config.Quote(dir)})
	require.NoError(t, err)
	env := &app.Env{Files: files.OS{}, Now: func() time.Time { return when }, Version: "v0.1.0", Host: "node",
		Args: []string{"graft", "cluster", "run"}, Log: zap.NewNop()}
	_, err = simulations.Run(t.Context(), env, world, f, "", app.FolderOptions{})
	require.NoError(t, err)
	path := filepath.Join(dir, runs.ManifestFile) // a new key would change the digest
	write(t, path, strings.ReplaceAll(contents(t, path), config.Digest(f), strings.Repeat("9b", 32)))
}
