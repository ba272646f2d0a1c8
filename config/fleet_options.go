package config

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"graft/fleet"
	"graft/internal/validate"
)

// Kubernetes is the engine that writes manifests: the cluster, not graft, starts the workers.
const Kubernetes = "kubernetes"

// FleetOptions describe the workers that run the sequences of a scenario. Outcomes do not depend on them. Keys that the
// engine does not support are errors.
type FleetOptions struct {
	// Engine starts the workers: local on this machine, slurm as jobs of a Slurm cluster, kubernetes from a manifest
	// that you apply to a cluster. Empty means local.
	Engine string `config:",one=local|slurm|kubernetes"`
	// Workers is the number of parallel workers. Zero means one per device, or one per processor, of this machine; 4
	// for the other engines.
	Workers int
	// Fit measures the number of local workers per device: 1, 2, 4, … workers train the largest network of the scenario
	// for two seconds, and Fit selects the number with the highest throughput within 90% of the memory. False uses
	// Workers.
	Fit bool
	// Threads is the number of LibTorch threads in each worker. Zero means one per processor of the worker: see cpus.
	Threads int
	// Devices are the devices of local workers, assigned in turn, such as cuda:0 and cuda:1. Several workers may share
	// one. Empty means run.device.
	Devices []string
	// CPUs is the number of processors of each worker. Zero divides this machine's processors among local workers, and
	// means the cluster's default for other engines.
	CPUs int `config:"cpus"`
	// MemoryMB is the memory of each worker in MiB, for engines other than local. Zero means
	// the cluster's default.
	MemoryMB int
	// GPUs is the number of CUDA devices of each worker, for engines other than local. A worker trains on the first,
	// with run.device cuda. Zero means none.
	GPUs int `config:"gpus"`
	// Gres is Slurm's generic resource of a worker, such as gpu:a100:1. It replaces gpus. Empty uses gpus.
	Gres string
	// Time is the time limit of a worker, for engines other than local. Workers are restarted while sequences remain.
	// Slurm rounds it up to minutes. Zero means the cluster's default.
	Time time.Duration `config:"time_limit,was=time"`
	// Lead is the time before the time limit at which Slurm signals a worker to save its work. Zero means one minute,
	// or half of Time if that is less.
	Lead time.Duration
	// Partition is the Slurm partition, as 'sinfo -s' lists them. Empty means Slurm's default.
	Partition string
	// Account is the account that Slurm charges. Empty means Slurm's default.
	Account string
	// QOS is Slurm's quality of service. Empty means Slurm's default.
	QOS string
	// Constraint is a required feature of Slurm nodes, such as a100. Empty means none.
	Constraint string
	// Extra are other options of sbatch, as --name=value. Options that graft sets are errors. Empty means none.
	Extra []string
	// Image is the container image for the engine kubernetes, with graft on its path. Required for kubernetes, empty
	// for other engines.
	Image string
	// Claim is the persistent volume claim of the run folder and the cache. Required for the engine kubernetes, empty
	// for other engines.
	Claim string
	// Mount is the absolute path at which the claim is mounted. Empty means the parent of the run folder.
	Mount string
	// Namespace is the Kubernetes namespace, for the engine kubernetes. Empty means the default namespace of the user
	// who applies the manifest.
	Namespace string
}

// EnsureDefaults sets zero fields to their defaults.
func (o *FleetOptions) EnsureDefaults() {
	o.Engine = cmp.Or(o.Engine, "local")
}

// Resources returns the resources of each worker.
func (o FleetOptions) Resources() fleet.Resources {
	return fleet.Resources{CPUs: o.CPUs, MemoryMB: o.MemoryMB, GPUs: o.GPUs, Devices: o.Devices, Time: o.Time,
		Lead: o.Lead, Partition: o.Partition, Account: o.Account, QOS: o.QOS, Constraint: o.Constraint, Gres: o.Gres,
		Extra: o.Extra}
}

// Manifest returns the options of the manifest for a batch in a folder.
func (o FleetOptions) Manifest(folder string) fleet.ManifestOptions {
	m := fleet.ManifestOptions{Image: o.Image, Claim: o.Claim, Mount: o.Mount, Namespace: o.Namespace}
	m.Mount = cmp.Or(m.Mount, filepath.Dir(folder))
	return m
}

// ValidateFor returns every fault of a batch for the engine.
func (o FleetOptions) ValidateFor(b fleet.Batch) error {
	if o.Engine != Kubernetes {
		return b.ValidateFor(o.Engine)
	}
	m := o.Manifest(b.Folder)
	m.EnsureDefaults(b)
	return m.Validate(b)
}

// Validate returns every invalid option.
func (o FleetOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Workers < 0, "workers is %d; must not be negative", o.Workers)
	faults.When(o.Fit && (o.Engine != "local" || o.Workers > 0),
		"fit is only valid with engine local and without workers, because it chooses the number of workers; "+
			"set engine to local and remove workers, or set fit to false")
	faults.When(o.Threads < 0 || o.Threads > mostThreads, "threads is %d; must be between 0 and %d", o.Threads,
		mostThreads)
	for _, d := range o.Devices {
		faults.When(!deviceName.MatchString(d), "devices: got %q, expected cpu or cuda:N", d)
	}
	faults.When(o.Mount != "" && !strings.HasPrefix(o.Mount, "/"), "mount is %q; must be an absolute path", o.Mount)
	// This batch is valid except for these options.
	some := fleet.Batch{Key: "key", Folder: filepath.Join("/", o.Mount, "run"), Argv: []string{"graft"},
		Workers: max(1, o.Workers), Resources: o.Resources()}
	return errors.Join(append(faults, o.ValidateFor(some))...)
}
