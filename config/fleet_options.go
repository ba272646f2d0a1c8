package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"graft/fleet"
)

// Kubernetes is the engine of manifests: the cluster starts the workers, not graft.
const Kubernetes = "kubernetes"

// FleetOptions say who runs the sequences of a scenario. No outcome depends on them.
// What an engine does not know it refuses.
type FleetOptions struct {
	// Engine is who starts workers: local is this machine, slurm a cluster's scheduler,
	// kubernetes a cluster to which a manifest is given. Empty means local.
	Engine string `config:",one=local|slurm|kubernetes"`
	// Workers is how many run sequences side by side. Zero means one for each device, or
	// processor, of this machine, and 4 with the other engines.
	Workers int
	// Threads is how many LibTorch works with in each worker. Zero means as many as the
	// worker has processors: see cpus.
	Threads int
	// Devices are where local workers train, in turn, such as cuda:0 and cuda:1; several
	// workers may have the same. Empty means run.device.
	Devices []string
	// CPUs is how many processors each worker gets. Zero divides those of this machine
	// among local workers, and is the cluster's default elsewhere.
	CPUs int `config:"cpus"`
	// MemoryMB is the memory of each worker, in MiB, for engines other than local. Zero is
	// the cluster's default.
	MemoryMB int
	// GPUs is how many each worker gets, for engines other than local; it trains on the
	// first, and run.device is cuda. Zero means none.
	GPUs int `config:"gpus"`
	// Gres is what Slurm calls the devices that a worker gets, such as gpu:a100:1, in place
	// of a mere number of them. Empty means that number.
	Gres string
	// Time is after how long a worker is ended, for engines other than local; it is
	// started again while sequences are left. Slurm rounds it up to minutes. Zero is the
	// cluster's default.
	Time time.Duration
	// Lead is how long before that Slurm warns a worker, which saves its work then. Zero
	// means a minute, or half of time where that is less.
	Lead time.Duration
	// Partition is Slurm's, of which 'sinfo -s' has the names. Empty means its default.
	Partition string
	// Account is whom Slurm charges. Empty means its default.
	Account string
	// QOS is Slurm's quality of service. Empty means its default.
	QOS string
	// Constraint is what Slurm's nodes must have, such as a100. Empty means nothing.
	Constraint string
	// Extra are options of sbatch that have no key here, as --name=value; those that graft
	// sets are refused. Empty means none.
	Extra []string
	// Image is the container's image for the engine kubernetes, with graft on its path;
	// that engine needs one. Empty for the others.
	Image string
	// Claim is the persistent volume claim that run folder and cache lie in, for the engine
	// kubernetes, which needs one. Empty for the others.
	Claim string
	// Mount is where the claim is mounted, from the root on. Empty means the folder that
	// the run folder lies in.
	Mount string
	// Namespace is where the job of the engine kubernetes runs. Empty means the default one
	// of whoever applies the manifest.
	Namespace string
}

// EnsureDefaults fills in what zero stands for.
func (o *FleetOptions) EnsureDefaults() {
	if o.Engine == "" {
		o.Engine = "local"
	}
}

// Resources are what each worker gets.
func (o FleetOptions) Resources() fleet.Resources {
	return fleet.Resources{CPUs: o.CPUs, MemoryMB: o.MemoryMB, GPUs: o.GPUs, Devices: o.Devices, Time: o.Time, Lead: o.Lead,
		Partition: o.Partition, Account: o.Account, QOS: o.QOS, Constraint: o.Constraint, Gres: o.Gres, Extra: o.Extra}
}

// Manifest is what the cluster of a batch in a folder needs to know.
func (o FleetOptions) Manifest(folder string) fleet.ManifestOptions {
	m := fleet.ManifestOptions{Image: o.Image, Claim: o.Claim, Mount: o.Mount, Namespace: o.Namespace}
	if m.Mount == "" {
		m.Mount = filepath.Dir(folder)
	}
	return m
}

// ValidateFor lists all that is wrong with a batch for the engine.
func (o FleetOptions) ValidateFor(b fleet.Batch) error {
	if o.Engine != Kubernetes {
		return b.ValidateFor(o.Engine)
	}
	m := o.Manifest(b.Folder)
	m.EnsureDefaults(b)
	return m.Validate(b)
}

// Validate lists all that is wrong.
func (o FleetOptions) Validate() error {
	var faults []error
	if o.Workers < 0 {
		faults = append(faults, fmt.Errorf("workers is %d; it is not negative", o.Workers))
	}
	if o.Threads < 0 {
		faults = append(faults, fmt.Errorf("threads is %d; it is not negative", o.Threads))
	}
	for _, d := range o.Devices {
		if !deviceName.MatchString(d) {
			faults = append(faults, fmt.Errorf("devices has %q; write cpu or cuda:N", d))
		}
	}
	if o.Mount != "" && !strings.HasPrefix(o.Mount, "/") {
		faults = append(faults, fmt.Errorf("mount is %q; name it from the root on", o.Mount))
	}
	// A batch with nothing wrong but what these options bring.
	some := fleet.Batch{Key: "key", Folder: filepath.Join("/", o.Mount, "run"), Argv: []string{"graft"}, Workers: max(1, o.Workers), Resources: o.Resources()}
	return errors.Join(append(faults, o.ValidateFor(some))...)
}
