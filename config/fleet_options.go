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

// Kubernetes is the engine of manifests: the cluster starts the workers, not graft.
const Kubernetes = "kubernetes"

// FleetOptions describe the workers that run the sequences of a scenario. No outcome
// depends on them. Keys that the engine does not take are errors.
type FleetOptions struct {
	// Engine starts the workers: local on this machine, slurm as jobs of a Slurm cluster,
	// kubernetes from a manifest that is applied to a cluster. Empty means local.
	Engine string `config:",one=local|slurm|kubernetes"`
	// Workers is the number of parallel workers. Zero means one for each device, or
	// processor, of this machine, and 4 with the other engines.
	Workers int
	// Fit finds the number of local workers on each device by trying: 1, 2, 4, … train the largest network of the
	// scenario side by side for two seconds, and the number with the highest throughput within nine tenths of the
	// memory is kept. False takes workers.
	Fit bool
	// Threads is the number of LibTorch's threads in each worker. Zero means one for each
	// of the worker's processors: see cpus.
	Threads int
	// Devices are the devices of local workers, assigned in turn, such as cuda:0 and cuda:1;
	// several workers may share one. Empty means run.device.
	Devices []string
	// CPUs is the number of processors of each worker. Zero divides this machine's among
	// local workers, and means the cluster's default elsewhere.
	CPUs int `config:"cpus"`
	// MemoryMB is the memory of each worker in MiB, for engines other than local. Zero means
	// the cluster's default.
	MemoryMB int
	// GPUs is the number of CUDA devices of each worker, for engines other than local; it trains on
	// the first, with run.device cuda. Zero means none.
	GPUs int `config:"gpus"`
	// Gres is Slurm's generic resource of a worker, such as gpu:a100:1, in place of gpus.
	// Empty means gpus.
	Gres string
	// Time is the time limit of a worker, for engines other than local; it is started again
	// while sequences are left. Slurm rounds it up to minutes. Zero means the cluster's
	// default.
	Time time.Duration
	// Lead is the time before the time limit at which Slurm signals a worker to save its work. Zero
	// means a minute, or half of time where that is less.
	Lead time.Duration
	// Partition is Slurm's partition, as 'sinfo -s' lists them. Empty means its default.
	Partition string
	// Account is the account that Slurm charges. Empty means its default.
	Account string
	// QOS is Slurm's quality of service. Empty means its default.
	QOS string
	// Constraint is a feature that Slurm's nodes must have, such as a100. Empty means none.
	Constraint string
	// Extra are options of sbatch that have no key here, as --name=value; those that graft
	// sets are errors. Empty means none.
	Extra []string
	// Image is the container image for the engine kubernetes, with graft on its path;
	// required there, empty for the others.
	Image string
	// Claim is the persistent volume claim of the run folder and the cache, for the engine
	// kubernetes; required there, empty for the others.
	Claim string
	// Mount is the absolute path at which the claim is mounted. Empty means the parent of
	// the run folder.
	Mount string
	// Namespace is the namespace of the engine kubernetes. Empty means the default one of
	// whoever applies the manifest.
	Namespace string
}

// EnsureDefaults fills in what zero stands for.
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

// ValidateFor joins all that is wrong with a batch for the engine.
func (o FleetOptions) ValidateFor(b fleet.Batch) error {
	if o.Engine != Kubernetes {
		return b.ValidateFor(o.Engine)
	}
	m := o.Manifest(b.Folder)
	m.EnsureDefaults(b)
	return m.Validate(b)
}

// Validate joins all that is wrong.
func (o FleetOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Workers < 0, "workers is %d; must not be negative", o.Workers)
	faults.When(o.Fit && (o.Engine != "local" || o.Workers > 0),
		"fit finds the number of local workers; leave out workers and other engines, or set fit = false")
	faults.When(o.Threads < 0 || o.Threads > mostThreads, "threads is %d; must be between 0 and %d", o.Threads,
		mostThreads)
	for _, d := range o.Devices {
		faults.When(!deviceName.MatchString(d), "devices has %q; must be cpu or cuda:N", d)
	}
	faults.When(o.Mount != "" && !strings.HasPrefix(o.Mount, "/"), "mount is %q; must be an absolute path", o.Mount)
	// A batch with nothing wrong but what these options bring.
	some := fleet.Batch{Key: "key", Folder: filepath.Join("/", o.Mount, "run"), Argv: []string{"graft"},
		Workers: max(1, o.Workers), Resources: o.Resources()}
	return errors.Join(append(faults, o.ValidateFor(some))...)
}
