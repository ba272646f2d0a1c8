package config

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/fleet"
)

// An option that an engine does not support is reported at its key.
func TestWhatAnEngineRefusesIsToldAtItsKey(t *testing.T) {
	local, slurm, cubes := "fleet.workers=1", "fleet.engine=slurm", "fleet.engine=kubernetes"
	both := []string{cubes, "fleet.image=i", "fleet.claim=c"}
	for _, row := range []struct {
		set  []string
		want string
	}{
		{[]string{local, "fleet.gpus=1", "run.device=cuda"}, "gpus: local workers do not support gpus"},
		{[]string{local, "fleet.time_limit=1h"}, "time_limit: local workers do not support time limits"},
		{[]string{local, "fleet.memory_mb=100"}, "memory_mb: local workers do not support memory limits"},
		{[]string{local, "fleet.partition=main"}, "partition is set, but only Slurm supports it; remove it for local " +
			"workers"},
		{[]string{local, `fleet.extra=["--exclusive"]`}, "extra is set, but only Slurm"},
		{[]string{local, "fleet.workers=-1"}, "workers is -1"},
		{[]string{local, "fleet.workers=1000000"}, "workers is 1000000; must be from 1 to 100000"},
		{[]string{local, "fleet.fit=true"},
			`fit chooses the number of workers, so it requires engine = "local"`},
		{[]string{slurm, "fleet.fit=true"},
			`fit chooses the number of workers, so it requires engine = "local"`},
		{[]string{local, "fleet.threads=-1"}, "threads is -1"},
		{[]string{local, "fleet.cpus=-1"}, "cpus is -1"},
		{[]string{local, "fleet.engine=cloud"}, "engine must be one of"},
		{[]string{local, "fleet.mount=here"}, `mount is "here"; must be an absolute path`},
		{[]string{slurm, `fleet.devices=["cuda:0"]`}, "devices is for local workers only"},
		{[]string{slurm, "fleet.gpus=1"}, "fleet.gpus is for workers that train on GPUs, but run.device is cpu"},
		{[]string{slurm, "fleet.gpus=1", "run.device=cuda", "fleet.gres=gpu:1"}, "gres and gpus are mutually " +
			"exclusive"},
		{[]string{slurm, "fleet.lead=2m", "fleet.time_limit=1m"}, "time_limit is 1m0s and lead is 2m0s"},
		{[]string{slurm, `fleet.partition="a b"`}, `partition is "a b"; expected a name`},
		{[]string{slurm, `fleet.extra=["--wrap=x"]`}, "extra: --wrap is set by graft"},
		{[]string{cubes, "fleet.claim=c"}, "image is missing"},
		{[]string{cubes, "fleet.image=i"}, "claim is missing"},
		{append(both, "fleet.account=a"), "account is set, but only Slurm supports it; remove it for Kubernetes"},
		{append(both, "fleet.namespace=A"), `namespace is "A"`},
	} {
		_, err := readScenario(t, aScenario, row.set...)
		if !assert.ErrorContains(t, err, row.want, row.set) {
			continue
		}
		var faults Faults
		require.True(t, errors.As(err, &faults), row.set)
		assert.Len(t, faults, 1, "%v: %v", row.set, err)
	}
}

func TestFleetOptionsBecomeABatch(t *testing.T) {
	m := must(readScenario(t, aScenario, "fleet.engine=slurm", "fleet.cpus=2", "fleet.gpus=1", "run.device=cuda",
		"fleet.time_limit=90m", "fleet.qos=low", `fleet.extra=["--exclusive"]`))
	require.Equal(t, fleet.Resources{CPUs: 2, GPUs: 1, Time: 90 * time.Minute, QOS: "low",
		Extra: []string{"--exclusive"}}, m.Fleet.Resources())
	m = must(readScenario(t, aScenario, "fleet.engine=kubernetes", "fleet.image=i", "fleet.claim=c"))
	require.Equal(t, fleet.ManifestOptions{Image: "i", Claim: "c", Mount: "/shared/runs"},
		m.Fleet.Manifest("/shared/runs/late"))
	require.Equal(t, m.Fleet, must(readScenario(t, m.Resolved())).Fleet)
	require.Contains(t, m.Resolved(), "[fleet]\nengine = \"kubernetes\"\n")
}
