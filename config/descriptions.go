// Code generated from the comments of the fields by go generate; DO NOT EDIT.

package config

// descriptions say what keys are for, by the field of a struct.
var descriptions = map[string]string{
	"graft/cluster/adaptive.PolluxOptions.Delay": "Restart time, in seconds, that Pollux assumes for a job whose " +
		"devices change. Zero means 30.",
	"graft/cluster/adaptive.PolluxOptions.Fairness": "Exponent of the power mean over the speedups of all jobs, from " +
		"-100 to 100. Zero means -1 (harmonic mean), the published value.",
	"graft/cluster/adaptive.PolluxOptions.Generations": "Number of generations of the genetic search. Zero means 100.",
	"graft/cluster/adaptive.PolluxOptions.Mixed": "Allows several multi-node jobs to share a node. False keeps " +
		"multi-node jobs on separate nodes, as Pollux's authors do.",
	"graft/cluster/adaptive.PolluxOptions.Population": "Number of allocations per generation of the genetic search. " +
		"Zero means 100.",
	"graft/cluster/adaptive.SchedulerOptions.Pollux": "Search options of the scheduler pollux.",
	"graft/cluster/adaptive/world.File.Adaptive":     "Applications that the jobs run, and the simulated cluster.",
	"graft/cluster/adaptive/world.File.Run":          "Output folder of the run.",
	"graft/cluster/adaptive/world.File.Schedule": "Schedulers to compare. Rigid schedulers run each job on the " +
		"requested number of GPUs with the requested batch size.",
	"graft/cluster/adaptive/world.File.Workload": "Job traces. Required. A trace is a table with the columns name, " +
		"time, application, num_replicas and batch_size, or a cluster trace in any format that 'graft trace' reads; " +
		"each job of a cluster trace gets an application of similar size. If a file does not exist, its name is " +
		"looked up in the folder adaptive.data and in the subfolders \"workloads\" and \"workloads/*\" of that " +
		"folder.",
	"graft/cluster/adaptive/world.Options.Compat": "Reference simulator: \"pollux\" reproduces Pollux's simulator, " +
		"including its bugs; \"none\" fixes the bugs. Default \"none\".",
	"graft/cluster/adaptive/world.Options.Data": "Folder of applications. Each application has a subfolder in this " +
		"folder or in its subfolder \"traces\". The application's subfolder holds placements.csv and " +
		"validation-BATCH.csv. The folder itself holds applications.csv, which lists the number of epochs of each " +
		"application. Required.",
	"graft/cluster/adaptive/world.Options.Delay": "Restart time of a job after a change of its devices, in seconds. " +
		"Default 30.",
	"graft/cluster/adaptive/world.Options.Devices": "GPUs per node. Default 8, or 4 if compat = \"pollux\".",
	"graft/cluster/adaptive/world.Options.Interference": "Fraction of speed that a multi-node job loses while it " +
		"shares a node with another multi-node job, from 0 to below 1. It does not apply under rigid schedulers. " +
		"Default 0.",
	"graft/cluster/adaptive/world.Options.Interval": "Time between two scheduling decisions, in seconds. Default 60.",
	"graft/cluster/adaptive/world.Options.Limit": "Maximum simulated time in seconds; a longer simulation fails. " +
		"Zero means no limit.",
	"graft/cluster/adaptive/world.Options.Nodes": "Number of nodes; all nodes have the same number of GPUs. Default " +
		"16.",
	"graft/cluster/adaptive/world.Options.Quirks": "Names of the bugs of Pollux's simulator that graft reproduces; " +
		"requires compat = \"none\". Empty reproduces no bugs.",
	"graft/cluster/curves.Options.Curves": "Path of a file of learning curves, which 'graft cluster curves' writes. " +
		"Each job draws one of the curves. Empty means that the networks of jobs are not considered.",
	"graft/cluster/curves.Options.Ends": "Condition for the end of a job. \"budget\" ends a job after its work in " +
		"the trace. \"accuracy\" ends a job when its network has the accuracy that it would have without growth " +
		"after its work in the trace. Default \"budget\".",
	"graft/cluster/curves.Options.Knowledge": "Knowledge with which a job decides whether its network grows. " +
		"\"typical\" means the job's own curve without growth, and the median effect of growth over all curves. " +
		"\"own\" adds the effect of growth in the job's own curve; this is an oracle. Default \"typical\".",
	"graft/cluster/curves.Options.MostWork": "Most work of a job that ends by accuracy, as a multiple of its work in " +
		"the trace. A job that does not reach its accuracy ends after this work. Default 2.",
	"graft/cluster/curves.Options.NoiseScale": "Batch size at which doubling the batch of a job makes each example " +
		"half as useful (the gradient noise scale of McCandlish et al., An empirical model of large-batch training, " +
		"2018), in batches on the requested devices. With it, schedulers that ask for offers can give a job more " +
		"devices than it requests. Zero means that jobs never use more devices than they request.",
	"graft/cluster/elastic.WindowOptions.Apart": "Omits the action that adds a worker and a parameter server in one " +
		"step, so that the policy adds them in separate steps. If an imitated scheduler adds both in one step, the " +
		"step becomes two training samples. Has no effect on jobs without parameter servers. False offers the " +
		"combined action too.",
	"graft/cluster/elastic.WindowOptions.Bits": "Encodes the job type in four rows of bits, highest bit first. False " +
		"encodes it as a single number.",
	"graft/cluster/elastic.WindowOptions.Order": "Sort order of the jobs: \"arrival\", \"share\" (dominant share) or " +
		"\"left\" (remaining share of epochs), smallest value first. Default \"arrival\".",
	"graft/cluster/elastic.WindowOptions.Padding": "Value that fills the unused columns of the observation matrix if " +
		"there are fewer jobs than columns. DL2's published program uses 0 or -1. Default 0.",
	"graft/cluster/elastic.WindowOptions.Rescale": "Scales the values of the observation matrix: job types are " +
		"divided by the number of types, slots since arrival by 100, and numbers of workers and servers by their " +
		"maximum. False keeps the raw values.",
	"graft/cluster/elastic.WindowOptions.Size": "Number of columns of the observation matrix, one per job. Zero " +
		"means 20.",
	"graft/cluster/elastic/world.File.Elastic":  "Cluster, job types and job speeds.",
	"graft/cluster/elastic/world.File.Run":      "Output folder of the run.",
	"graft/cluster/elastic/world.File.Schedule": "Schedulers to compare.",
	"graft/cluster/elastic/world.File.Workload": "Job traces: JSON files of elastic jobs, or cluster traces. Each " +
		"GPU job of a cluster trace becomes an elastic job with the same amount of work.",
	"graft/cluster/elastic/world.Options.CPUs": "Number of CPU slots per node. Zero means the trace's value, or 8 if " +
		"the trace has none.",
	"graft/cluster/elastic/world.Options.Compat": "Reference simulator: \"dl2\" reproduces DL2's simulator, " +
		"including its bugs; \"none\" fixes the bugs. Default \"none\".",
	"graft/cluster/elastic/world.Options.GPUs": "Number of GPU slots per node. Zero means the trace's value, or 8 if " +
		"the trace has none.",
	"graft/cluster/elastic/world.Options.Limit": "Maximum number of slots; a longer simulation fails. Zero means no " +
		"limit.",
	"graft/cluster/elastic/world.Options.Most": "Maximum number of workers per job; also the maximum number of " +
		"parameter servers per job. Zero means the trace's value, or 16 if the trace has none.",
	"graft/cluster/elastic/world.Options.Nodes": "Number of nodes. Zero means the trace's value, or 96 if the trace " +
		"has none.",
	"graft/cluster/elastic/world.Options.Scaling": "Cost of a change in a job's number of workers or servers: " +
		"\"checkpoint\" stops and restarts the job, \"hot\" moves parameters while the job runs, \"none\" makes " +
		"changes free. Empty means \"checkpoint\", or \"none\" if compat = \"dl2\".",
	"graft/cluster/elastic/world.Options.Slot": "Length of a slot in seconds. Zero means the trace's value, or 1200 " +
		"if the trace has none.",
	"graft/cluster/elastic/world.Options.SpeedError": "Maximum relative error of job speeds, in [0, 1). The error of " +
		"each job in each slot is drawn uniformly between minus and plus this value. Zero means the trace's value, " +
		"or no error if the trace has none.",
	"graft/cluster/elastic/world.Options.Speeds": "Source of the job speeds. A JSON file lists the steps per second " +
		"for each combination of model, number of servers and number of workers. A folder of applications, in the " +
		"format of adaptive.data, replaces the job types; jobs then have no parameter servers. With the value " +
		"\"analytic\", graft computes speeds from the compute time, model size and bandwidths of each job type. " +
		"Required unless the trace file selects \"analytic\".",
	"graft/cluster/elastic/world.Options.Types": "Path of a JSON file of job types, each with its resource demands, " +
		"epoch size and communication. Empty means the eight models of DL2.",
	"graft/cluster/fabric/world.Demand.Every": "Mean time between two arrivals; replaces demand.load. Zero derives " +
		"the time from demand.load.",
	"graft/cluster/fabric/world.Demand.Gaps": "Distribution of interarrival times: \"exponential\", or \"regular\" " +
		"(all equal). Default \"exponential\".",
	"graft/cluster/fabric/world.Demand.Jobs": "Number of jobs per episode. Zero means 200.",
	"graft/cluster/fabric/world.Demand.Least": "Smallest time limit of a job, for limits = \"uniform\" or " +
		"\"skewed\", as a fraction of its time on one server. Zero means 0.1.",
	"graft/cluster/fabric/world.Demand.Limits": "Distribution of time limits, which are fractions of a job's time on " +
		"one server: \"uniform\", \"fixed\", \"skewed\" or \"values\". Default \"uniform\".",
	"graft/cluster/fabric/world.Demand.Load": "Offered load: average fraction of busy servers if every job ran on " +
		"one server. Zero means 1.",
	"graft/cluster/fabric/world.Demand.Most": "Largest time limit of a job, as a fraction of its time on one server. " +
		"With limits = \"fixed\", every job has this limit. Zero means 1.",
	"graft/cluster/fabric/world.Demand.Period": "Period of the load variation (see demand.swing), in jobs. Zero " +
		"means 50.",
	"graft/cluster/fabric/world.Demand.Seed": "Random seed of the first episode; further episodes use the following " +
		"seeds. Default 1.",
	"graft/cluster/fabric/world.Demand.Shares": "Relative frequency of each time limit in demand.values. Empty means " +
		"equal frequencies.",
	"graft/cluster/fabric/world.Demand.Skewness": "Skewness of the time limits, for limits = \"skewed\". A positive " +
		"value makes short limits more frequent. PAC-ML's distributions B, C and D use 5, 0 and -5, respectively.",
	"graft/cluster/fabric/world.Demand.Steps": "Number of training steps per job. Zero means 50.",
	"graft/cluster/fabric/world.Demand.Swing": "Amplitude of a periodic load variation, relative to the load, in [0, " +
		"1). The mean load is sqrt(1 - swing²) times demand.load, because jobs arrive slowly for longer than they " +
		"arrive fast. Zero keeps the load constant.",
	"graft/cluster/fabric/world.Demand.TestCount": "Number of test episodes, on which schedulers are compared. Zero " +
		"means 5.",
	"graft/cluster/fabric/world.Demand.TrainCount": "Number of training episodes. Zero means 20.",
	"graft/cluster/fabric/world.Demand.ValidationCount": "Number of validation episodes, used to select the best " +
		"learned policy. Zero means 10.",
	"graft/cluster/fabric/world.Demand.Values": "Time limits to draw from, for limits = \"values\", as fractions of " +
		"a job's time on one server.",
	"graft/cluster/fabric/world.File.Demand":   "Arrival times, sizes and time limits of jobs.",
	"graft/cluster/fabric/world.File.Fabric":   "Servers and their network.",
	"graft/cluster/fabric/world.File.Graphs":   "Neural networks that jobs train.",
	"graft/cluster/fabric/world.File.Learn":    "Options for the learner that 'graft learn' runs.",
	"graft/cluster/fabric/world.File.Run":      "Seeds for 'graft learn', and the run folder for every command.",
	"graft/cluster/fabric/world.File.Schedule": "Schedulers, which choose the number of servers of each job.",
	"graft/cluster/fabric/world.File.Vary":     "Lists of values to sweep; every combination is simulated.",
	"graft/cluster/fabric/world.Graphs.Batch":  "Number of examples per training step. Zero means 64.",
	"graft/cluster/fabric/world.Graphs.Models": "Neural networks to train: names from the zoo, network files, " +
		"PipeDream profiles (.txt) or graphs (.json). Empty means ResNet18, VGG11BN, MobileNetV2, CIFARResNet56 and " +
		"LargeConvNet.",
	"graft/cluster/fabric/world.Graphs.Profile": "Device profile that gives the operation times of the models: a " +
		"name or a file path. Empty means round-gpu.",
	"graft/cluster/fabric/world.Graphs.Sizes": "Image height and width in pixels, one value per model. A value of " +
		"zero, or an empty list, keeps the model's own size.",
	"graft/cluster/fabric/world.Graphs.Weights": "Relative frequency of each model among the jobs. Empty means equal " +
		"frequencies.",
	"graft/cluster/fabric/world.Options.Bandwidth": "Network bandwidth of a server in bytes/s. Zero means 1.6e12, " +
		"the value of PAC-ML's experiments.",
	"graft/cluster/fabric/world.Options.Channels": "Number of channels between two servers, for network = \"ramp\". " +
		"Default 1.",
	"graft/cluster/fabric/world.Options.IO": "Time to send and receive a message in seconds, for network = \"ramp\". " +
		"Default 100e-9.",
	"graft/cluster/fabric/world.Options.Latency": "Latency of a transfer in seconds. Zero means 50e-9.",
	"graft/cluster/fabric/world.Options.MaxDegree": "Maximum number of parts into which a training step is split: 1 " +
		"or an even number. With strategy = \"data\", at most graphs.batch. Zero means 16.",
	"graft/cluster/fabric/world.Options.Memory": "Memory per server in bytes. Zero means 80e9.",
	"graft/cluster/fabric/world.Options.Network": "Topology of the network: \"ramp\" is an optical network with " +
		"channels between all servers, \"tree\" has one switch per rack and a core switch. Default \"ramp\".",
	"graft/cluster/fabric/world.Options.Quantum": "Operation time per part in ms, for strategy = \"tensor\": an " +
		"operation is split into one part per quantum, up to max_degree parts. Default 0.01.",
	"graft/cluster/fabric/world.Options.Quirks": "Names of the bugs of PAC-ML's simulator that graft reproduces. " +
		"Empty reproduces no bugs.",
	"graft/cluster/fabric/world.Options.Size": "Dimensions of the network: groups, racks per group and servers per " +
		"rack for network = \"ramp\"; racks and servers per rack for network = \"tree\". Empty means 4, 4, 2 for " +
		"\"ramp\" and 4, 8 for \"tree\".",
	"graft/cluster/fabric/world.Options.Speed": "Server speed relative to the device profile; operation times are " +
		"divided by it. Default 1.",
	"graft/cluster/fabric/world.Options.Strategy": "Parallelism of a training step: \"data\" splits the batch, " +
		"\"tensor\" splits the parameters, \"pipeline\" gives each server consecutive operations. Default \"data\".",
	"graft/cluster/fabric/world.Options.Uplink": "Bandwidth of a rack's uplink in bytes/s, for network = \"tree\". " +
		"Zero means the total bandwidth of the rack's servers.",
	"graft/cluster/fabric/world.Vary.Bandwidths": "Values of fabric.bandwidth to sweep; fabric.uplink changes in " +
		"proportion. Empty keeps fabric.bandwidth.",
	"graft/cluster/fabric/world.Vary.Loads": "Values of demand.load to sweep. Empty keeps demand.load. Cannot be " +
		"combined with demand.arrival_interval.",
	"graft/cluster/fabric/world.Vary.MaxDegrees": "Values of fabric.max_degree to sweep. Empty keeps " +
		"fabric.max_degree.",
	"graft/cluster/fabric/world.Vary.Networks": "Network topologies to sweep, each with or without its dimensions, " +
		"such as \"ramp 4x4x2\" or \"tree\". Empty keeps fabric.network and fabric.size.",
	"graft/cluster/fabric/world.Vary.Skewness": "Values of demand.skewness to sweep, for demand.limits = \"skewed\". " +
		"Empty keeps demand.skewness.",
	"graft/cluster/failures.Listed.Class": "Class of the fault, for the table of outages. May be empty.",
	"graft/cluster/failures.Listed.From":  "Start of the outage, in seconds after time 0 of the job trace. Required.",
	"graft/cluster/failures.Listed.Kind": "Kind of the outage: \"failure\", \"drain\" (a planned outage, announced " +
		"in advance) or \"unannounced-drain\". Default \"failure\".",
	"graft/cluster/failures.Listed.Node": "Number of the node in its virtual cluster, from 0. Spare nodes follow the " +
		"other nodes. Required.",
	"graft/cluster/failures.Listed.To": "End of the outage, in seconds after time 0 of the job trace. Zero means " +
		"that the node does not recover.",
	"graft/cluster/failures.Listed.VC": "Virtual cluster of the node. May be empty if there is only one.",
	"graft/cluster/failures.Options.Checkpoint": "Work between two checkpoints of a job, in seconds at the speed of " +
		"the requested GPUs. A job that loses a node, or is evicted, repeats the work since its last checkpoint. " +
		"Zero means no checkpoints: the job repeats all work since its start.",
	"graft/cluster/failures.Options.File": "Path of the failures: a fault trace in the JSON format of InfiniteHBD, " +
		"which any cluster can replay; a CSV table of outages of this cluster's nodes with the columns vc, node, " +
		"from [s], to [s], kind and class; or the output of Slurm's \"sacctmgr --parsable2 show event\". May be " +
		"empty.",
	"graft/cluster/failures.Options.FileDays": "Days that the fault trace observed. After this time the failures " +
		"repeat. Zero means the days in a file that graft wrote, and otherwise up to the last event, rounded up to a " +
		"whole day.",
	"graft/cluster/failures.Options.FileNodes": "Number of nodes that the fault trace observed, including nodes " +
		"without faults, which the file does not list. Zero means the number in a file that graft wrote, and " +
		"otherwise the number of nodes in the file.",
	"graft/cluster/failures.Options.Nodes": "Names of the cluster's nodes in their order, without spare nodes, as " +
		"names or Slurm hostlist expressions such as \"ga[01-12]\", for a file with names of nodes. Slurm events of " +
		"other nodes are left out. Empty numbers the nodes of a file of Slurm events in the natural order of their " +
		"names.",
	"graft/cluster/failures.Options.OnDrain": "Reaction of a job that runs on a node when a drain begins: \"finish\" " +
		"lets it run to its end; \"preempt\" saves its state and queues it again. Default \"finish\".",
	"graft/cluster/failures.Options.OnFailure": "Reaction of a job that loses some of its nodes: \"restart\" " +
		"releases all its GPUs and queues it again; \"shrink\" continues on the other nodes, under schedulers that " +
		"support this. Default \"restart\".",
	"graft/cluster/failures.Options.Outages": "Outages of single nodes, in addition to the file.",
	"graft/cluster/failures.Options.RateFactor": "Factor of the failure rates with source = \"fit\", from above 0 to " +
		"1000. Default 1. For no failures, remove the section.",
	"graft/cluster/failures.Options.Restart": "Delay after a failure, in seconds, before the job is queued again or, " +
		"if it continues on fewer GPUs, before it continues. Default 0.",
	"graft/cluster/failures.Options.Source": "Use of the file. \"fit\" generates failures with a model fitted to the " +
		"file, in which schedule.seed draws new failures; drains of a table or of Slurm events stay as they are. " +
		"\"replay\" is for a fault trace: each node of the cluster has the faults of one node of the trace, chosen " +
		"at random with schedule.seed. Default: \"replay\" for a fault trace; the outages of a table and Slurm " +
		"events are simulated as they are.",
	"graft/cluster/failures.Options.SpareNodes": "Number of spare nodes of each virtual cluster, in addition to its " +
		"nodes. A spare node replaces a node that is failed or drained. Default 0.",
	"graft/cluster/live.Options.Count": "Number of live jobs per trace, evenly spread over the jobs with devices, in " +
		"order of submission. Zero means the jobs in live.jobs.",
	"graft/cluster/live.Options.Ends": "Condition for the end of a live job. \"budget\" ends a job after its work in " +
		"the trace. \"loss\" ends a job when its network has the validation loss that it would have without the " +
		"decider after its work in the trace. graft then simulates the cluster without and with adaptation of the " +
		"live jobs, and trains a job whenever its devices change. \"loss\" needs a job file with a decider. Default " +
		"\"budget\".",
	"graft/cluster/live.Options.Job": "Path of the job file that graft trains for every live job, on the virtual " +
		"clock. A job's periods with devices are scaled to time.budget, and replace time.devices and time.events. " +
		"Empty means no live jobs.",
	"graft/cluster/live.Options.Jobs": "IDs of the live jobs in the traces. Empty selects live.count jobs.",
	"graft/cluster/live.Options.MostWork": "Most work of a live job that ends by its loss, as a multiple of its work " +
		"in the trace. A job that needs more ends after this work. From 1 to 100. Default 2.",
	"graft/cluster/live.Options.Seeds": "Number of trainings per live job and scheduler, with run.seed of the job " +
		"file and the following seeds. If ends = \"loss\", each further simulation of schedule.seeds trains with the " +
		"next seeds. Default 1.",
	"graft/cluster/lucid.Options.Echo": "Name of the virtual cluster that lends the profiler an additional node on " +
		"demand. Empty means vcYVn for traces of the cluster Venus, as in Lucid's published configuration. For other " +
		"traces, empty means the largest of the virtual clusters without a node for the profiler.",
	"graft/cluster/lucid.Options.From": "Names of the virtual clusters that each give the profiler one node. For " +
		"traces of the cluster Venus, an empty list means vc8Gr and vcefl, as Lucid's authors chose; for other " +
		"traces, it means the two largest virtual clusters.",
	"graft/cluster/lucid.Options.Largest": "Maximum size of a job that is profiled, in GPUs. Zero means 8, or all " +
		"GPUs of the profiler if it has fewer.",
	"graft/cluster/lucid.Options.Limit": "Profiling time per job in seconds. Zero means 200.",
	"graft/cluster/lucid.Options.Nodes": "Number of nodes on which Lucid profiles jobs, which the cluster gives up. " +
		"Zero means the number of virtual clusters in from or, without it, 2, or 1 if there is one virtual cluster.",
	"graft/cluster/node/world.Executor.Backoff": "Delay before the first retry of a task; each further retry doubles " +
		"the delay. Default 1s.",
	"graft/cluster/node/world.Executor.Cgroup": "Path of a cgroup v2 directory that the user can write to; \"none\" " +
		"disables cgroups. Empty means graft's own cgroup if it is writable.",
	"graft/cluster/node/world.Executor.Devices": "Devices that run tasks: \"gpu\" uses the machine's GPUs, \"cpu\" " +
		"divides the machine's processors into machine.gpus slots, \"auto\" means \"gpu\" if NVIDIA's library finds " +
		"GPUs and \"cpu\" otherwise. Default \"auto\".",
	"graft/cluster/node/world.Executor.Grace": "Time between SIGTERM and SIGKILL when a task is stopped. Default 10s.",
	"graft/cluster/node/world.Executor.IdleWatts": "Power of an idle device in watts, subtracted from the measured " +
		"power to compute net_joules. Zero measures the idle power for one second before the first task. A negative " +
		"value leaves net_joules empty.",
	"graft/cluster/node/world.Executor.Log": "Maximum log size per attempt of a task, in MiB. The middle of a longer " +
		"log is discarded. Default 16.",
	"graft/cluster/node/world.Executor.Sampling": "Interval at which the state of the devices is sampled, from 10ms " +
		"to 1s. Default 100ms.",
	"graft/cluster/node/world.Executor.UUIDs": "UUIDs of the GPUs to use, as 'nvidia-smi -L' prints them. Empty " +
		"means all GPUs.",
	"graft/cluster/node/world.File.Executor": "Options for 'graft node run'.",
	"graft/cluster/node/world.File.Learn":    "Options for the learner that 'graft learn' runs.",
	"graft/cluster/node/world.File.Machine":  "Simulated machine and its GPUs.",
	"graft/cluster/node/world.File.Run":      "Seeds for 'graft learn', and the run folder for every command.",
	"graft/cluster/node/world.File.Schedule": "Schedulers and their options. If no scheduler is named, 'graft node " +
		"simulate' compares all schedulers that need no training, and 'graft node run' uses backfill, or fcfs if a " +
		"task has neither duration nor estimate. If schedulers are named, 'graft node run' uses the first one.",
	"graft/cluster/node/world.File.Task": "List of tasks, one table [[task]] per task. If the list is empty, tasks " +
		"are generated or taken from a trace.",
	"graft/cluster/node/world.File.Tasks": "Options for tasks that are generated or taken from a trace.",
	"graft/cluster/node/world.File.Workload": "At most one cluster trace, in any format that 'graft trace' reads. " +
		"Jobs of the trace with at most one GPU become tasks.",
	"graft/cluster/node/world.Machine.Active": "Power of a GPU with tasks but no busy cores, in watts. Default 60.",
	"graft/cluster/node/world.Machine.Compat": "Reference simulator: \"tasks\" reproduces the packing environment of " +
		"a published study of GPU schedulers, including its workload generator, rewards and bugs; \"none\" is " +
		"graft's own simulator. Default \"none\".",
	"graft/cluster/node/world.Machine.Contention": "Slowdown coefficient of tasks on the same GPU, from 0 to 10: the " +
		"speed of a task is divided by 1 + contention × (cores that other tasks use / cores of the GPU). Default 0.",
	"graft/cluster/node/world.Machine.Cores": "Rule for learned schedulers: \"shared\" lets them start tasks that " +
		"together request up to 150% of a GPU's cores, and that then run more slowly; \"whole\" makes a task wait " +
		"until enough cores are free. Built-in schedulers always wait for free cores. Default \"shared\".",
	"graft/cluster/node/world.Machine.Empty": "Power of a GPU without tasks, in watts. Default 25.",
	"graft/cluster/node/world.Machine.Full":  "Power of a GPU with all cores in use, in watts. Default 250.",
	"graft/cluster/node/world.Machine.GPUs": "Number of identical GPUs. Default 4. Cannot be combined with " +
		"memories_mb.",
	"graft/cluster/node/world.Machine.Memories": "Memory of each GPU in MiB, for a machine whose GPUs differ. Cannot " +
		"be combined with gpus or memory_mb. Empty means identical GPUs, set by gpus and memory_mb.",
	"graft/cluster/node/world.Machine.Memory": "Memory per GPU in MiB. Default 16384. Cannot be combined with " +
		"memories_mb.",
	"graft/cluster/node/world.Machine.Profiles": "Path of colocate_info.csv, which 'graft node profile' writes. For " +
		"each pair of task kinds, the file holds the measured slowdowns of two tasks that share a GPU. Under " +
		"built-in schedulers, tasks share a GPU only if they together request at most 100% of its cores. Empty means " +
		"no measured slowdowns.",
	"graft/cluster/node/world.Machine.Speeds": "Relative speed of each GPU that memories_mb lists; task durations " +
		"are divided by it. Empty means 1 for each GPU.",
	"graft/cluster/node/world.Machine.Stop": "Method of preempting a task: \"signal\" pauses its processes, which " +
		"keep their memory and their GPU; \"checkpoint\" ends them and restarts them later on any GPU. Default " +
		"\"signal\".",
	"graft/cluster/node/world.Machine.Switch": "Time that a preempted task loses when it resumes. Default 0.",
	"graft/cluster/node/world.Machine.Together": "Maximum number of tasks that run on a GPU at the same time. Zero " +
		"means no limit.",
	"graft/cluster/node/world.Schedule.Aging": "Waiting time after which the priority of a task rises by one step. " +
		"Default 1m.",
	"graft/cluster/node/world.Schedule.Objective": "Cost that ranks schedulers and that learning minimises: " +
		"\"completion\" is the mean time from arrival to completion; \"energy-delay\" is this mean multiplied by the " +
		"energy of all GPUs. Default \"completion\".",
	"graft/cluster/node/world.Schedule.Quantum": "Time slice of schedulers that time-share GPUs. Default 10s.",
	"graft/cluster/node/world.Task.After": "Names of the tasks that must complete before this task starts. Empty " +
		"means no dependency.",
	"graft/cluster/node/world.Task.Arrival": "Time of submission, measured from the start of the run. Default 0.",
	"graft/cluster/node/world.Task.Checkpoint": "Declares that a real task saves its state at SIGTERM and resumes " +
		"from this state in its next run, as 'graft train --resume' does, and that its exit code 75 requests another " +
		"run. If false, graft can pause the task only by signals (SIGSTOP and SIGCONT), and exit code 75 is a " +
		"failure.",
	"graft/cluster/node/world.Task.Command": "Program and arguments of a real task, run without a shell. Empty means " +
		"a task that is only simulated.",
	"graft/cluster/node/world.Task.Cores": "Percentage of a GPU's cores that the task keeps busy when it runs alone. " +
		"Default 100.",
	"graft/cluster/node/world.Task.Count": "Number of copies of the task. If count is above 1, a number is appended " +
		"to the name of each copy. Default 1.",
	"graft/cluster/node/world.Task.Duration": "Run time of the task when it has a GPU to itself. 'graft node " +
		"simulate' needs it; schedulers of 'graft node run' use it as an estimate. Zero means unknown.",
	"graft/cluster/node/world.Task.Env": "Additional environment variables of a real task, such as SEED=1. Empty " +
		"adds none.",
	"graft/cluster/node/world.Task.Estimate": "Estimated duration that schedulers use. Zero means the true duration.",
	"graft/cluster/node/world.Task.Flow": "Name of the user or queue whose tasks share one weight in fair queueing. " +
		"Empty gives the task its own flow.",
	"graft/cluster/node/world.Task.Folder": "Working directory of a real task. Empty means the working directory of " +
		"graft.",
	"graft/cluster/node/world.Task.Kind": "Kind of the task, which selects its measured slowdowns in " +
		"machine.profiles. Empty means the task's name.",
	"graft/cluster/node/world.Task.MainMemory": "Main memory limit of a real task in MiB, enforced only if its " +
		"processes have a cgroup. Zero means no limit.",
	"graft/cluster/node/world.Task.Memory": "GPU memory of the task in MiB. Default 0.",
	"graft/cluster/node/world.Task.Name": "Unique name of the task. Empty means \"task\" followed by its position in " +
		"the file.",
	"graft/cluster/node/world.Task.Priority": "Scheduling priority; tasks with larger values run first. Default 0.",
	"graft/cluster/node/world.Task.Retries":  "Maximum number of retries of a real task after failures. Default 0.",
	"graft/cluster/node/world.Task.Tickets":  "Number of tickets in lottery and stride scheduling. Default 1.",
	"graft/cluster/node/world.Task.Timeout": "Maximum running time of a real task, after which it is terminated. " +
		"Zero means no limit.",
	"graft/cluster/node/world.Task.Weight": "Weight of the task's flow in fair queueing. Zero means the weight that " +
		"another task of the flow sets, or 1. Two tasks of a flow must not set different weights.",
	"graft/cluster/node/world.Tasks.EstimateError": "Maximum relative error of the duration estimates that " +
		"schedulers use, in [0, 1). Errors are drawn uniformly between minus and plus this value. Default 0.",
	"graft/cluster/node/world.Tasks.Interval": "Mean time between arrivals (Poisson process) of generated tasks. " +
		"Zero means that all tasks arrive at the start.",
	"graft/cluster/node/world.Tasks.Least": "Minimum number of tasks per generated workload. Default 40.",
	"graft/cluster/node/world.Tasks.Most":  "Maximum number of tasks per workload. Default 50.",
	"graft/cluster/node/world.Tasks.Seed":  "Random seed of the workloads. Default 1.",
	"graft/cluster/node/world.Tasks.TestCount": "Number of test workloads, on which schedulers are compared. Default " +
		"20.",
	"graft/cluster/node/world.Tasks.TrainCount": "Number of training workloads. Default 100.",
	"graft/cluster/node/world.Tasks.Unit":       "Time unit of generated task durations. Default 1s.",
	"graft/cluster/node/world.Tasks.ValidationCount": "Number of validation workloads, used to select the best " +
		"learned policy. Default 20.",
	"graft/cluster/rigid.File.Cluster":  "Nodes, and the part of the trace to simulate.",
	"graft/cluster/rigid.File.Failures": "Simulated failures and drains of nodes, and their effects on jobs.",
	"graft/cluster/rigid.File.Growth":   "Learning curves of jobs whose networks grow.",
	"graft/cluster/rigid.File.Learn":    "Learning of a scheduler with 'graft learn'.",
	"graft/cluster/rigid.File.Live":     "Jobs of the trace for which graft trains a network.",
	"graft/cluster/rigid.File.Resizing": "Jobs whose number of GPUs can change. Without the section, all jobs.",
	"graft/cluster/rigid.File.Run":      "Seeds for 'graft learn', and the run folder for every command.",
	"graft/cluster/rigid.File.Schedule": "Schedulers to compare, and their duration estimates.",
	"graft/cluster/rigid.File.Training": "Step times of jobs, computed from networks and a device profile.",
	"graft/cluster/rigid.File.Workload": "Cluster traces in any format that 'graft trace describe' reads.",
	"graft/cluster/rigid.GPUType.CPUs": "Number of processors per node of this type. Zero means " +
		"cluster.cpus_per_node.",
	"graft/cluster/rigid.GPUType.Memory": "Memory per node of this type in MiB. Zero means " +
		"cluster.memory_mb_per_node.",
	"graft/cluster/rigid.GPUType.ModelSpeeds": "Speed of each model at the same position of models, instead of speed.",
	"graft/cluster/rigid.GPUType.Models": "Models in the trace whose jobs have another speed on this type. May be " +
		"empty.",
	"graft/cluster/rigid.GPUType.Name": "Name of the type, as in the trace. Upper and lower case do not matter.",
	"graft/cluster/rigid.GPUType.Nodes": "Number of nodes with GPUs of this type. Zero means that cluster.vc_file " +
		"lists them.",
	"graft/cluster/rigid.GPUType.PerNode": "Number of GPUs per node of this type, at most 64. Zero means the number " +
		"in cluster.vc_file or, if the file has none, cluster.gpus_per_node.",
	"graft/cluster/rigid.GPUType.Speed":    "Speed of jobs on this type relative to the other types. Zero means 1.",
	"graft/cluster/rigid.Learn.Jobs":       "Number of jobs per workload. Zero means 100.",
	"graft/cluster/rigid.Learn.TrainCount": "Number of training workloads, the earliest ones. Zero means 32.",
	"graft/cluster/rigid.Learn.ValidationCount": "Number of validation workloads, which follow the training " +
		"workloads. Zero means 8.",
	"graft/cluster/rigid.Options.Aliases": "Virtual clusters of jobs with other names in the trace, each as NAME=VC. " +
		"For example, \"debug=gpu\" runs the jobs of partition debug on the nodes of gpu. Requires vc_file, or " +
		"vc_config.csv in the folder cluster.data.",
	"graft/cluster/rigid.Options.CPUs": "Number of processors per node. A job's requested processors are divided " +
		"evenly among its GPUs. Zero ignores processors.",
	"graft/cluster/rigid.Options.Compat": "Reference simulator: \"lucid\" reproduces Lucid's simulator, including " +
		"its bugs; \"none\" fixes the bugs. Default \"none\".",
	"graft/cluster/rigid.Options.Data": "Folder of cluster data: vc_config.csv (virtual clusters and their nodes), " +
		"*_lgb.csv and *_ebm*.csv (estimated job durations), single_data.csv and colocate_info.csv (model profiles), " +
		"*throughput_pred.csv (forecast of submissions). May be empty if the key \"nodes\" or \"vc_file\" is set and " +
		"no scheduler needs the other files.",
	"graft/cluster/rigid.Options.EarlierStarts": "Work of jobs before failures and preemptions on the traced " +
		"cluster: \"replay\" repeats it, \"drop\" leaves it out. Empty means \"drop\" if nodes fail in the " +
		"simulation, because the simulated failures replace the real ones, and otherwise \"replay\". To compare " +
		"simulations with and without failures, set it to \"drop\" in both.",
	"graft/cluster/rigid.Options.EnforceLimits": "Ends a job when it had GPUs for as long as the user's time limit, " +
		"in total over all its starts. Default false: jobs can exceed their limits.",
	"graft/cluster/rigid.Options.Format": "Trace format: a name that 'graft list formats' prints. Empty detects the " +
		"format from the trace's first lines.",
	"graft/cluster/rigid.Options.From": "Start of the simulated part of the trace, in seconds after time 0 of the " +
		"trace. Zero means the start of the trace or, if compat = \"lucid\", the start of the month that Lucid's " +
		"authors simulated.",
	"graft/cluster/rigid.Options.Memory": "Memory per node in MiB. A job's requested memory is divided evenly among " +
		"its GPUs. Zero ignores memory.",
	"graft/cluster/rigid.Options.Nodes": "Number of nodes, if all jobs share a single virtual cluster. Zero means " +
		"that vc_file lists the nodes.",
	"graft/cluster/rigid.Options.PerNode": "Number of GPUs per node, at most 64. Default 8.",
	"graft/cluster/rigid.Options.Placement": "Rule that selects nodes and GPUs for a job. \"consolidate\" uses as " +
		"few nodes as possible, and delays the job until these nodes are free. \"consolidate-first\" also uses as " +
		"few nodes as possible, but spreads the job over more nodes instead of delaying the job. \"random\" takes " +
		"the first free GPUs in node order; despite its name, it draws nothing at random. Default \"consolidate\".",
	"graft/cluster/rigid.Options.Power": "Power of the GPUs.",
	"graft/cluster/rigid.Options.Spot":  "Eviction of spot jobs.",
	"graft/cluster/rigid.Options.To": "End of the simulated part of the trace, in seconds after time 0 of the trace. " +
		"Zero means the end of the trace or, if compat = \"lucid\", the end of the month that Lucid's authors " +
		"simulated.",
	"graft/cluster/rigid.Options.Types": "Types of GPUs, and their nodes in a single virtual cluster, instead of " +
		"cluster.nodes. If vc_file has a column \"type\", it lists the nodes of each type. Empty means that all " +
		"nodes are alike.",
	"graft/cluster/rigid.Options.UsageEvery": "Time between two rows of the usage tables, in seconds. Zero writes no " +
		"usage tables.",
	"graft/cluster/rigid.Options.VCFile": "Path of a file that lists the virtual clusters and their nodes, such as " +
		"vc_config.csv, with or without types of GPUs. If empty, and cluster.nodes is set, all jobs share a single " +
		"virtual cluster with this number of nodes. If neither vc_file nor cluster.nodes is set, graft reads " +
		"vc_config.csv in the folder cluster.data.",
	"graft/cluster/rigid.Options.WholeGPUs": "Gives a whole GPU to a job that requests a part of one. False gives " +
		"the job only the requested part, and other jobs can use the remaining part.",
	"graft/cluster/rigid.PowerOptions.Busy": "Power of a GPU with a job, in watts, at most 100,000. Default 0: the " +
		"report has no energy.",
	"graft/cluster/rigid.PowerOptions.Idle": "Power of a GPU without a job, in watts, at most busy_watts. Default 0.",
	"graft/cluster/rigid.Schedule.DeadlineFactor": "Factor of the users' time limits in the jobs' deadlines, at most " +
		"1e6: a deadline is the submission plus the factor times the limit. The report then has the share of jobs " +
		"that met their deadlines. Zero means no deadlines in the report, and 1 for the scheduler edf.",
	"graft/cluster/rigid.Schedule.Estimates": "Source of expected job durations: \"limits\" uses the time limits " +
		"that users requested (for a job without one, the longest limit in the trace); \"lgb\" and \"ebm\" read " +
		"files in cluster.data; \"exact\" uses the true durations (an oracle); any other value is a file path. If " +
		"empty, the default depends on the scheduler: \"ebm\" for lucid; \"limits\" for backfill, or \"exact\" if " +
		"the trace has no time limits; \"lgb\" for other schedulers that need estimates.",
	"graft/cluster/rigid.SpotOptions.Evict": "Schedules the other jobs as if spot jobs did not exist, and evicts " +
		"spot jobs from GPUs that other jobs get. Spot jobs run on the remaining GPUs. Default false: spot jobs are " +
		"scheduled as all other jobs.",
	"graft/cluster/rigid.SpotOptions.Notice": "Time from the notice of an eviction to the eviction, in seconds. " +
		"During this time the spot job runs on, and the job that gets its GPUs waits. Default 0.",
	"graft/cluster/rigid.SpotOptions.Save": "Time that a spot job needs to write a checkpoint after a notice, in " +
		"seconds. If it is longer than notice_seconds, an evicted job repeats its work since the last checkpoint " +
		"(failures.checkpoint_seconds). Default 60.",
	"graft/cluster/rigid.Training.Bandwidth": "Bandwidth of a node's link in bytes/s, in each direction. Zero means " +
		"12.5e9.",
	"graft/cluster/rigid.Training.Batches": "Number of examples per step of each network, divided among a job's " +
		"devices. Zero, or an empty list, means the batch of the job in the trace or, without one, 64 for each " +
		"requested device.",
	"graft/cluster/rigid.Training.Latency": "Latency of a message between nodes in seconds. Zero means 5e-6.",
	"graft/cluster/rigid.Training.Models": "Names of models in the trace. A job of one of these models trains the " +
		"network at the same position of training.networks. Empty means that the speed of all jobs is proportional " +
		"to their numbers of devices.",
	"graft/cluster/rigid.Training.Networks": "Networks that the models stand for: names from 'graft model list', or " +
		"network files.",
	"graft/cluster/rigid.Training.Profile": "Device profile that gives the step times: a name, such as h100, or a " +
		"file path. Empty means h100.",
	"graft/cluster/rigid.Training.Rack": "Number of nodes per rack. Zero means one rack for all nodes.",
	"graft/cluster/rigid.Training.Uplink": "Bandwidth of a rack's uplink in bytes/s, in each direction. Zero means " +
		"the total bandwidth of the rack's nodes.",
	"graft/cluster/schedulers.Options.Lucid": "Profiling options of the scheduler lucid.",
	"graft/cluster/study.Arrivals.ArrivalFactors": "Factors that speed up the arrivals of jobs in the trace. The " +
		"time from the first submission to each later submission is divided by the factor. graft simulates each " +
		"factor separately. Empty means 1.",
	"graft/cluster/study.RunOptions.Folder": "Path of the run folder. Empty lets the command choose a path, such as " +
		"runs/NAME for a file NAME.toml.",
	"graft/cluster/study.Schedule.Ablate": "Enables each known bug of the original simulator in a separate " +
		"simulation, and reports the bug's effect. Default false.",
	"graft/cluster/study.Schedule.Against": "Name of the baseline scheduler, to which the other schedulers are " +
		"compared. Empty means the default baseline for the kind of cluster or, if there is none, the first " +
		"scheduler.",
	"graft/cluster/study.Schedule.Schedulers": "Names of the schedulers to compare, from 'graft list schedulers'. A " +
		"learned scheduler is named by its path: a run folder of 'graft learn', or a policy file. For rigid jobs, a " +
		"path such as \"./mine.py\" names an external program that implements a scheduler. Empty means the default " +
		"schedulers for the kind of cluster.",
	"graft/cluster/study.Schedule.Seed": "Seed of the first simulation; further simulations use the following seeds.",
	"graft/cluster/study.Schedule.Seeds": "Number of simulations of each scheduler, with consecutive seeds, if the " +
		"scheduler or the cluster has random draws. Zero means 1.",
	"graft/cluster/study.Schedule.Workers": "Number of simulations that run in parallel. Zero means one per processor.",
	"graft/cluster/study.Workload.Traces": "Paths of job traces, one workload per trace. The accepted formats depend " +
		"on the kind of cluster.",
	"graft/cluster/trace.Selection.MinGPUs": "Minimum number of GPUs of the selected jobs. Default 0.",
	"graft/cluster/trace.Selection.MinHours": "Minimum run time in the trace of the selected jobs, in hours. Default " +
		"0.",
	"graft/cluster/trace.Selection.Shares": "Shares of the selected jobs, between 0 and 1. graft simulates each " +
		"share separately; a larger share includes the jobs of a smaller one. Empty means 0 and 1.",
	"graft/cluster/trace.Selection.States": "End states in the trace of the selected jobs, such as [\"COMPLETED\"]. " +
		"Empty means all states.",
	"graft/config.AdaptOptions.Actions": "List of actions, such as \"deepen:0\", \"widen:conv2:48\" and \"none\". " +
		"The decider \"fixed\" requires exactly one action and repeats it; \"script\" takes the actions in order; " +
		"\"random\", \"trials\", \"gradient\" and structural policies choose among the listed actions that fit the " +
		"network. Must be empty for the decider \"none\". If the list is empty, these deciders choose from " +
		"adapt.kinds.",
	"graft/config.AdaptOptions.Decider": "Decider that chooses the actions: \"fixed\" repeats one action; \"script\" " +
		"takes its actions in order; \"random\" draws an action that fits the network; \"trials\" trains a copy of " +
		"the network for some steps with each action that fits, and takes the action with the lowest validation " +
		"loss; \"gradient\" takes the action whose new weights have the largest gradient per cost; \"policy\" " +
		"follows a learned policy; \"none\" takes no action. A path, such as \"./mine.py\", names a program that " +
		"chooses the actions. Empty means \"none\".",
	"graft/config.AdaptOptions.Fallback": "Decider that replaces a structural policy at decisions whose inputs lie " +
		"far outside of the range in the policy's training tables, such as a network that is ten times larger: " +
		"\"none\", \"random\", \"gradient\", or \"policy\", which lets the policy decide. The event of the decision " +
		"names the inputs. Empty means \"none\". Must be empty unless the decider is \"policy\".",
	"graft/config.AdaptOptions.Kinds": "Operations that \"random\", \"trials\", \"gradient\" or a structural policy " +
		"can choose if adapt.actions is empty. For a policy, empty means all kinds of actions in the policy's " +
		"training set. For other deciders, empty means deepen and widen.",
	"graft/config.AdaptOptions.Policy": "Path of a learned policy. For a structural policy: its file, or a folder " +
		"that contains policy.safetensors. For a policy in the original system's format: its weight file, or the " +
		"folder that contains it. Must be empty unless the decider is \"policy\".",
	"graft/config.AdaptOptions.Sample": "Samples each action from the policy's probabilities. False takes the most " +
		"likely action.",
	"graft/config.AdaptOptions.TrialSteps": "Number of training steps per candidate action, for the decider " +
		"\"trials\". Zero means 32.",
	"graft/config.AdaptOptions.Vocab": "Path of the vocabulary (a folder or a file) with which a policy in the " +
		"original system's format was trained. Must be empty for a structural policy, and for every decider except " +
		"\"policy\".",
	"graft/config.CompareOptions.Actions": "Actions that the baselines \"random\" and \"best fixed\" can choose at " +
		"every decision, such as \"deepen:0\" and \"none\". Cannot be combined with compare.kinds. If empty, " +
		"compare.kinds determines the actions.",
	"graft/config.CompareOptions.Arms": "Baselines that run in addition to the configured job: \"never\" (no " +
		"adaptation); \"small from scratch\" (no adaptation and fresh weights, for a job that starts from trained " +
		"weights); \"final from scratch\" (the final network of the job with the same seed, trained from scratch for " +
		"the whole budget); \"random\" (any action that fits); \"best fixed\" (the sequence of actions with the " +
		"highest validation accuracy on other seeds). Empty means all applicable baselines.",
	"graft/config.CompareOptions.Kinds": "Operations for the baselines \"random\" and \"best fixed\", which choose " +
		"among \"none\" and all actions of the listed operations that fit the network. Cannot be combined with " +
		"compare.actions. Empty means deepen and widen if compare.actions is empty too.",
	"graft/config.CompareOptions.MaxSequences": "Maximum number of sequences that the baseline \"best fixed\" tries. " +
		"If more sequences are possible, graft tries an evenly spaced sample. Zero means 64.",
	"graft/config.CompareOptions.Seeds": "Number of trials of the configured job and of each baseline, with run.seed " +
		"and the following seeds. Zero means 10.",
	"graft/config.CompareOptions.SelectionSeeds": "Number of trials per sequence when the baseline \"best fixed\" " +
		"selects its sequence. The seeds of these trials follow the seeds that compare.seeds uses. Zero means 3.",
	"graft/config.FleetOptions.Account": "Account that Slurm charges. Empty means Slurm's default.",
	"graft/config.FleetOptions.CPUs": "Number of processors per worker. Zero divides this machine's processors among " +
		"local workers; for \"slurm\", zero means the cluster's default, and for \"kubernetes\", one.",
	"graft/config.FleetOptions.Claim": "Name of the persistent volume claim that holds the run folder and the cache. " +
		"Required for engine = \"kubernetes\"; must be empty for other engines.",
	"graft/config.FleetOptions.Constraint": "Feature that Slurm nodes must have, such as a100. Empty means no " +
		"requirement.",
	"graft/config.FleetOptions.Devices": "Devices of local workers, assigned in turn, such as \"cuda:0\" and " +
		"\"cuda:1\". Several workers may share a device. Empty means run.device.",
	"graft/config.FleetOptions.Engine": "Engine that starts the workers: \"local\" starts processes on this machine, " +
		"\"slurm\" submits jobs to a Slurm cluster, \"kubernetes\" writes a manifest that you apply to a cluster. " +
		"Empty means \"local\".",
	"graft/config.FleetOptions.Extra": "Additional options of sbatch, written as --name=value. Options that graft " +
		"sets itself are not allowed. Empty adds no options.",
	"graft/config.FleetOptions.Fit": "Chooses the number of local workers per device by measurement. graft trains " +
		"the largest network of the scenario for two seconds with 1, 2, 4, … parallel workers, and then uses the " +
		"number of workers with the highest throughput. It excludes numbers at which all workers together need more " +
		"than 90% of the GPU's memory or, on the CPU, of the machine's free memory. Cannot be combined with " +
		"fleet.workers. False uses fleet.workers.",
	"graft/config.FleetOptions.GPUs": "Number of CUDA devices per worker, for \"slurm\" and \"kubernetes\". A worker " +
		"trains on its first device and needs run.device = \"cuda\". Zero means none.",
	"graft/config.FleetOptions.Gres": "Generic resource (GRES) that each worker requests from Slurm, such as " +
		"gpu:a100:1. Replaces fleet.gpus. If empty, each worker requests the number of GPUs in fleet.gpus.",
	"graft/config.FleetOptions.Image": "Container image with graft on its PATH, for engine = \"kubernetes\". " +
		"Required for this engine; must be empty for other engines.",
	"graft/config.FleetOptions.Lead": "Time before the time limit at which Slurm signals a worker to save its work, " +
		"at most 65535 s. Zero means one minute, or half of time_limit if that is less.",
	"graft/config.FleetOptions.MemoryMB": "Memory per worker in MiB, for \"slurm\" and \"kubernetes\". Zero means " +
		"the cluster's default.",
	"graft/config.FleetOptions.Mount": "Absolute path at which the persistent volume claim is mounted. Empty means " +
		"the parent of the run folder.",
	"graft/config.FleetOptions.Namespace": "Kubernetes namespace, for engine = \"kubernetes\". Empty means the " +
		"default namespace of the user who applies the manifest.",
	"graft/config.FleetOptions.Partition": "Slurm partition, as listed by 'sinfo -s'. Empty means Slurm's default.",
	"graft/config.FleetOptions.QOS":       "Quality of service (QOS) of Slurm jobs. Empty means Slurm's default.",
	"graft/config.FleetOptions.Threads": "Number of LibTorch threads per worker. Zero means one per processor of the " +
		"worker (see fleet.cpus).",
	"graft/config.FleetOptions.Time": "Maximum run time of a worker, for \"slurm\" and \"kubernetes\". A worker that " +
		"reaches this limit is restarted if the scenario has unfinished sequences. Slurm rounds this time limit up " +
		"to minutes. Zero means the cluster's default.",
	"graft/config.FleetOptions.Workers": "Number of workers that run in parallel. Zero means one worker per device " +
		"in fleet.devices. If that list is empty, zero means one worker if run.device is a GPU, and one worker per " +
		"processor of this machine if run.device is \"cpu\". For \"slurm\" and \"kubernetes\", zero means 4.",
	"graft/config.Job.Adapt": "Adaptation: the decider, the times of its decisions, and surgery. Empty means no " +
		"adaptation.",
	"graft/config.Job.Data":    "Dataset. Empty means synthetic images.",
	"graft/config.Job.Network": "Network to train, and its initial weights.",
	"graft/config.Job.Program": "A PyTorch program that trains the network in its own loop. Empty means that graft " +
		"trains the network.",
	"graft/config.Job.Run":  "Seed, device and output.",
	"graft/config.Job.Time": "Budget, clock, and planned changes of devices.",
	"graft/config.Job.Train": "Training options that are not in the sections optimizer, schedule, augment, distill, " +
		"checkpoint and parallel.",
	"graft/config.NetworkOptions.Classes": "Number of outputs of the last linear layer. For a network from the zoo, " +
		"zero means the number of classes in the dataset; for a network file, zero leaves the layer unchanged.",
	"graft/config.NetworkOptions.File": "Path of a network file. Empty means a network from the zoo. Cannot be " +
		"combined with network.name.",
	"graft/config.NetworkOptions.Fresh": "Initializes the parameters randomly from run.seed even if network.weights " +
		"is set. The weight file then only provides tensors without a defined initialization (buffers and constants " +
		"of an imported network). False takes all tensors from the weight file.",
	"graft/config.NetworkOptions.Name": "Name of a network in the zoo, from 'graft model list'. Empty means " +
		"ConvSmall if network.file is empty too. Cannot be combined with network.file.",
	"graft/config.NetworkOptions.ResetEpochs": "Sets the epoch count to zero and the learning rate to its initial " +
		"value, as the original system does, even if network.runtimes is set. If network.runtimes is set, false " +
		"continues both from the last epoch in that file.",
	"graft/config.NetworkOptions.Runtimes": "Path of a file of epoch times, which the original system wrote while it " +
		"trained network.weights. The job continues with the next epoch and its learning rate. If time.start is not " +
		"set, the job starts at the end time of the last epoch in the file. If the key is empty and network.weights " +
		"is a folder, graft searches this folder for the file.",
	"graft/config.NetworkOptions.Weights": "Path of initial weights: a .pth or .safetensors file, or a results " +
		"folder of the original system. {seed} in the file name is replaced by run.seed, so each seed of a " +
		"comparison can start from a separate file. Empty draws random weights.",
	"graft/config.Pipeline.Evaluate": "Evaluation of the learned policies.",
	"graft/config.Pipeline.Learn":    "Options for the learner.",
	"graft/config.Pipeline.Pipeline": "Scenarios to simulate or trials to run, and the output.",
	"graft/config.Pipeline.Policy": "Size of the structural policy's own network, not of the networks that the " +
		"policy changes.",
	"graft/config.Pipeline.Run": "Seeds and checkpoints of the learned policies.",
	"graft/config.PipelineEvaluate.LeaveOut": "Cross-validation of the policies: \"scenario\" leaves out one " +
		"scenario at a time; \"network\", \"dataset\" and \"budget\" leave out all scenarios with the same network, " +
		"dataset or budget; \"none\" evaluates the policies only on their training tables. Empty means \"none\".",
	"graft/config.PipelineOptions.Cache": "Path of the folder that caches the outcomes of runs. If empty, each " +
		"scenario uses its own key simulate.cache; scenarios without this key use the folder \"cache\" next to the " +
		"scenarios' folders.",
	"graft/config.PipelineOptions.Folder": "Path of the folder of results, with one subfolder per scenario and one " +
		"for the policies, or one per entry of pipeline.trials. Empty lets the command choose a path, such as " +
		"runs/NAME for a file NAME.toml.",
	"graft/config.PipelineOptions.Scenarios": "Paths of the scenario files; policies learn from the tables of these " +
		"scenarios. Required without pipeline.trials.",
	"graft/config.PipelineOptions.Set": "Assignments to keys of every scenario, or of every job in pipeline.trials, " +
		"such as run.device=\"cuda:0\". If the list is empty, the scenarios and jobs stay as they are.",
	"graft/config.PipelineOptions.Trials": "Trials of jobs to run, in order. Each entry has its own run folder. " +
		"Cannot be combined with pipeline.scenarios. Empty means none.",
	"graft/config.RunOptions.Device": "Device of all tensors: \"cpu\" or \"cuda:N\". Empty means \"cpu\".",
	"graft/config.RunOptions.Folder": "Path of the run folder. Empty lets the command choose a path, such as " +
		"runs/NAME for a file NAME.toml.",
	"graft/config.RunOptions.Fork": "Path of a run folder with kept checkpoints (checkpoint.keep_every). A new job " +
		"starts from the newest kept checkpoint before the first difference of the two jobs, instead of from the " +
		"beginning, with the same results. The jobs may differ in later events, later actions of a script, time.stop " +
		"and time.stop_loss. {seed} in the name of the folder is replaced by run.seed. Empty starts from the " +
		"beginning.",
	"graft/config.RunOptions.Instructions": "Vector instructions of the CPU: \"native\" uses the fastest " +
		"instructions of the processor, so results differ between CPU models; \"avx2\" gives the same results on " +
		"every processor with AVX2. Empty means \"native\".",
	"graft/config.RunOptions.Listen": "Address of the HTTP server that shows and controls the running job, such as " +
		"127.0.0.1:0; port 0 selects a free port. Empty means no server.",
	"graft/config.RunOptions.Seed": "Seed of all random numbers, except for data splits and synthetic images " +
		"(data.seed). Default 1; zero is a valid seed.",
	"graft/config.RunOptions.Tensorboard": "Writes TensorBoard event files in addition to the run folder's tables. " +
		"Default false.",
	"graft/config.RunOptions.Threads": "Number of LibTorch threads. Zero means LibTorch's default or, if results do " +
		"not depend on the number of threads (such as on the CPU with train.steady = true), the fastest number by " +
		"measurement, up to one thread per processor.",
	"graft/config.SimulateOptions.Actions": "Actions to try at every decision, in order, such as \"deepen:0\", " +
		"\"widen:conv2:48\" and \"none\". An action that does not fit the current network is skipped. Empty means " +
		"every action that the operations in simulate.kinds can apply to the network.",
	"graft/config.SimulateOptions.Cache": "Path of the folder that caches the outcomes of runs; several scenarios " +
		"can share the folder. Empty means the folder \"cache\" next to the run folder.",
	"graft/config.SimulateOptions.Decisions": "Number of decisions per sequence; after the last decision, the " +
		"network stays unchanged. Zero means all decisions in the timeline.",
	"graft/config.SimulateOptions.Design": "Design of the experiment, which selects the sequences: \"all\" runs " +
		"every sequence; \"sample\" takes max_sequences sequences, divided evenly among the choices at each " +
		"decision; \"halve\" drops the partial sequences with the lowest accuracy at each decision; \"likely\" runs " +
		"the most probable sequences under a policy. Empty means \"all\".",
	"graft/config.SimulateOptions.Gains": "Records the gain of each action, for policies that read gains " +
		"(adapt.decider = \"gradient\" defines the gain). At each decision, a job then computes the gains of all its " +
		"choices, which takes time from the budget, as in a job with such a policy. False records no gains.",
	"graft/config.SimulateOptions.Keep": "Fraction of the partial sequences that design = \"halve\" keeps at each " +
		"decision, from 0 to 1. Zero means 0.5.",
	"graft/config.SimulateOptions.Kinds": "Operations to try at every decision. graft tries every action of these " +
		"operations that fits the current network, and then \"none\". Empty means deepen and widen if " +
		"simulate.actions is empty too.",
	"graft/config.SimulateOptions.MaxSequences": "Maximum number of sequences. The designs \"sample\" and \"likely\" " +
		"select this many sequences; the designs \"all\" and \"halve\" fail if there are more. Zero means 10,000.",
	"graft/config.SimulateOptions.Name": "Name of the scenario in tables and reports. Empty means the file name.",
	"graft/config.SimulateOptions.Policy": "Path of the structural policy for design = \"likely\". Must be empty for " +
		"other designs.",
	"graft/config.SimulateOptions.Seeds": "Number of runs of each action sequence, with run.seed and the following " +
		"seeds. Zero means 1.",
	"graft/config.SimulateOptions.Tries": "Number of attempts per sequence before it is skipped. Zero means 2.",
	"graft/config.Simulation.Fleet": "Workers that run the sequences, and their resources. Outcomes do not depend on " +
		"this section.",
	"graft/config.Simulation.Simulate": "Sequences of actions to run.",
	"graft/config.Sweep.Compare": "Baselines and trials of a comparison. Commands other than 'graft compare' ignore " +
		"this section.",
	"graft/config.Sweep.Fleet": "Workers that run the trials, and their resources. Outcomes do not depend on this " +
		"section.",
	"graft/config.TimeOptions.Clock": "Clock that measures the budget: \"virtual\" charges work according to a " +
		"device profile, \"wall\" measures real time. Empty means \"virtual\".",
	"graft/config.TimeOptions.EventsFile": "Path of a CSV file of events with the columns seconds, change and " +
		"devices, in place of time.events. Cannot be combined with time.events. Empty means no file.",
	"graft/config.TimeOptions.Profile": "Name or path of the device profile, which sets the duration of work on the " +
		"virtual clock. A computed GPU may have options, such as \"h100:tf32,graphs\". Requires clock = \"virtual\". " +
		"Empty means \"steady\".",
	"graft/config.TreeLearning.Learn": "Options for the learner.",
	"graft/config.TreeLearning.Policy": "Size of the structural policy's own network, not of the networks that the " +
		"policy changes.",
	"graft/config.TreeLearning.Run":    "Seeds and output of the run.",
	"graft/config.TreeLearning.Tables": "Training and validation tables.",
	"graft/config.TreeLearningOptions.For": "Purpose of the policies, which selects the defaults of this section. " +
		"\"known\" is for scenarios in the tables: the policies learn the best sequence of each scenario. \"new\" is " +
		"for scenarios without a table: the defaults average out noise and prevent overconfident policies. Empty " +
		"means \"known\".",
	"graft/config.TreeLearningTables.Folders": "Folders of the training tables, in graft's format or the original " +
		"system's. Required.",
	"graft/config.TreeLearningTables.HeldOut": "Folders of the validation tables, for early stopping. If empty, " +
		"learning stops when the training objective stops improving.",
	"graft/config.TrialsOptions.Cases": "Path of a TOML file of cases, with one table of keys and values per case. " +
		"Empty means one case: the unmodified job.",
	"graft/config.TrialsOptions.Job": "Path of the job file. Required.",
	"graft/config.TrialsOptions.Name": "Name of the entry and of its run folder. Empty means the name of the job " +
		"file without its extension.",
	"graft/config.TrialsOptions.Seeds": "Number of trials per case and combination of values, with run.seed and the " +
		"following seeds. Zero means 1.",
	"graft/config.TrialsOptions.Set": "Assignments to keys of the job, such as \"fleet.workers=8\"; they follow " +
		"pipeline.set. Empty means none.",
	"graft/config.TrialsOptions.Sweep": "Keys with lists of values, such as \"time.budget=8s,16s\". Every case runs " +
		"with all combinations. Empty means no further values.",
	"graft/config.TrialsOptions.Tune": "Selection of values for each case, before the trials of the entry.",
	"graft/config.TuneOptions.FirstSeed": "First seed of these trials. It must not lead to a seed of the entry's " +
		"other trials. Zero means the seed after the last seed of the entry.",
	"graft/config.TuneOptions.Seeds": "Number of trials per case and combination. Zero means 1.",
	"graft/config.TuneOptions.Set": "Assignments to keys of the job in these trials, such as \"time.budget=16s\"; " +
		"they follow the entry's assignments. Empty means none.",
	"graft/config.TuneOptions.Sweep": "Keys with lists of candidate values, such as \"optimizer.lr=1e-3,3e-3\". " +
		"Every case tries all combinations. Empty means no tuning.",
	"graft/dataset.Options.Context": "Number of tokens per example. A text file is cut into consecutive windows of " +
		"this length; in a table, the text of each row is padded or truncated to it. Zero means 64.",
	"graft/dataset.Options.Deviation": "Standard deviations of the channels, above zero: one value per channel, or " +
		"one for all. Pixels are divided by these values after data.mean is subtracted. Empty means the standard " +
		"deviation of the training images.",
	"graft/dataset.Options.Kind":        "Kind of the dataset. Empty means \"synthetic\".",
	"graft/dataset.Options.LabelColumn": "Name of the table column that holds the labels. Empty means \"label\".",
	"graft/dataset.Options.LabelEach": "Unit of text that a label in a table describes: \"text\" (the whole text) or " +
		"\"word\" (one word). Words and their labels are separated by spaces. Words with the label -100 are ignored. " +
		"Empty means \"text\".",
	"graft/dataset.Options.Limit": "Maximum number of training images, over all classes. Zero means all.",
	"graft/dataset.Options.Mean": "Means of the channels, which are subtracted from pixel values between 0 and 1: " +
		"one mean per channel, or one for all. Empty means the mean of the training images.",
	"graft/dataset.Options.Path": "Path of the dataset: a folder, or the published archive of CIFAR. Required, " +
		"except for kind = \"synthetic\".",
	"graft/dataset.Options.Seed": "Seed of the data splits and of synthetic images. Zero is a valid seed.",
	"graft/dataset.Options.Size": "Height and width in pixels to which images of the kinds \"folder\" and \"shards\" " +
		"are resized, after they are cropped to the largest square in their middle. Zero means 32.",
	"graft/dataset.Options.Stream": "Reads images of the kinds \"folder\" and \"shards\" on demand, for datasets " +
		"larger than memory. Mean and standard deviation of the pixels are then computed from 1,000 images. False " +
		"keeps all images in memory.",
	"graft/dataset.Options.Synthetic": "Options for synthetic images.",
	"graft/dataset.Options.TestAsValidation": "Uses the test images for validation and all other images for " +
		"training, as the original system does. The final test accuracy is then optimistic. False keeps training, " +
		"validation and test images separate.",
	"graft/dataset.Options.TextColumn": "Name of the table column that holds the text. Empty means \"text\".",
	"graft/dataset.Options.Tokens": "Tokenization of text: \"bytes\" (256 tokens), \"bpe\" (byte-pair encoding with " +
		"a vocabulary), or \"characters\" (one token per distinct character, ordered by code point). Empty means " +
		"\"bytes\".",
	"graft/dataset.Options.TurboJPEG": "Decodes JPEG files of the kinds \"folder\" and \"shards\" with " +
		"libjpeg-turbo, which must be installed (libturbojpeg0 in Debian) and is several times as fast as Go's " +
		"decoder. Pixels differ from Go's by a few levels, so results differ too. CMYK files are always decoded in " +
		"Go. False decodes all files in Go.",
	"graft/dataset.Options.ValidationFolder": "Name of a folder next to the folders train and test, such as \"val\", " +
		"whose images are the validation set. For the kind \"folder\" only. Empty holds out validation_share of the " +
		"images in train, and ignores other folders for validation with a warning.",
	"graft/dataset.Options.ValidationShare": "Fraction of the training images that is held out for validation, " +
		"between 0 and 1. The fraction is the same in each class; data.seed determines which images are held out. " +
		"For the kind \"digits\", and for a folder without a test folder, the same number of images is also held out " +
		"for testing. Zero means 0.1.",
	"graft/dataset.Options.Vocabulary": "Path of the vocabulary for tokens = \"bpe\": a Hugging Face tokenizer.json, " +
		"or GPT-2's vocab.json with merges.txt in the same folder. Empty means no vocabulary.",
	"graft/dataset.SyntheticOptions.Channels": "Number of channels per image: 1 for grey, 3 for colour. Zero means 3.",
	"graft/dataset.SyntheticOptions.Classes":  "Number of classes, from 2 to 100. Zero means 10.",
	"graft/dataset.SyntheticOptions.Noise": "Maximum random change of a pixel, in units of 1/255. Larger values make " +
		"classes harder to distinguish. Zero means 40.",
	"graft/dataset.SyntheticOptions.Size": "Height and width of images in pixels, at least 16. Zero means 32.",
	"graft/dataset.SyntheticOptions.Test": "Number of test images. Zero means 2,000.",
	"graft/dataset.SyntheticOptions.Textures": "Makes neighbouring classes differ in texture, which small networks " +
		"learn sooner than shape. False makes neighbouring classes differ in shape.",
	"graft/dataset.SyntheticOptions.Train": "Number of training images, including validation images. Zero means " +
		"10,000.",
	"graft/decider.StructuralShape.Hidden": "Width of the graph encoder's outputs and of the hidden layers. Zero " +
		"means 32.",
	"graft/decider.StructuralShape.Rounds": "Number of message-passing rounds of the graph encoder. Zero means 2.",
	"graft/learn.RunOptions.Checkpoint":    "Wall-clock time between two checkpoints of a policy. Zero means 30 s.",
	"graft/learn.RunOptions.Every":         "Interval between rows of the learning table, in steps. Zero means 10.",
	"graft/learn.RunOptions.Folder": "Path of the run folder. Empty lets the command choose a path, such as " +
		"runs/NAME for a file NAME.toml.",
	"graft/learn.RunOptions.Seed": "Seed of the first policy; the other policies use the following seeds. Default 1.",
	"graft/learn.RunOptions.Seeds": "Number of policies to learn, from 1 to 1,024. Structural policies, which are " +
		"trained on tables, decide together by a vote. If the policies are schedulers, all are kept, and the best " +
		"one is also kept as scheduler.safetensors. Zero means 5.",
	"graft/learn.RunOptions.Tensorboard": "Writes TensorBoard event files in addition to the run folder's tables. " +
		"Default false.",
	"graft/learn.RunOptions.Workers": "Number of policies that learn in parallel, with one thread each. Zero means " +
		"one per processor.",
	"graft/learn/candidates.Options.Actions": "Number of actions per round in each of the parallel episodes. Has no " +
		"effect with baseline = \"workload\", which plays episodes to the end. Zero means 2048.",
	"graft/learn/candidates.Options.Baseline": "Baseline that PPO subtracts from rewards: \"workload\" uses the " +
		"rewards of other episodes of the same workload; \"critic\" uses rewards that a network predicts. Empty " +
		"means \"workload\".",
	"graft/learn/candidates.Options.Batch": "Number of actions per gradient computation. Zero means 256.",
	"graft/learn/candidates.Options.Clip": "Clipping range of PPO: maximum relative change of an action's " +
		"probability in a round. Zero means 0.2.",
	"graft/learn/candidates.Options.Compute": "Library that computes gradients: \"go\" gives bit-identical results " +
		"on every processor; \"libtorch\" is several times as fast, especially with wide layers. Empty means \"go\".",
	"graft/learn/candidates.Options.Entropy": "Weight of the entropy of decisions in the objective. Zero means 0.003.",
	"graft/learn/candidates.Options.Envs": "Number of episodes that are played in parallel in a " +
		"round. Zero means 8.",
	"graft/learn/candidates.Options.Epochs": "Number of passes over the actions of a round. Zero means 2.",
	"graft/learn/candidates.Options.Every": "Validation interval: in workloads during imitation, in rounds during " +
		"reinforcement learning. Zero means the default.",
	"graft/learn/candidates.Options.Gamma":  "Discount factor per time step, above 0 and at most 1. Zero means 0.99.",
	"graft/learn/candidates.Options.Hidden": "Width of the hidden layers of the agent's networks. Zero means 32.",
	"graft/learn/candidates.Options.Lambda": "Parameter λ of generalised advantage estimation, above 0 and at most " +
		"1. Larger values give more weight to observed rewards, and less weight to the critic's estimates. Zero " +
		"means 0.99.",
	"graft/learn/candidates.Options.LessonRate": "Learning rate of Adam during imitation, above 0 and at most 1. " +
		"Zero means 0.001.",
	"graft/learn/candidates.Options.Lessons": "Number of workloads on which the agent learns to imitate the teacher. " +
		"Zero means the default.",
	"graft/learn/candidates.Options.Method": "Reinforcement learning method, used after imitation; \"none\" means " +
		"imitation only. Empty means \"ppo\".",
	"graft/learn/candidates.Options.Patience": "Number of validations without improvement after which reinforcement " +
		"learning ends. Zero means the default.",
	"graft/learn/candidates.Options.Rate": "Learning rate of Adam during reinforcement learning, above 0 and at most " +
		"1. Zero means the default.",
	"graft/learn/candidates.Options.Rounds": "Maximum number of rounds of reinforcement learning. Zero means the " +
		"default.",
	"graft/learn/candidates.Options.Slots": "Maximum number of simulated time slots per workload. A longer " +
		"simulation is cut off. Zero means 2000.",
	"graft/learn/candidates.Options.Teacher": "Scheduler to imitate before reinforcement learning. \"best\" " +
		"imitates, on each workload, the scheduler with the smallest mean time to completion; \"none\" skips " +
		"imitation. Empty means \"best\".",
	"graft/net2net.Options.Amplitude": "Size of the weights of new units. With new_units = \"gradmax\", it " +
		"multiplies their norm, which is the mean norm of existing units; zero means 1. With \"firefly\", it is the " +
		"size of outgoing weights and of perturbations, relative to existing units; zero keeps the function exactly. " +
		"With \"tiny\", it is the size of the step; zero searches for the power of two with the smallest loss. " +
		"\"copies\" ignores it.",
	"graft/net2net.Options.Compat": "Version of the deepen operation: \"original\" inserts layers as in the original " +
		"system, including its bugs; \"original-without-norm\" inserts the same layers without batch normalisation. " +
		"Empty means graft's version.",
	"graft/net2net.Options.Form": "Form of a new block. \"identity\" inserts an identity layer. \"residual\" adds a " +
		"branch that begins at zero. \"opposite\" adds pairs of units that cancel each other. \"stacked\" adds " +
		"unmodified copies of blocks, so the network's function changes. \"opposite\" and \"stacked\" require a " +
		"network that runs as a graph of operators, such as an imported network. Empty means \"residual\" for such a " +
		"network. For other networks, empty means \"identity\" if that form is possible, and \"residual\" if not.",
	"graft/net2net.Options.Noise": "Standard deviation of the normal noise that is added to copied weights to break " +
		"the symmetry between copies, relative to the root mean square of the weight tensor. Zero, the default, adds " +
		"no noise, so the network's function stays exactly the same.",
	"graft/net2net.Options.Split": "Division of the weights that read a unit among the copies of the unit. Every " +
		"value keeps the network's function. \"partition\" gives each weight to one copy, drawn at random, so that " +
		"copies get different gradients. \"shares\" gives each copy a share of all weights, drawn at random; it " +
		"needs a network that runs as a graph of operators. \"equal\" gives all copies equal shares, as Net2Net. " +
		"With \"shares\", and with \"equal\" unless noise is set, copies stay nearly equal under Adam and its " +
		"variants. Empty means \"partition\".",
	"graft/net2net.Options.Start": "Start of new units when a layer is widened. \"copies\" copies existing units. " +
		"\"gradmax\" sets one side of a new unit to zero and the other side to the direction with the largest " +
		"gradient. \"firefly\" takes the best of random units and splits of units. \"tiny\" fits new units to the " +
		"gradient that existing weights cannot follow, which changes the network's function. Starts other than " +
		"\"copies\" use the gradient on a batch of training data, and need one layer that makes the units and one " +
		"that reads them. Empty means \"copies\".",
	"graft/original/dl2.Options.Agents": "Number of agents that learn together, each with its own workloads. Zero " +
		"means 1.",
	"graft/original/dl2.Options.Asynchronous": "Applies the gradient of each agent separately, as in A3C; agents " +
		"take turns in a fixed order, so results are reproducible. False averages the gradients of all agents.",
	"graft/original/dl2.Options.Optimizer": "Optimizer of the policy network and the value network. Empty means " +
		"\"adam\".",
	"graft/original/dl2.Options.Reinforced": "Options for reinforcement learning, the second phase of learning.",
	"graft/original/dl2.Options.Replay":     "Experience replay of each agent.",
	"graft/original/dl2.Options.Shape":      "Observations, actions and networks of the policy.",
	"graft/original/dl2.Options.Supervised": "Options for imitation, the first phase of learning.",
	"graft/original/dl2.Options.Validation": "Options for validation during training.",
	"graft/original/dl2.Options.Workloads":  "Training workloads of the agents.",
	"graft/original/dl2.ReinforcedOptions.Batch": "Number of transitions per update, summed over all agents. Zero " +
		"means 256.",
	"graft/original/dl2.ReinforcedOptions.Entropy": "Weight of the negative entropy in the loss. Zero means 0.1; a " +
		"negative value means no entropy term.",
	"graft/original/dl2.ReinforcedOptions.EpsilonGreedy": "Takes uniformly random actions with a probability that " +
		"decreases during training. Default false.",
	"graft/original/dl2.ReinforcedOptions.Every": "Update interval, in slots. Zero means 1.",
	"graft/original/dl2.ReinforcedOptions.NoBalance": "Disables the training rule that grows the job with the fewest " +
		"tasks (workers and servers) if another job has several times as many. Default false.",
	"graft/original/dl2.ReinforcedOptions.NoCritic": "Computes advantages relative to the mean reward. False uses a " +
		"value network.",
	"graft/original/dl2.ReinforcedOptions.NoInjection": "Disables the rules that replace some of the policy's " +
		"actions during training. Default false.",
	"graft/original/dl2.ReinforcedOptions.NoMean": "Uses rewards as advantages without subtracting the mean reward, " +
		"if no_critic = true. Otherwise, this key changes only the upper bound of the priorities in the replay " +
		"memory. Default false.",
	"graft/original/dl2.ReinforcedOptions.Rate": "Learning rate during reinforcement learning. Zero means 0.0001.",
	"graft/original/dl2.ReinforcedOptions.Reward": "Reward of actions: \"progress\" is the fraction of epochs " +
		"completed in the slot, summed over all jobs; \"job\" is this fraction for the action's job only; " +
		"\"unfinished\" is the number of unfinished jobs (positive, as in the published program); \"discounted\" " +
		"gives the last action of a slot the reward of the slot, and each earlier action 0.99 times the reward of " +
		"the action after it. Empty means \"progress\".",
	"graft/original/dl2.ReinforcedOptions.SameEpsilon": "Uses the same exploration probability for all agents. If " +
		"false, the probability decreases more slowly for agents with higher numbers.",
	"graft/original/dl2.ReinforcedOptions.Steps": "Number of reinforcement learning updates. Zero means 6000; a " +
		"negative value skips reinforcement learning.",
	"graft/original/dl2.ReplayOptions.Capacity": "Capacity of the replay memory in transitions. Zero means 8192.",
	"graft/original/dl2.ReplayOptions.Even": "Samples transitions uniformly in reinforcement learning. Imitation " +
		"always samples uniformly. False samples by priority.",
	"graft/original/dl2.ReplayOptions.EvictLeast": "Evicts the transition with the lowest priority from a full " +
		"replay memory. False evicts the oldest transition.",
	"graft/original/dl2.ReplayOptions.Fill": "Number of transitions to store per slot, drawn at random. Zero stores " +
		"all transitions.",
	"graft/original/dl2.ReplayOptions.NoSort": "Gives a new transition the highest priority. False uses the " +
		"transition's reward minus the mean reward as its priority, but at least 1.",
	"graft/original/dl2.ShapeOptions.FirstTanh": "Uses tanh instead of ReLU in the first layer. Default false.",
	"graft/original/dl2.ShapeOptions.Front": "Layers in front of the hidden layers: \"jobs\" adds one layer per job, " +
		"\"attributes\" adds one layer per job attribute that the policy observes, \"none\" adds no layers. Empty " +
		"means \"none\".",
	"graft/original/dl2.ShapeOptions.Layers": "Number of hidden layers. Zero means 1.",
	"graft/original/dl2.ShapeOptions.Neurons": "Number of neurons per hidden layer. Zero means the number of values " +
		"in the observation matrix.",
	"graft/original/dl2.ShapeOptions.NoAffine": "Removes the layer with a learned scale and shift that follows each " +
		"ReLU. The published program calls this layer \"batch normalization\", although it uses no batch statistics. " +
		"Default false.",
	"graft/original/dl2.ShapeOptions.NoStart": "Disables the rule that gives each job one worker and one parameter " +
		"server before the policy acts in a slot. Default false.",
	"graft/original/dl2.ShapeOptions.Shortcut": "Connects each job's front layer directly to the job's outputs, in " +
		"addition to the path through the hidden layers. Requires front = \"jobs\". Default false.",
	"graft/original/dl2.SupervisedOptions.Batch": "Number of samples per update, summed over all agents. Zero means " +
		"256.",
	"graft/original/dl2.SupervisedOptions.Loss": "Imitation loss function. Empty means \"Cross_Entropy\".",
	"graft/original/dl2.SupervisedOptions.NoShuffle": "Keeps the order of the jobs' columns in training samples. " +
		"False shuffles the columns.",
	"graft/original/dl2.SupervisedOptions.Rate": "Learning rate during imitation. Zero means 0.005.",
	"graft/original/dl2.SupervisedOptions.Steps": "Number of imitation updates. Zero means 200; a negative value " +
		"skips imitation.",
	"graft/original/dl2.SupervisedOptions.Teacher": "Name of the scheduler to imitate, such as \"drf\" or " +
		"\"optimus\". Empty means \"drf\".",
	"graft/original/dl2.ValidationOptions.Every": "Validation interval of reinforcement learning, in updates; " +
		"imitation validates four times as often. Zero means 200. A negative value disables validation; 'graft " +
		"learn' rejects it, because validation selects the policy to keep.",
	"graft/original/dl2.ValidationOptions.Likeliest": "Takes the most likely action during validation. False samples " +
		"an action from the policy's probabilities.",
	"graft/original/dl2.WorkloadOptions.Count": "Number of training workloads per agent. The agent cycles through " +
		"these workloads. Zero means 100.",
	"graft/original/dl2.WorkloadOptions.FirstTypes": "Number of job types at the start of training. Zero means all.",
	"graft/original/dl2.WorkloadOptions.MostSlots":  "Maximum number of slots per episode. Zero means 1000.",
	"graft/original/dl2.WorkloadOptions.TypesEvery": "Interval at which a job type is added, in updates. Requires " +
		"first_types. Zero means 500.",
	"graft/original/dl2/learning.File.DL2":     "Options for the learner that runs if elastic.compat = \"dl2\".",
	"graft/original/dl2/learning.File.Elastic": "Cluster, job types and job speeds.",
	"graft/original/dl2/learning.File.Learn":   "Options for the learner.",
	"graft/original/dl2/learning.File.Run":     "Seeds and output of the run.",
	"graft/original/dl2/learning.File.Schedule": "Schedulers that 'graft evaluate' compares with the learned " +
		"scheduler.",
	"graft/original/dl2/learning.File.Workload":  "At most one job trace. Generated workloads use its settings.",
	"graft/original/dl2/learning.File.Workloads": "Workloads for training, validation and test.",
	"graft/original/dl2/learning.WorkloadOptions.Arrivals": "Arrival process of generated workloads. \"uniform\" " +
		"generates the same number of jobs in each slot. \"poisson\" draws the number of jobs in each slot from a " +
		"Poisson distribution. \"pattern\" repeats the job counts of workloads.pattern, starting at a random slot. " +
		"\"trace\" repeats the job counts of workload.traces. \"submission\" keeps the submission times and requires " +
		"workloads.from. Empty means \"poisson\", or \"submission\" if workloads.from is set.",
	"graft/original/dl2/learning.WorkloadOptions.EpochError": "Maximum relative error of the epoch count that is " +
		"reported to schedulers, in [0, 1). Zero means exact counts.",
	"graft/original/dl2/learning.WorkloadOptions.Epochs": "Base number of epochs: a job has this number times the " +
		"\"length\" of its job type. Zero means 30,000; if workloads.from is set, zero keeps the amount of work that " +
		"each job has in the trace.",
	"graft/original/dl2/learning.WorkloadOptions.From": "Path of a cluster trace in any format of 'graft trace'. The " +
		"trace's GPU jobs, in the order of submission, become training workloads, then validation workloads, then " +
		"test workloads. There is a gap between workloads of different kinds: jobs that were submitted up to one " +
		"slot after the last training workload, or after the last validation workload, are skipped. Jobs after the " +
		"last test workload are not used. If empty, the other keys of this section determine the workloads.",
	"graft/original/dl2/learning.WorkloadOptions.Jitter": "Varies the number of epochs by up to 10% between jobs of " +
		"the same type. Cannot be combined with workloads.from. False gives all jobs of a type the same number of " +
		"epochs.",
	"graft/original/dl2/learning.WorkloadOptions.Jobs": "Number of jobs in each workload that is generated or taken " +
		"from workloads.from. Zero means 60.",
	"graft/original/dl2/learning.WorkloadOptions.Pattern": "Numbers of jobs that arrive in consecutive slots, for " +
		"arrivals = \"pattern\". Values above max_arrivals are reduced to max_arrivals.",
	"graft/original/dl2/learning.WorkloadOptions.Rate": "Maximum number of job arrivals per slot. Zero means 3. " +
		"Cannot be combined with workloads.from.",
	"graft/original/dl2/learning.WorkloadOptions.Seed": "Seed of generated workloads. Default 1.",
	"graft/original/dl2/learning.WorkloadOptions.Test": "Trace files of test workloads, on which 'graft evaluate' " +
		"compares schedulers. If the list is empty, workloads are generated.",
	"graft/original/dl2/learning.WorkloadOptions.TestCount": "Number of test workloads to generate if workloads.test " +
		"is empty. Zero means 10.",
	"graft/original/dl2/learning.WorkloadOptions.Train": "Trace files of training workloads, in the formats that " +
		"workload.traces accepts. If the list is empty, workloads are generated.",
	"graft/original/dl2/learning.WorkloadOptions.TrainCount": "Number of training workloads to generate if " +
		"workloads.train is empty. Zero means 40.",
	"graft/original/dl2/learning.WorkloadOptions.Validation": "Trace files of validation workloads, used to select " +
		"the best learned policy. If the list is empty, workloads are generated.",
	"graft/original/dl2/learning.WorkloadOptions.ValidationCount": "Number of validation workloads to generate if " +
		"workloads.validation is empty. Zero means 8.",
	"graft/original/learn.Options.Baseline": "Weight of a new reward in the running mean of rewards, which serves as " +
		"the baseline. Zero means no baseline.",
	"graft/original/learn.Options.Batch": "Number of episodes per learning step. Zero means 1.",
	"graft/original/learn.Options.Entropy": "Weight of the entropy bonus: each decision's reward is increased by the " +
		"weight times the decision's entropy. Zero means no bonus.",
	"graft/original/learn.Options.Episodes": "Number of training episodes. A step with rule = \"exact\" counts as " +
		"one episode. Zero means 10,000.",
	"graft/original/learn.Options.LR": "Learning rate of Adam. Zero means 0.0001.",
	"graft/original/learn.Options.LRDecay": "Factor by which the learning rate is multiplied at each decay. Zero " +
		"means 0.99.",
	"graft/original/learn.Options.LREvery": "Decay interval of the learning rate, in episodes. Zero means 500.",
	"graft/original/learn.Options.LRLeast": "Lower bound of the decaying learning rate. Zero means 1e-9.",
	"graft/original/learn.Options.Reward": "Reward as a function of the accuracy a: \"tangent\" is 100 tan(πa/2), " +
		"\"accuracy\" is a itself, \"standard\" is (a - m) / s for the mean m and the standard deviation s of the " +
		"accuracies in the table. Empty means \"tangent\".",
	"graft/original/learn.Options.Rule": "Learning rule: \"reinforce\" learns from sampled episodes; \"exact\" " +
		"learns from all sequences of the table, weighted by their probability. Empty means \"reinforce\".",
	"graft/original/learn.Options.Temperature": "Temperature of exploration. Actions are drawn from the softmax of p " +
		"/ temperature for the policy's probabilities p (not its logits); a value above 1 makes the probabilities " +
		"more equal. Zero means 1.",
	"graft/original/learn.Options.TemperatureDecay": "Factor by which the temperature is multiplied at each decay, " +
		"until it reaches 1. Zero means 0.9.",
	"graft/original/learn.Options.TemperatureEvery": "Decay interval of the temperature, in episodes. Zero means 1.",
	"graft/original/learn.PolicyOptions.Hidden": "Number of units per direction of the biLSTM that reads the " +
		"network's layers. Zero means 50.",
	"graft/original/learn.PolicyOptions.Linear": "Width of the hidden linear layers. Zero means 128.",
	"graft/original/learn.PolicyOptions.Memory": "Number of units of the LSTM that follows the biLSTM. Zero means 16.",
	"graft/original/learn.PolicyOptions.Precise": "Computes in float64. Default false: computes in float32, like the " +
		"original system.",
	"graft/original/learn.PolicyOptions.Time": "Width of the encoding of the remaining time. Zero means 8.",
	"graft/original/policyfile.File.Learn":    "Options for the learner.",
	"graft/original/policyfile.File.Policy":   "Sizes of the policy, and its initial weights.",
	"graft/original/policyfile.File.Run":      "Seed and output of the run.",
	"graft/original/policyfile.File.Table":    "Table that the policy is trained on.",
	"graft/original/policyfile.PolicyOptions.Embedding": "Expected length of a token's vector in the vocabulary. " +
		"Zero accepts vectors of any length.",
	"graft/original/policyfile.PolicyOptions.Weights": "Path of initial weights, a .pth or .safetensors file; its " +
		"embedding is ignored. Empty draws random weights.",
	"graft/original/policyfile.RunOptions.Checkpoint": "Wall-clock time between two checkpoints. Zero means 30 s.",
	"graft/original/policyfile.RunOptions.Every": "Number of episodes per row of the learning " +
		"table. Zero means 100.",
	"graft/original/policyfile.RunOptions.Folder": "Path of the run folder. Empty lets the command choose a path, " +
		"such as runs/NAME for a file NAME.toml.",
	"graft/original/policyfile.RunOptions.Seed": "Seed of the initial parameters and of randomly drawn actions. " +
		"Default 1.",
	"graft/original/policyfile.RunOptions.Tensorboard": "Writes TensorBoard event files in addition to the run " +
		"folder's tables. Default false.",
	"graft/original/policyfile.TableOptions.Actions": "Actions that the numbers 0, 1, 2, … stand for if the table is " +
		"a data.pkl file. A table folder already lists its actions. Empty means one action per block that the " +
		"original system can deepen, in order, followed by \"none\".",
	"graft/original/policyfile.TableOptions.Compat": "Version of the deepen operation that was used to grow the " +
		"networks in the table. \"original\" inserts layers as the original system does. \"original-without-norm\" " +
		"inserts the same layers without batch normalisation. Empty means graft's version.",
	"graft/original/policyfile.TableOptions.DiscardDraws": "Draws and discards the random numbers that the original " +
		"system uses for initial weights, so that later random draws equal the original system's draws. Default " +
		"false.",
	"graft/original/policyfile.TableOptions.File": "Path of the training table: a table folder in graft's or the " +
		"original system's format, or a data.pkl file of the original system. Required.",
	"graft/original/policyfile.TableOptions.Network": "Initial network to which the table's sequences of actions are " +
		"applied: a name in the zoo or a network file. Empty means the network that is named in the table's folder. " +
		"If the table is a data.pkl file instead of a folder, empty means ConvNet2.",
	"graft/original/policyfile.TableOptions.Prefix": "Starts each sequence with token 0, as the original system's " +
		"first policies did. Default false.",
	"graft/original/policyfile.TableOptions.Vocabulary": "Path of the vocabulary: a folder, a graft vocabulary file, " +
		"or NAME.ids.pkl with NAME.embeddings.pkl in the same folder. Required.",
	"graft/simulation/learning.Options.Beta": "Weight of the best sequences in the objective. Zero maximises the " +
		"expected reward; a larger value maximises (1/beta) log E exp(beta R), where R is the reward divided by the " +
		"standard deviation of the rewards. Default 8, or 2 if learn.for = \"new\".",
	"graft/simulation/learning.Options.Entropy": "Reward per nat of the policy's entropy. Default 0 (no reward), or " +
		"0.1 if learn.for = \"new\".",
	"graft/simulation/learning.Options.Every": "Interval between evaluations on held-out tables, in steps. Zero " +
		"means 10.",
	"graft/simulation/learning.Options.Leaf": "Minimum number of choices in a leaf of a regression tree. Zero means 2.",
	"graft/simulation/learning.Options.Method": "Form of the policy: \"network\" learns by the exact gradient of its " +
		"objective; \"forest\" grows regression trees that predict the advantage of a choice over the other choices. " +
		"\"forest\" uses only the keys \"reward\", \"smooth\", \"pool\", \"without\", \"trees\" and \"leaf\" of this " +
		"section. Empty means \"network\".",
	"graft/simulation/learning.Options.Patience": "Number of evaluations without improvement after which learning " +
		"stops. The best policy is kept. Zero means 8.",
	"graft/simulation/learning.Options.Pool": "Fraction by which the reward of each sequence moves towards its mean " +
		"over all tables that contain the sequence, from 0 to 1; this reduces noise. Zero keeps the rewards " +
		"unchanged. Default 0, or 0.5 if learn.for = \"new\".",
	"graft/simulation/learning.Options.Rate": "Learning rate of Adam. Zero means 0.01.",
	"graft/simulation/learning.Options.Reward": "Transformation of accuracies into rewards: \"tangent\", as in the " +
		"original system, stretches high accuracies before they are standardised; \"points\" divides the accuracies " +
		"of all tables by the same standard deviation. Empty standardises the accuracies of each table separately.",
	"graft/simulation/learning.Options.Sampled": "Number of sequences that REINFORCE samples from each table in a " +
		"step. The baseline of a sequence is the mean reward of the other sequences. REINFORCE uses the key " +
		"\"entropy\" but not \"beta\". Zero uses the exact gradient.",
	"graft/simulation/learning.Options.Smooth": "Fraction by which accuracies move towards the predictions of a " +
		"simple model that is fitted to the table, from 0 to 1; this averages out the noise of single runs. Zero " +
		"keeps the accuracies unchanged. Default 0, or 1 if learn.for = \"new\".",
	"graft/simulation/learning.Options.Steps": "Maximum number of learning steps. Default 400, or 100 if learn.for = " +
		"\"new\". Zero means 400.",
	"graft/simulation/learning.Options.Tolerance": "Minimum growth of the objective over learn.window steps, in " +
		"units of the reward; learning ends if the objective grows by less. Has no effect if learn.sampled is set. " +
		"Zero means 0.001; a negative value disables early stopping.",
	"graft/simulation/learning.Options.Trees": "Number of regression trees in a forest. Zero means 200.",
	"graft/simulation/learning.Options.WeightDecay": "Weight decay of AdamW, relative to the learning rate. Default " +
		"0 (no decay), or 0.3 if learn.for = \"new\".",
	"graft/simulation/learning.Options.Window": "Number of most recent steps over which the growth of the objective " +
		"is compared with learn.tolerance. Zero means 60.",
	"graft/simulation/learning.Options.Without": "Names of inputs to hide from policies, or of groups of inputs: " +
		"\"sizes\" are the inputs that depend on the absolute size of networks, \"curve\" is the learning curve, and " +
		"\"gains\" are the gains of actions. The network's layers cannot be hidden. Empty hides no input.",
	"graft/torch.Augment.Cutout": "Side length of a square hole in each image, in pixels; the hole's centre is a " +
		"random point of the image. Zero means no hole.",
	"graft/torch.Augment.Flip":      "Flips each image left to right with probability 0.5. Default false.",
	"graft/torch.Augment.Magnitude": "Strength of the operations of rand_augment, from 1 to 30. Zero means 9.",
	"graft/torch.Augment.Mixup": "Parameter α of mixup (Zhang et al. 2018), which mixes each image with another " +
		"image of the batch, and mixes their losses; the mixing ratio of a step is drawn from the distribution " +
		"Beta(α, α). Zero means no mixing.",
	"graft/torch.Augment.Pad": "Maximum random shift in each direction, in pixels. Zero means no shift.",
	"graft/torch.Augment.RandAugment": "Number of random operations per image, applied one after the other as in " +
		"torchvision's RandAugment: shear, translation, rotation, a change of brightness, colour, contrast, " +
		"sharpness or levels, or no change. Zero turns rand_augment off.",
	"graft/torch.OptimizerOptions.Beta1": "Decay rate of Adam's first moment. Zero means 0.9.",
	"graft/torch.OptimizerOptions.Beta2": "Decay rate of Adam's second moment. Zero means 0.999.",
	"graft/torch.OptimizerOptions.ClipNorm": "Maximum global norm of the gradients of a step; larger gradients are " +
		"scaled down to it. Zero means no limit. Cannot be combined with clip_value.",
	"graft/torch.OptimizerOptions.ClipValue": "Maximum magnitude of each gradient value; larger values are clipped. " +
		"Zero means no limit. Cannot be combined with clip_norm.",
	"graft/torch.OptimizerOptions.Dampening": "Dampening of SGD's momentum. Zero means no dampening.",
	"graft/torch.OptimizerOptions.Eps": "Epsilon of Adam, added to the denominator of the " +
		"update. Zero means 1e-8.",
	"graft/torch.OptimizerOptions.LR":       "Learning rate. Zero keeps the parameters unchanged.",
	"graft/torch.OptimizerOptions.Momentum": "Momentum of SGD. Zero means no momentum.",
	"graft/torch.OptimizerOptions.Nesterov": "Uses SGD's Nesterov momentum instead of plain momentum. Requires " +
		"momentum above 0 and no dampening. Default false.",
	"graft/torch.OptimizerOptions.Rule":        "Update rule of the parameters. Required.",
	"graft/torch.OptimizerOptions.WeightDecay": "Weight decay coefficient. Zero means no weight decay.",
	"graft/trainer.Adapt.At": "Times of decisions as shares of time.budget, for adapt.when = \"share\", such as " +
		"[0.8], in ascending order. A decision follows the first step that reaches its share. Shares before " +
		"time.start are skipped.",
	"graft/trainer.Adapt.Divide": "Divisor of the learning rate at each decision; a device removal (down event) " +
		"undoes one division, if there is one, or, unless adapt.when is \"devices\", one division for each change " +
		"that it reverts. Zero means 1.",
	"graft/trainer.Adapt.Every": "Asks the decider at the start of each epoch after a device grant (up event), for " +
		"adapt.when = \"devices\". False asks the decider once per grant.",
	"graft/trainer.Adapt.Interval": "Interval between decisions as a share of time.budget, for adapt.when = " +
		"\"periodic\": at least 0.001 and less than 1. A decision follows the first step that reaches a multiple of " +
		"the interval.",
	"graft/trainer.Adapt.MaxDecisions": "Maximum number of decisions: per device grant (up event) if adapt.when is " +
		"\"devices\", otherwise per job. Zero means 3 if each_epoch is true or adapt.when is \"plateau\", every " +
		"multiple of adapt.interval if it is \"periodic\", one per share if it is \"share\", and otherwise 1.",
	"graft/trainer.Adapt.MinGain": "Minimum improvement of the validation accuracy per adapt.window, for adapt.when " +
		"= \"plateau\", in points (hundredths of accuracy). A smaller improvement asks for a decision; after growth, " +
		"it ends the decisions of the job. Zero means 1.",
	"graft/trainer.Adapt.Moments": "Optimizer state after each change of the network: \"carry\" lets the state " +
		"follow the parameters; \"reset-new\" resets the state of new tensors and of new slices of tensors that " +
		"grew; \"reset\" resets the state of all parameters. Empty means \"carry\". Unlike adapt.reset, no value " +
		"affects the schedule or a decision for \"none\".",
	"graft/trainer.Adapt.OnError": "Reaction to a chosen action that fails: \"skip\" logs a warning, counts the " +
		"failure in the job's outcome, and continues without the action; \"stop\" ends the job. Empty means \"skip\".",
	"graft/trainer.Adapt.Reset": "Creates a new optimizer and a new schedule after every decision, including a " +
		"decision for \"none\", and after a device removal (down event), as the original system does. False keeps " +
		"the optimizer and the schedule.",
	"graft/trainer.Adapt.Rows": "Number of training images used to calibrate new normalization layers. Zero means 256.",
	"graft/trainer.Adapt.WarmUpNew": "Number of training steps after surgery during which the learning rate of new " +
		"tensors, and of new slices of tensors that grew, rises linearly from zero. Other parameters keep the rate " +
		"of the schedule. Zero means no such warm-up.",
	"graft/trainer.Adapt.When": "Times of decisions: \"devices\" asks the decider after each device grant (up " +
		"event), \"periodic\" at the multiples of adapt.interval, \"share\" at the shares of the budget in adapt.at, " +
		"and \"plateau\" when the validation accuracy no longer improves (AutoGrow, Wen et al. 2020). Only " +
		"\"devices\" needs up events. With every rule, a device removal (down event) reverts the changes of the " +
		"network since the last grant that no removal has reverted; without such a grant, the network stays the " +
		"same. Empty means \"devices\".",
	"graft/trainer.Adapt.Window": "Number of epochs between two comparisons of the best validation accuracy, for " +
		"adapt.when = \"plateau\". Zero means 1.",
	"graft/trainer.AdaptiveBatch.DeviceMost": "Maximum number of images that a device processes at once. Larger " +
		"batches are split into several parts, whose gradients are added. Zero means that only train.micro_batch and " +
		"train.max_memory_mb limit the number.",
	"graft/trainer.AdaptiveBatch.Every": "Number of epochs after which the batch size is chosen again if the devices " +
		"stay the same. Zero means 1.",
	"graft/trainer.AdaptiveBatch.Hysteresis": "Minimum relative gain in goodput that changes the batch size. Zero " +
		"means 0.05.",
	"graft/trainer.AdaptiveBatch.Interval": "Interval between measurements of gradient noise, in steps. Zero means 16.",
	"graft/trainer.AdaptiveBatch.Measure": "Measures the gradient noise even if the batch size is fixed. With on = " +
		"true, the gradient noise is always measured. Default false.",
	"graft/trainer.AdaptiveBatch.Most": "Maximum batch size in images. Zero means 16 times train.batch.",
	"graft/trainer.AdaptiveBatch.On": "Adapts the batch size at each change of devices and between epochs: among the " +
		"sizes from train.batch to max_batch, graft selects the size with the highest goodput. Goodput is throughput " +
		"(images per second) times statistical efficiency (progress per image relative to the smallest batch size). " +
		"False keeps train.batch.",
	"graft/trainer.AdaptiveBatch.Scaling": "Rule that adapts the learning rate to the batch size: \"adascale\", " +
		"\"square-root\", \"linear\" or \"none\". With \"adascale\", the warm-up and the schedules \"exponential\" " +
		"and \"step\" count a step with a large batch as several steps with the smallest batch. Empty means " +
		"\"adascale\" for sgd, and \"square-root\" for adam and adamw.",
	"graft/trainer.Checkpoint.Every": "Minimum checkpoint interval, in wall-clock time. Zero means one minute.",
	"graft/trainer.Checkpoint.Keep": "Interval between checkpoints that are kept for forks (run.fork), in time on " +
		"the clock of the job. Each takes the space of the weights and of the optimizer's state. Zero keeps none.",
	"graft/trainer.Checkpoint.Off": "Turns periodic checkpoints off: the job is saved only at its end, when it is " +
		"stopped, and when POST /allocation changes the devices. Default false.",
	"graft/trainer.Distill.Decay": "Relative reduction of distill.share per epoch, between 0 and 1. Zero means no " +
		"reduction.",
	"graft/trainer.Distill.Off": "Turns distillation off. Default false.",
	"graft/trainer.Distill.Share": "Initial weight of the distillation part of the loss, between 0 and 1; the labels " +
		"get the remaining weight. Zero means 0.9.",
	"graft/trainer.Distill.Span": "Duration of distillation as a fraction of the time that is left after a device " +
		"removal (down event), between 0 and 1. During this time, distill.share falls to zero step by step. Zero " +
		"means the whole time left.",
	"graft/trainer.Distill.Temperature": "Temperature of distillation, by which the logits are divided before they " +
		"are compared. Zero means 4.",
	"graft/trainer.Event.At":      "Time of the event, measured from the start of the budget. Required.",
	"graft/trainer.Event.Change":  "Direction of the change: \"up\" grants devices, \"down\" removes devices.",
	"graft/trainer.Event.Devices": "Number of devices after the event. Zero keeps the number of devices.",
	"graft/trainer.Options.Abandon": "Abandons the epoch at every change of devices and starts a new one, as the " +
		"original system does. The steps of the abandoned epoch still change the weights, but the epoch is not " +
		"evaluated, recorded or counted by the learning rate schedule. False continues the epoch.",
	"graft/trainer.Options.AdaptiveBatch": "Batch size that adapts to the devices and to gradient noise. Empty means " +
		"a fixed batch size.",
	"graft/trainer.Options.Augment": "Random changes of training images. Empty means none.",
	"graft/trainer.Options.Batch":   "Number of images per training step. Zero means 64.",
	"graft/trainer.Options.CUDAGraphs": "Records a training step on a full batch as a CUDA graph, which the host " +
		"launches in one call. The step is recorded again after surgery and after a change of the batch size. Steps " +
		"that use distillation, mixup, float16, micro-batches, several processes or adapt.warm_up_new, or that " +
		"measure gradient noise, are not recorded. Recorded steps give the same results up to rounding. Default " +
		"false.",
	"graft/trainer.Options.Checkpoint": "Intervals at which the job saves checkpoints. Empty means one checkpoint " +
		"per minute.",
	"graft/trainer.Options.Distill": "Distillation from the larger network after the network shrinks. Empty means " +
		"the defaults.",
	"graft/trainer.Options.EMA": "Decay per step of an exponential moving average of weights and running statistics, " +
		"such as 0.999. graft evaluates and exports the averaged network. If the network shrinks, the averaged " +
		"network becomes the teacher for distillation. Surgery changes the average together with the network. Zero " +
		"means no average.",
	"graft/trainer.Options.Epochs": "Maximum number of epochs, including epochs of earlier training. The job ends " +
		"after this number of epochs even if time is left. Zero means that only the budget ends the job.",
	"graft/trainer.Options.EvalBatch": "Number of images per evaluation batch. Zero means 128.",
	"graft/trainer.Options.Exact": "Keeps PyTorch's order of operations. False uses the fast path, whose results " +
		"differ from PyTorch's only by rounding.",
	"graft/trainer.Options.KeepBest": "Saves the network with the highest validation accuracy in addition to the " +
		"last network. False saves only the last network.",
	"graft/trainer.Options.LabelSmoothing": "Label smoothing: fraction of each label's target that is spread evenly " +
		"over all classes, between 0 and 1. Smoothing applies to training losses, but not to evaluation losses or to " +
		"the distillation part of a loss. Zero means no smoothing.",
	"graft/trainer.Options.MaxMemoryMB": "Maximum memory of the activations of a training step, in MiB. A step " +
		"splits its batch into the largest parts that fit, each with at most micro_batch images. graft estimates the " +
		"memory of the activations from the shapes of the network. Memory for weights, optimizer moments and images " +
		"is not included. Zero means no limit.",
	"graft/trainer.Options.MicroBatch": "Maximum number of images per gradient computation. A step splits its batch " +
		"into parts of this size and adds their gradients, which saves memory; BatchNorm normalises each part " +
		"separately. Zero means the whole batch.",
	"graft/trainer.Options.Optimizer": "Update rule of the parameters, and its options. If no rule is set, the job " +
		"uses Adam with a learning rate of 0.01.",
	"graft/trainer.Options.Overrun": "Trains until the budget is used up and evaluates only whole epochs, as the " +
		"original system does; the last epoch may end after the budget, and the result is the last evaluated " +
		"network. False reserves time to evaluate the network after the last step, so the result includes every step.",
	"graft/trainer.Options.Parallel": "Training with one process per device. Empty means a single process. This " +
		"section may be changed before a job is resumed.",
	"graft/trainer.Options.Precision": "Number format of convolutions and linear layers in training and evaluation: " +
		"\"float32\", \"bfloat16\", \"float16\" (with loss scaling) or \"tf32\" (rounds float32 operands to 11 " +
		"significant bits). Weights, gradients, optimizer state and all other layers stay float32. \"float16\" and " +
		"\"tf32\" need a CUDA device. Empty means \"float32\".",
	"graft/trainer.Options.Schedule": "Learning rate schedule. Empty means cosine decay over the budget.",
	"graft/trainer.Options.Steady": "Makes repeated runs give bit-identical results. On the CPU, results then do not " +
		"depend on the number of threads, and training is somewhat slower. On a CUDA device, all runs on the same " +
		"machine give the same results. Default false.",
	"graft/trainer.Schedule.Decay": "Factor that multiplies the learning rate: after each epoch if the rule is " +
		"\"exponential\", after every schedule.every epochs if the rule is \"step\". Zero means 0.9 for " +
		"\"exponential\" and 0.1 for \"step\".",
	"graft/trainer.Schedule.DecayShare": "Duration of the decay of the rule \"wsd\" at the end of the budget, as a " +
		"fraction of the budget between 0 and 1. The factor of the learning rate is 1 minus the square root of the " +
		"elapsed fraction of the decay. Zero means 0.2 for \"wsd\"; other rules do not use the key.",
	"graft/trainer.Schedule.Every": "Interval at which rule = \"step\" changes the learning rate, in epochs. Zero " +
		"means 10.",
	"graft/trainer.Schedule.MinLR": "Lower bound of the learning rate. Zero means 1e-8.",
	"graft/trainer.Schedule.Restart": "Changes that restart the schedule at the initial learning rate: \"devices\" " +
		"(each change of devices), \"surgery\" (each change of the network), or \"never\". After a restart, the " +
		"rules \"cosine\" and \"linear\" decay over the remaining time; the rule \"wsd\" only repeats " +
		"schedule.warm_up_share, because its decay starts at a fixed time of the budget. With \"surgery\", jobs that " +
		"grow and jobs that do not grow have different learning rates, which affects comparisons between such jobs. " +
		"Empty means \"devices\".",
	"graft/trainer.Schedule.Rule": "Rule that changes the learning rate: \"cosine\" and \"linear\" lower it step by " +
		"step to schedule.min_lr at the end of the budget; \"exponential\" multiplies it by schedule.decay after " +
		"each epoch; \"step\" multiplies it by schedule.decay at a fixed interval of epochs; \"constant\" keeps it; " +
		"\"wsd\" keeps it and lowers it to schedule.min_lr over the last schedule.decay_share of the budget. Empty " +
		"means \"cosine\".",
	"graft/trainer.Schedule.WarmUp": "Number of warm-up steps, during which the learning rate rises from zero. It " +
		"multiplies with schedule.warm_up_share, so set only one of them. Zero means no warm-up.",
	"graft/trainer.Schedule.WarmUpShare": "Length of the warm-up as a fraction of the time from the schedule's start " +
		"to the end of the budget, between 0 and 1. The learning rate rises from zero during the warm-up. Zero means " +
		"no warm-up.",
	"graft/trainer.Timeline.Budget":  "Time budget of the job, including the part before time.start. Required.",
	"graft/trainer.Timeline.Devices": "Number of devices at the start. Zero means 1.",
	"graft/trainer.Timeline.Events":  "Planned changes of the number of devices, sorted by time. Empty means none.",
	"graft/trainer.Timeline.Start":   "Part of the budget that is already used when the job begins. Zero means none.",
	"graft/trainer.Timeline.Stop": "Time at which training ends before the budget: the last step ends by this time, " +
		"and an evaluation follows. No event and no decision follows it. The learning rate schedule and decisions " +
		"still follow the budget, so the job is the first part of the job without this key. Zero means the end of " +
		"the budget.",
	"graft/trainer.Timeline.StopLoss": "Validation loss, in nats, at which the job ends: after the first epoch with " +
		"at most this loss. Zero means that no loss ends the job.",
	"graft/trainer/program.Options.Command": "Command that starts a PyTorch program, such as [\"python3\", " +
		"\"train.py\"]. The program trains its own network in its own loop, with graft_job.py; graft enforces the " +
		"time budget, assigns the devices, decides how the network changes, and manages checkpoints. In the command " +
		"and in env, {devices} is replaced by the number of devices, and a change of this number restarts the " +
		"program, which continues from its saved state. Empty means that graft trains the network itself.",
	"graft/trainer/program.Options.Env": "Environment variables of the program, as NAME=value, in addition to " +
		"graft's own environment. Empty adds none.",
	"graft/trainer/program.Options.Folder": "Working directory of the program. Empty means the folder of the job file.",
	"graft/trainer/program.Options.Regroup": "Keeps the program running when the number of devices changes; the " +
		"program must then read the new number from job.devices, which graft_job.py provides. Requires {devices} in " +
		"command or env. Default false, which restarts the program.",
	"graft/trainer/program.Options.Silence": "Maximum time between two messages that graft receives from the " +
		"training program. The program sends a message after its start, after each validation and after each step. " +
		"If graft receives no message during this time, it kills the program. Zero means 10 minutes.",
	"graft/trainer/program.Options.Threads": "Number of CPU threads of the program, passed on as OMP_NUM_THREADS. " +
		"Results may depend on this number. Zero means PyTorch's default; in a simulation, which runs several " +
		"programs in parallel, zero means 1.",
	"graft/trainer/program.Options.ValidationExamples": "Number of examples per validation, from which the virtual " +
		"clock computes the duration of a validation. Zero means that validation takes no time on the virtual clock.",
	"graft/trainer/team.Parallel.Elastic": "Derives the number of devices from the followers: each follower that " +
		"becomes ready adds a device, and each follower that leaves or is lost removes one. Requires listen. If " +
		"true, the timeline and POST /allocation must not change devices. Default false.",
	"graft/trainer/team.Parallel.Listen": "Private IP address and port on which the leader listens for followers. " +
		"Each device except the first needs one follower, started on another machine by 'graft follow --join'. With " +
		"\"slurm:PORT\", task 0 of 'srun graft train' listens on its node's address, and the other tasks join it. " +
		"Empty starts the followers on this machine.",
	"graft/trainer/team.Parallel.MaxProcesses": "Maximum number of processes, including the leader. Zero means one " +
		"per device.",
	"graft/trainer/team.Parallel.MinProcesses": "Minimum number of processes, including the leader, that a job waits " +
		"for when it starts or resumes. The job fails if these processes are not ready within parallel.start. " +
		"Requires listen. Zero starts the job without waiting.",
	"graft/trainer/team.Parallel.On": "Starts one training process per device. False trains in one process. The " +
		"number of devices then affects only the virtual clock, which divides the cost of work by this number.",
	"graft/trainer/team.Parallel.Start": "Maximum wall-clock time from the start of a process until it is ready. " +
		"Zero means ten minutes.",
	"graft/trainer/team.Parallel.Threads": "Number of LibTorch threads per process on the CPU. Zero divides " +
		"run.threads evenly among the processes.",
	"graft/trainer/team.Parallel.Timeout": "Wall-clock time without a message after which a process is considered " +
		"lost. Zero means one minute.",
	"graft/trainer/team.Parallel.Token": "Path of the file with the token that followers must present. Required if " +
		"listen is set; with \"slurm:PORT\", the environment variable GRAFT_TOKEN can replace the file.",
}
