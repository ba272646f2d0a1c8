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

// FleetOptions holds the options of the workers that run the sequences of a scenario. Outcomes do not depend on these
// options. Keys that the engine does not support cause an error.
type FleetOptions struct {
	// Engine that starts the workers: "local" starts processes on this machine, "slurm" submits jobs to a Slurm
	// cluster, "kubernetes" writes a manifest that you apply to a cluster. Empty means "local".
	Engine string `config:",one=local|slurm|kubernetes"`
	// Number of workers that run in parallel. Zero means one worker per device in fleet.devices. If that list is empty,
	// zero means one worker if run.device is a GPU, and one worker per processor of this machine if run.device is
	// "cpu". For "slurm" and "kubernetes", zero means 4.
	Workers int
	// Chooses the number of local workers per device by measurement. graft trains the largest network of the scenario
	// for two seconds with 1, 2, 4, … parallel workers, and then uses the number of workers with the highest
	// throughput. It excludes numbers at which all workers together need more than 90% of the GPU's memory or, on the
	// CPU, of the machine's free memory. Cannot be combined with fleet.workers. False uses fleet.workers.
	Fit bool
	// Number of LibTorch threads per worker. Zero means one per processor of the worker (see fleet.cpus).
	Threads int
	// Devices of local workers, assigned in turn, such as "cuda:0" and "cuda:1". Several workers may share a device.
	// Empty means run.device.
	Devices []string
	// Number of processors per worker. Zero divides this machine's processors among local workers; for "slurm", zero
	// means the cluster's default, and for "kubernetes", one.
	CPUs int `config:"cpus"`
	// Memory per worker in MiB, for "slurm" and "kubernetes". Zero means the cluster's default.
	MemoryMB int
	// Number of CUDA devices per worker, for "slurm" and "kubernetes". A worker trains on its first device and needs
	// run.device = "cuda". Zero means none.
	GPUs int `config:"gpus"`
	// Generic resource (GRES) that each worker requests from Slurm, such as gpu:a100:1. Replaces fleet.gpus. If empty,
	// each worker requests the number of GPUs in fleet.gpus.
	Gres string
	// Maximum run time of a worker, for "slurm" and "kubernetes". A worker that reaches this limit is restarted if the
	// scenario has unfinished sequences. Slurm rounds this time limit up to minutes. Zero means the cluster's default.
	Time time.Duration `config:"time_limit,was=time"`
	// Time before the time limit at which Slurm signals a worker to save its work, at most 65535 s. Zero means one
	// minute, or half of time_limit if that is less.
	Lead time.Duration
	// Slurm partition, as listed by 'sinfo -s'. Empty means Slurm's default.
	Partition string
	// Account that Slurm charges. Empty means Slurm's default.
	Account string
	// Quality of service (QOS) of Slurm jobs. Empty means Slurm's default.
	QOS string
	// Feature that Slurm nodes must have, such as a100. Empty means no requirement.
	Constraint string
	// Additional options of sbatch, written as --name=value. Options that graft sets itself are not allowed. Empty
	// adds no options.
	Extra []string
	// Container image with graft on its PATH, for engine = "kubernetes". Required for this engine; must be empty for
	// other engines.
	Image string
	// Name of the persistent volume claim that holds the run folder and the cache. Required for engine =
	// "kubernetes"; must be empty for other engines.
	Claim string
	// Absolute path at which the persistent volume claim is mounted. Empty means the parent of the run folder.
	Mount string
	// Kubernetes namespace, for engine = "kubernetes". Empty means the default namespace of the user who applies the
	// manifest.
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

// Manifest returns the options of the Kubernetes manifest for a batch in a folder.
func (o FleetOptions) Manifest(folder string) fleet.ManifestOptions {
	m := fleet.ManifestOptions{Image: o.Image, Claim: o.Claim, Mount: o.Mount, Namespace: o.Namespace}
	m.Mount = cmp.Or(m.Mount, filepath.Dir(folder))
	return m
}

// ValidateFor returns an error that lists every reason why the configured engine cannot run a batch.
func (o FleetOptions) ValidateFor(b fleet.Batch) error {
	if o.Engine != Kubernetes {
		return b.ValidateFor(o.Engine)
	}
	m := o.Manifest(b.Folder)
	m.EnsureDefaults(b)
	return m.Validate(b)
}

// Validate returns an error that lists every invalid option.
func (o FleetOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Workers < 0, "workers is %d; must not be negative", o.Workers)
	faults.When(o.Fit && (o.Engine != "local" || o.Workers > 0),
		"fit chooses the number of workers, so it requires engine = \"local\" and excludes the key \"workers\"; "+
			"change these keys, or remove fit")
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
