// Code generated from the comments of the fields by go generate; DO NOT EDIT.

package config

// descriptions say what keys are for, by the field of a struct.
var descriptions = map[string]string{
	"graft/cluster/adaptive.PolluxOptions.Delay": "Expected time that a job stops when its devices change. Zero " +
		"means 30.",
	"graft/cluster/adaptive.PolluxOptions.Fairness": "Exponent of the power mean of speedups. Zero means -1 as " +
		"published, the harmonic mean.",
	"graft/cluster/adaptive.PolluxOptions.Generations": "Generations of the search. Zero means 100.",
	"graft/cluster/adaptive.PolluxOptions.Mixed": "Lets parts of several multi-node jobs share a " +
		"node. Default false.",
	"graft/cluster/adaptive.PolluxOptions.Population": "States per generation of the search. Zero means 100.",
	"graft/cluster/adaptive.SchedulerOptions.Pollux":  "Search options of pollux.",
	"graft/cluster/adaptive/world.File.Adaptive":      "Applications and cluster.",
	"graft/cluster/adaptive/world.File.Run":           "Output: the run folder.",
	"graft/cluster/adaptive/world.File.Schedule": "Schedulers of adaptive jobs, or of rigid jobs, which keep the " +
		"devices and the batch that their users request.",
	"graft/cluster/adaptive/world.File.Workload": "Traces: tables of jobs with columns name, time, application, " +
		"num_replicas and batch_size, or cluster traces in any format, whose jobs get applications of their sizes. A " +
		"name that is not a file is looked up in adaptive.data, in its folder workloads and in the folders there. " +
		"Required.",
	"graft/cluster/adaptive/world.Options.Compat": "Simulator to reproduce: pollux keeps the faults of Pollux's " +
		"simulator, none corrects them. Default none.",
	"graft/cluster/adaptive/world.Options.Data": "Folder of applications. Each application is a folder with " +
		"placements.csv and validation-BATCH.csv, directly in it or in its folder traces; applications.csv has their " +
		"epochs. Required.",
	"graft/cluster/adaptive/world.Options.Delay":   "Seconds that a job stops when its devices change. Default 30.",
	"graft/cluster/adaptive/world.Options.Devices": "GPUs per node. Default 8, or 4 with compat = \"pollux\".",
	"graft/cluster/adaptive/world.Options.Interference": "Share of speed that a job on several nodes loses next to " +
		"another such job, from 0 to below 1. Default 0.",
	"graft/cluster/adaptive/world.Options.Interval": "Seconds between two scheduling decisions. Default 60.",
	"graft/cluster/adaptive/world.Options.Limit": "Simulated time after which a simulation fails. " +
		"Zero means no limit.",
	"graft/cluster/adaptive/world.Options.Nodes": "Number of nodes, all with equal devices. Default 16.",
	"graft/cluster/adaptive/world.Options.Quirks": "Names of faults to keep with compat = \"none\". " +
		"Empty keeps none.",
	"graft/cluster/elastic.WindowOptions.Apart": "Removes the action that adds a worker and a server together. Such " +
		"an action of a scheduler gives two samples. No effect without servers. Default false.",
	"graft/cluster/elastic.WindowOptions.Bits": "Writes the type as four rows of bits, highest bit first, instead of " +
		"one row. Default false.",
	"graft/cluster/elastic.WindowOptions.Order": "Order of the jobs: by arrival, by dominant share (share) or by " +
		"remaining share of epochs (left), smallest first. Default arrival.",
	"graft/cluster/elastic.WindowOptions.Padding": "Value of columns without a job. The original also uses -1. " +
		"Default 0.",
	"graft/cluster/elastic.WindowOptions.Rescale": "Divides types by their number, slots by 100 and counts by their " +
		"maximum. Default false.",
	"graft/cluster/elastic.WindowOptions.Size":  "Number of jobs in the window, and of its columns. Zero means 20.",
	"graft/cluster/elastic/world.File.Elastic":  "Cluster, speeds and types of jobs.",
	"graft/cluster/elastic/world.File.Run":      "Output: the run folder.",
	"graft/cluster/elastic/world.File.Schedule": "Schedulers.",
	"graft/cluster/elastic/world.File.Workload": "Traces: JSON files of elastic jobs, or cluster traces, whose GPU " +
		"jobs become elastic jobs with the same work.",
	"graft/cluster/elastic/world.Options.CPUs": "CPU slots per node. Zero takes the trace's value, or 8.",
	"graft/cluster/elastic/world.Options.Compat": "Simulator to reproduce: dl2 keeps the faults of DL2's simulator, " +
		"none corrects them. Default none.",
	"graft/cluster/elastic/world.Options.GPUs":  "GPU slots per node. Zero takes the trace's value, or 8.",
	"graft/cluster/elastic/world.Options.Limit": "Slots after which a simulation fails. Zero means no limit.",
	"graft/cluster/elastic/world.Options.Most": "Maximum number of workers of a job, and of servers. Zero takes the " +
		"trace's value, or 16.",
	"graft/cluster/elastic/world.Options.Nodes": "Number of nodes. Zero takes the trace's value, or 96.",
	"graft/cluster/elastic/world.Options.Scaling": "Time that a job loses in a slot after its numbers of workers or " +
		"servers change: checkpoint stops and restarts the job, hot moves parameters while it runs, none costs " +
		"nothing. Empty means checkpoint, or none with compat = \"dl2\".",
	"graft/cluster/elastic/world.Options.Slot": "Length of a slot in seconds. Zero takes the trace's value, or 1200.",
	"graft/cluster/elastic/world.Options.SpeedError": "Maximum relative error of speeds, from 0 to below 1. The " +
		"error of each job and slot is drawn uniformly between minus and plus this value. Zero takes the trace's " +
		"value, or no error if the trace has none.",
	"graft/cluster/elastic/world.Options.Speeds": "Speeds of jobs: a JSON file of steps per second by model, servers " +
		"and workers (each from 1); a folder of applications as in adaptive.data, which replace the types of jobs " +
		"and have no parameter servers; or analytic, which computes speeds from the computation and communication of " +
		"the types. Required unless the trace says analytic.",
	"graft/cluster/elastic/world.Options.Types": "JSON file of job types: demands, epoch size, communication. Empty " +
		"means the eight models of DL2.",
	"graft/cluster/fabric/world.Demand.Every": "Mean time between arrivals. Replaces load. Zero derives it from load.",
	"graft/cluster/fabric/world.Demand.Gaps": "Distribution of times between arrivals; regular makes them all equal. " +
		"Default exponential.",
	"graft/cluster/fabric/world.Demand.Jobs":  "Number of jobs of an episode. Zero means 200.",
	"graft/cluster/fabric/world.Demand.Least": "Lower end of the limits uniform and skewed. Zero means 0.1.",
	"graft/cluster/fabric/world.Demand.Limits": "Distribution of the time limit of a job, as a share of its time on " +
		"one server. Default uniform.",
	"graft/cluster/fabric/world.Demand.Load": "Average share of servers in use if no job were split. Zero means 1.",
	"graft/cluster/fabric/world.Demand.Most": "Upper end of the limits uniform and skewed, and the value of fixed. " +
		"Zero means 1.",
	"graft/cluster/fabric/world.Demand.Period": "Jobs per period of swing. Zero means 50.",
	"graft/cluster/fabric/world.Demand.Seed":   "Random seed of the first episode. Default 1.",
	"graft/cluster/fabric/world.Demand.Shares": "Relative frequency of each value. Empty means equal frequencies.",
	"graft/cluster/fabric/world.Demand.Skewness": "Shape of the limits skewed: a positive value gives more short " +
		"limits. PAC-ML's distributions B, C and D use 5, 0 and -5.",
	"graft/cluster/fabric/world.Demand.Steps": "Training steps of a job. Zero means 50.",
	"graft/cluster/fabric/world.Demand.Swing": "Relative swing of the load in each period, from 0 to below 1. Zero " +
		"keeps the load constant.",
	"graft/cluster/fabric/world.Demand.TestCount": "Number of episodes on which schedulers are " +
		"compared. Zero means 5.",
	"graft/cluster/fabric/world.Demand.TrainCount": "Number of training episodes. Zero means 20.",
	"graft/cluster/fabric/world.Demand.ValidationCount": "Number of validation episodes, which select learned " +
		"schedulers. Zero means 10.",
	"graft/cluster/fabric/world.Demand.Values": "Limits to draw from, for limits = \"values\".",
	"graft/cluster/fabric/world.File.Demand":   "Jobs that arrive.",
	"graft/cluster/fabric/world.File.Fabric":   "Servers, and the network between them.",
	"graft/cluster/fabric/world.File.Graphs":   "Networks that jobs train.",
	"graft/cluster/fabric/world.File.Learn":    "Options of the learner of 'graft learn'.",
	"graft/cluster/fabric/world.File.Run":      "Seeds of 'graft learn', and the run folder of all commands.",
	"graft/cluster/fabric/world.File.Schedule": "Schedulers, which choose the degree of each job.",
	"graft/cluster/fabric/world.File.Vary":     "Values that are compared in one run.",
	"graft/cluster/fabric/world.Graphs.Batch":  "Examples per step of a network. Zero means 64.",
	"graft/cluster/fabric/world.Graphs.Models": "Networks to train: names from the zoo, network files, PipeDream " +
		"profiles (.txt) or graphs (.json). Empty means ResNet18, VGG11BN, MobileNetV2, CIFARResNet56 and " +
		"LargeConvNet.",
	"graft/cluster/fabric/world.Graphs.Profile": "Device profile with the times of networks, by name or file. Empty " +
		"means round-gpu.",
	"graft/cluster/fabric/world.Graphs.Sizes": "Image height and width in pixels for each network. Zero keeps the " +
		"network's own size. Empty keeps all.",
	"graft/cluster/fabric/world.Graphs.Weights": "Relative frequency of each network among the jobs. Empty means " +
		"equal frequencies.",
	"graft/cluster/fabric/world.Options.Bandwidth": "Server bandwidth in bytes/s. Zero means 1.6e12, as in PAC-ML's " +
		"experiments.",
	"graft/cluster/fabric/world.Options.Channels": "Channels between two servers, for network = \"ramp\". Default 1.",
	"graft/cluster/fabric/world.Options.IO": "Send and receive time in s, for network = " +
		"\"ramp\". Default 100e-9.",
	"graft/cluster/fabric/world.Options.Latency":   "Transfer latency in s. Zero means 50e-9.",
	"graft/cluster/fabric/world.Options.MaxDegree": "Maximum number of parts of a step. Zero means 16.",
	"graft/cluster/fabric/world.Options.Memory":    "Server memory in bytes. Zero means 80e9.",
	"graft/cluster/fabric/world.Options.Network": "Network between the servers: ramp is an optical network with " +
		"channels between all servers, tree has a switch in each rack and a core. Default ramp.",
	"graft/cluster/fabric/world.Options.Quantum": "Operation time per part in ms, for strategy = \"tensor\". Default " +
		"0.01.",
	"graft/cluster/fabric/world.Options.Quirks": "Faults of PAC-ML's simulator to keep, by name. Empty keeps none.",
	"graft/cluster/fabric/world.Options.Size": "Network size. For ramp: groups, racks per group, servers per rack. " +
		"For tree: racks, servers per rack. Empty means 4, 4, 2 or 4, 8.",
	"graft/cluster/fabric/world.Options.Speed":    "Server speed: operation times are divided by it. Default 1.",
	"graft/cluster/fabric/world.Options.Strategy": "Strategy that splits a step. Default data.",
	"graft/cluster/fabric/world.Options.Uplink": "Bandwidth of a rack in bytes/s, for network = \"tree\". Zero means " +
		"the sum over its servers.",
	"graft/cluster/fabric/world.Vary.Bandwidths": "Values of fabric.bandwidth to sweep, with fabric.uplink in " +
		"proportion. Empty keeps it.",
	"graft/cluster/fabric/world.Vary.Loads": "Values of demand.load to sweep. Empty keeps demand.load. Excludes " +
		"demand.arrival_interval.",
	"graft/cluster/fabric/world.Vary.MaxDegrees": "Values of fabric.max_degree to sweep. Empty keeps it.",
	"graft/cluster/fabric/world.Vary.Networks": "Networks to sweep, as kind and size or kind alone, such as ramp " +
		"4x4x2 or tree. Empty keeps the network.",
	"graft/cluster/fabric/world.Vary.Skewness": "Values of demand.skewness to sweep, with demand.limits = " +
		"\"skewed\". Empty keeps it.",
	"graft/cluster/lucid.Options.Echo": "Virtual cluster that loses a node while the profiler has one more; empty " +
		"means one of Venus's, or the largest outside of from.",
	"graft/cluster/lucid.Options.From": "Virtual clusters that each give the profiler one node; empty means vc8Gr " +
		"and vcefl, as published for Venus, or the two largest if the trace lacks them.",
	"graft/cluster/lucid.Options.Largest": "Devices of the largest job to profile; zero means 8, or all devices of " +
		"the profiler if fewer.",
	"graft/cluster/lucid.Options.Limit": "Seconds to profile a job; zero means 200.",
	"graft/cluster/lucid.Options.Nodes": "Nodes of the profiler; zero means 2.",
	"graft/cluster/node/world.Executor.Backoff": "Delay before the first retry of a task; each further retry doubles " +
		"it. Default 1s.",
	"graft/cluster/node/world.Executor.Cgroup": "Folder of a cgroup v2 that the user may write; none disables " +
		"cgroups. Empty means graft's own cgroup if it is writable.",
	"graft/cluster/node/world.Executor.Devices": "Devices that run tasks: gpu uses the machine's GPUs, cpu divides " +
		"its processors into machine.gpus slots, auto means gpu if NVIDIA's library finds GPUs and cpu otherwise. " +
		"Default auto.",
	"graft/cluster/node/world.Executor.Grace": "Time between SIGTERM and SIGKILL. Default 10s.",
	"graft/cluster/node/world.Executor.IdleWatts": "Power of an idle device in W, which one energy column subtracts. " +
		"Zero measures it for one second before the first task; a negative value leaves the column empty.",
	"graft/cluster/node/world.Executor.Log": "Maximum log size per attempt in MiB. A longer log loses its middle " +
		"part. Default 16.",
	"graft/cluster/node/world.Executor.Sampling": "Time between readings of the devices, from 10ms to 1s. Default " +
		"100ms.",
	"graft/cluster/node/world.Executor.UUIDs": "GPUs to use, as nvidia-smi -L prints them. Empty means all.",
	"graft/cluster/node/world.File.Executor":  "Options of 'graft node run'.",
	"graft/cluster/node/world.File.Learn":     "Options of the learner of 'graft learn'.",
	"graft/cluster/node/world.File.Machine":   "GPUs of the machine.",
	"graft/cluster/node/world.File.Run":       "Seeds of 'graft learn', and the run folder of all commands.",
	"graft/cluster/node/world.File.Schedule": "Schedulers. If none are named, 'graft node simulate' compares all " +
		"that need no learning and 'graft node run' uses backfill. Otherwise 'graft node run' uses the first one.",
	"graft/cluster/node/world.File.Task":  "Tasks, each a table [[task]]. Empty generates them.",
	"graft/cluster/node/world.File.Tasks": "Tasks that are generated or taken from a trace.",
	"graft/cluster/node/world.File.Workload": "Trace of a cluster, at most one, in any format that 'graft trace' " +
		"reads. Its jobs with at most one GPU become the tasks.",
	"graft/cluster/node/world.Machine.Active": "Power of a GPU with an idle task. Default 60.",
	"graft/cluster/node/world.Machine.Compat": "Simulator to reproduce: tasks is the packing environment of a " +
		"published study of GPU schedulers, with its generator, rewards and faults, in which PPO learns as " +
		"published; none is graft's own. Default none.",
	"graft/cluster/node/world.Machine.Contention": "Share of its speed that a task loses per GPU's worth of cores " +
		"that other tasks use on its GPU. Default 0.",
	"graft/cluster/node/world.Machine.Cores": "Rule for tasks on a GPU that together request more than all of its " +
		"cores: shared slows them down, whole makes one wait. Default shared.",
	"graft/cluster/node/world.Machine.Empty": "Power of a GPU without tasks. Default 25.",
	"graft/cluster/node/world.Machine.Full":  "Power of a GPU with all cores in use. Default 250.",
	"graft/cluster/node/world.Machine.GPUs":  "Number of equal GPUs. Default 4.",
	"graft/cluster/node/world.Machine.Memories": "Memory of each GPU in MiB, for unequal GPUs. Replaces gpus and " +
		"memory_mb.",
	"graft/cluster/node/world.Machine.Memory": "Memory per GPU in MiB. Default 16384.",
	"graft/cluster/node/world.Machine.Profiles": "File of measured pairs, colocate_info.csv as 'graft node profile' " +
		"writes it. Tasks of the kinds in it slow each other as measured. Empty means none.",
	"graft/cluster/node/world.Machine.Speeds": "Relative speed of each GPU of memories_mb; task durations are " +
		"divided by it. Empty means 1 for each.",
	"graft/cluster/node/world.Machine.Stop": "Method to stop a task: signal pauses its processes, which keep their " +
		"memory and their GPU; checkpoint ends them and restarts them later on any GPU. Default signal.",
	"graft/cluster/node/world.Machine.Switch":   "Time that a stopped task loses when it continues. Default 0.",
	"graft/cluster/node/world.Machine.Together": "Maximum number of tasks on a GPU at a time. Zero means no limit.",
	"graft/cluster/node/world.Schedule.Aging":   "Waiting time that adds one step of priority. Default 1m.",
	"graft/cluster/node/world.Schedule.Objective": "Cost that ranks schedulers and that learning minimises: " +
		"completion is the mean time from arrival to completion, energy-delay multiplies it by the energy of all " +
		"GPUs. Default completion.",
	"graft/cluster/node/world.Schedule.Quantum": "Time slice of schedulers that share GPUs in time. Default 10s.",
	"graft/cluster/node/world.Task.After":       "Names of the tasks that must complete first.",
	"graft/cluster/node/world.Task.Arrival":     "Time since the beginning. Default 0.",
	"graft/cluster/node/world.Task.Checkpoint": "Says that a real task saves its state at SIGTERM and continues from " +
		"it when it runs again, as 'graft train --resume' does. False only pauses it by signals.",
	"graft/cluster/node/world.Task.Command": "Program and arguments of a real task, run without a shell. Empty only " +
		"simulates the task.",
	"graft/cluster/node/world.Task.Cores": "Share of a GPU's cores that the task keeps busy when it runs alone, " +
		"percent. Default 100.",
	"graft/cluster/node/world.Task.Count": "Number of equal tasks. If above 1, a number is appended to each name. " +
		"Default 1.",
	"graft/cluster/node/world.Task.Duration": "Run time alone on a GPU, for simulations and schedulers. Zero means " +
		"unknown, which only real tasks allow.",
	"graft/cluster/node/world.Task.Env":      "Additional environment variables of a real task, such as SEED=1.",
	"graft/cluster/node/world.Task.Estimate": "Estimate of the duration, for schedulers. Zero means the duration.",
	"graft/cluster/node/world.Task.Flow": "User or queue that gets a share in fair queueing. Empty gives the task " +
		"its own flow.",
	"graft/cluster/node/world.Task.Folder": "Working folder of a real task. Empty means the working folder of the " +
		"command.",
	"graft/cluster/node/world.Task.Kind": "Row in tables of measured pairs. Empty means the name.",
	"graft/cluster/node/world.Task.MainMemory": "Main memory limit of a real task in MiB, enforced if its processes " +
		"have a cgroup. Zero means no limit.",
	"graft/cluster/node/world.Task.Memory":   "GPU memory in MiB. Default 0.",
	"graft/cluster/node/world.Task.Name":     "Unique name. Empty means task and its position.",
	"graft/cluster/node/world.Task.Priority": "Priority: larger values go first. Default 0.",
	"graft/cluster/node/world.Task.Retries":  "Maximum number of retries of a real task after failures. Default 0.",
	"graft/cluster/node/world.Task.Tickets":  "Tickets in lottery and stride scheduling. Default 1.",
	"graft/cluster/node/world.Task.Timeout": "Running time after which a real task is terminated. " +
		"Zero means no limit.",
	"graft/cluster/node/world.Task.Weight": "Weight of the task's flow in fair queueing. Default 1.",
	"graft/cluster/node/world.Tasks.EstimateError": "Relative error of the duration estimates that schedulers use, " +
		"drawn uniformly from ± this value, from 0 to below 1. Default 0.",
	"graft/cluster/node/world.Tasks.Interval": "Mean time between arrivals (Poisson process) of generated tasks. " +
		"Zero makes all arrive at the beginning.",
	"graft/cluster/node/world.Tasks.Least":      "Minimum number of tasks of a generated workload. Default 40.",
	"graft/cluster/node/world.Tasks.Most":       "Maximum number of tasks of a workload. Default 50.",
	"graft/cluster/node/world.Tasks.Seed":       "Random seed of workloads. Default 1.",
	"graft/cluster/node/world.Tasks.TestCount":  "Number of workloads on which schedulers are compared. Default 20.",
	"graft/cluster/node/world.Tasks.TrainCount": "Number of training workloads. Default 100.",
	"graft/cluster/node/world.Tasks.Unit":       "Unit of the durations of generated tasks. Default 1s.",
	"graft/cluster/node/world.Tasks.ValidationCount": "Number of validation workloads, which select the best learned " +
		"policy. Default 20.",
	"graft/cluster/rigid.File.Cluster":  "Nodes and the part of the trace to simulate.",
	"graft/cluster/rigid.File.Run":      "Output: the run folder.",
	"graft/cluster/rigid.File.Schedule": "Schedulers and their estimates.",
	"graft/cluster/rigid.File.Workload": "Traces of clusters, as 'graft trace info' reads them.",
	"graft/cluster/rigid.Options.CPUs": "Processors per node. A job's requested processors are divided among its " +
		"GPUs. Zero ignores processors.",
	"graft/cluster/rigid.Options.Compat": "Simulator to reproduce: lucid keeps the faults of Lucid's simulator, none " +
		"corrects them. Default none.",
	"graft/cluster/rigid.Options.Data": "Folder with files about a cluster: vc_config.csv (virtual clusters and " +
		"their nodes), *_lgb.csv and *_ebm*.csv (estimated durations of jobs), single_data.csv and colocate_info.csv " +
		"(profiles of models), *throughput_pred.csv (forecast submissions). May be empty if nodes is set and nothing " +
		"else is needed.",
	"graft/cluster/rigid.Options.Format": "Trace format, from the list in 'graft trace convert --help'. Empty " +
		"detects it from the first lines of the trace.",
	"graft/cluster/rigid.Options.From": "First second of the trace to simulate. Zero means the start of the trace " +
		"or, with compat = \"lucid\", the start of the month that Lucid's authors simulated.",
	"graft/cluster/rigid.Options.Memory": "Memory per node in MiB. A job's requested memory is divided among its " +
		"GPUs. Zero ignores memory.",
	"graft/cluster/rigid.Options.Nodes": "File of the virtual clusters and their nodes, or the number of nodes of a " +
		"single virtual cluster for all jobs. Empty means vc_config.csv in data.",
	"graft/cluster/rigid.Options.PerNode": "GPUs per node, at most 64. Default 8.",
	"graft/cluster/rigid.Options.Placement": "Rule: consolidate uses as few nodes as possible; consolidate-first " +
		"does the same but spreads jobs that do not fit; random takes free GPUs in any order. Default consolidate.",
	"graft/cluster/rigid.Options.To": "Last second of the trace to simulate. Zero means the end of the trace or, " +
		"with compat = \"lucid\", the end of the month that Lucid's authors simulated.",
	"graft/cluster/rigid.Options.UsageEvery": "Seconds between two rows of the usage tables. Zero writes no usage " +
		"tables.",
	"graft/cluster/rigid.Options.WholeGPUs": "Gives a whole GPU to a job that requests part of one. False gives it " +
		"only that part; other jobs can use the rest.",
	"graft/cluster/rigid.Schedule.Estimates": "Expected durations of jobs: limits takes the time limits that users " +
		"requested, and the longest limit of the trace for a job without one; lgb or ebm read files in cluster.data; " +
		"exact takes the true durations (an oracle); any other text is a file path. Empty means ebm for Lucid, lgb " +
		"for other schedulers that need estimates, and limits for backfill if the trace has them, else exact.",
	"graft/cluster/schedulers.Options.Lucid": "Profiling options of lucid.",
	"graft/cluster/study.Arrivals.ArrivalFactors": "Factors that speed up the arrivals of the trace: times since the " +
		"first submission are divided by the factor. Each factor is a point of the study. Empty means 1.",
	"graft/cluster/study.RunOptions.Folder": "Path of the run folder. Empty lets the command choose.",
	"graft/cluster/study.Schedule.Ablate":   "Simulates each quirk of an original alone, and reports its effect.",
	"graft/cluster/study.Schedule.Against": "Baseline of differences. Empty means the first scheduler, or the " +
		"world's default baseline.",
	"graft/cluster/study.Schedule.Schedulers": "Names of schedulers to compare, from 'graft list schedulers'. " +
		"Learned schedulers are paths of run folders of 'graft learn' or of policy files. Empty means the world's " +
		"default schedulers.",
	"graft/cluster/study.Schedule.Seed": "First seed of schedulers that draw random numbers.",
	"graft/cluster/study.Schedule.Seeds": "Simulations per scheduler that draws random numbers, with successive " +
		"seeds. Zero means 1.",
	"graft/cluster/study.Schedule.Workers": "Simulations in parallel. Zero means one per processor.",
	"graft/cluster/study.Workload.Traces": "Files of jobs, in the formats that the world reads. Each file is one " +
		"workload.",
	"graft/config.AdaptOptions.Actions": "Lists the actions of the deciders fixed (exactly one) and script, and the " +
		"choices of random, trials and a structural policy; choices that do not fit are skipped. Examples are " +
		"deepen:0, widen:conv2:48 and none. Empty for the decider none; for the deciders with choices, empty uses " +
		"kinds.",
	"graft/config.AdaptOptions.Decider": "Chooses the actions: fixed takes its action every time; script takes its " +
		"actions one after the other; random draws an action that fits; trials trains a copy with each action that " +
		"fits for some steps and takes the action with the lowest validation loss; policy follows a learned policy; " +
		"none takes no action. Empty means none.",
	"graft/config.AdaptOptions.Kinds": "The operations among which random, trials or a structural policy chooses if " +
		"actions is empty. Empty means deepen and widen for random and trials; for a policy, empty means the " +
		"operations and kinds of layers that it learned from.",
	"graft/config.AdaptOptions.Policy": "The path of a learned policy: the file of a structural policy or a folder " +
		"with policy.safetensors, or the weights of a policy of the original's or their folder. Empty for other " +
		"deciders.",
	"graft/config.AdaptOptions.Sample": "Draws actions from the policy's probabilities. False takes the most likely " +
		"action.",
	"graft/config.AdaptOptions.TrialSteps": "The number of training steps per choice for the decider trials. Zero " +
		"means 32.",
	"graft/config.AdaptOptions.Vocab": "The path of the vocabulary, a folder or a file, that a policy of the " +
		"original's learned with. Empty for a structural policy and for other deciders.",
	"graft/config.CompareOptions.Actions": "The choices at every decision for the arms random and best fixed, such " +
		"as deepen:0 and none. Empty uses kinds.",
	"graft/config.CompareOptions.Arms": "Baselines that run in addition to the configured job: never (no " +
		"adaptation), small from scratch (no adaptation, with fresh weights, for a job that starts from trained " +
		"weights), final from scratch (the final network of the job of the same seed, trained from scratch for the " +
		"whole budget), random (any action that fits), best fixed (the sequence of actions with the highest " +
		"validation accuracy on other seeds). Empty means all that apply.",
	"graft/config.CompareOptions.Kinds": "Operations whose fitting actions, and none, are the choices. Empty, " +
		"without actions, means deepen and widen.",
	"graft/config.CompareOptions.MaxSequences": "Upper bound on sequences for the arm best fixed, evenly spread over " +
		"a larger tree; zero means 64.",
	"graft/config.CompareOptions.Seeds": "Trials of each arm, with run.seed and the following seeds; zero means 10.",
	"graft/config.CompareOptions.SelectionSeeds": "The number of trials per sequence to select the arm best fixed, " +
		"with the seeds after the arms' seeds. Zero means 3.",
	"graft/config.FleetOptions.Account": "The account that Slurm charges. Empty means Slurm's default.",
	"graft/config.FleetOptions.CPUs": "The number of processors of each worker. Zero divides this machine's " +
		"processors among local workers, and means the cluster's default for other engines.",
	"graft/config.FleetOptions.Claim": "The persistent volume claim of the run folder and the cache. Required for " +
		"the engine kubernetes, empty for other engines.",
	"graft/config.FleetOptions.Constraint": "A required feature of Slurm nodes, such as a100. Empty means none.",
	"graft/config.FleetOptions.Devices": "The devices of local workers, assigned in turn, such as cuda:0 and cuda:1. " +
		"Several workers may share one. Empty means run.device.",
	"graft/config.FleetOptions.Engine": "Starts the workers: local on this machine, slurm as jobs of a Slurm " +
		"cluster, kubernetes from a manifest that you apply to a cluster. Empty means local.",
	"graft/config.FleetOptions.Extra": "Other options of sbatch, as --name=value. Options that graft sets are " +
		"errors. Empty means none.",
	"graft/config.FleetOptions.Fit": "Measures the number of local workers per device: 1, 2, 4, … workers train the " +
		"largest network of the scenario for two seconds, and fit selects the number with the highest throughput " +
		"within 90% of the memory. False uses workers.",
	"graft/config.FleetOptions.GPUs": "The number of CUDA devices of each worker, for engines other than local. A " +
		"worker trains on the first, with run.device cuda. Zero means none.",
	"graft/config.FleetOptions.Gres": "Slurm's generic resource of a worker, such as gpu:a100:1. It replaces gpus. " +
		"Empty uses gpus.",
	"graft/config.FleetOptions.Image": "The container image for the engine kubernetes, with graft on its path. " +
		"Required for kubernetes, empty for other engines.",
	"graft/config.FleetOptions.Lead": "The time before the time limit at which Slurm signals a worker to save its " +
		"work. Zero means one minute, or half of time if that is less.",
	"graft/config.FleetOptions.MemoryMB": "The memory of each worker in MiB, for engines other than local. Zero " +
		"means the cluster's default.",
	"graft/config.FleetOptions.Mount": "The absolute path at which the claim is mounted. Empty means the parent of " +
		"the run folder.",
	"graft/config.FleetOptions.Namespace": "The Kubernetes namespace, for the engine kubernetes. Empty means the " +
		"default namespace of the user who applies the manifest.",
	"graft/config.FleetOptions.Partition": "The Slurm partition, as 'sinfo -s' lists them. Empty means Slurm's " +
		"default.",
	"graft/config.FleetOptions.QOS": "Slurm's quality of service. Empty means Slurm's default.",
	"graft/config.FleetOptions.Threads": "The number of LibTorch threads in each worker. Zero means one per " +
		"processor of the worker: see cpus.",
	"graft/config.FleetOptions.Time": "The time limit of a worker, for engines other than local. Workers are " +
		"restarted while sequences remain. Slurm rounds it up to minutes. Zero means the cluster's default.",
	"graft/config.FleetOptions.Workers": "The number of parallel workers. Zero means one per device, or one per " +
		"processor, of this machine; 4 for the other engines.",
	"graft/config.Job.Adapt":   "Decider, and when and how the network changes; empty means never.",
	"graft/config.Job.Data":    "Dataset; empty means synthetic images.",
	"graft/config.Job.Network": "Network to train, and its initial weights.",
	"graft/config.Job.Run":     "Seed, device and output.",
	"graft/config.Job.Time":    "Budget, clock and changes of devices.",
	"graft/config.Job.Train": "Holds the options of training. Its tables are top-level sections: optimizer, " +
		"schedule, augment, distill, checkpoint and parallel.",
	"graft/config.NetworkOptions.Classes": "The number of outputs of the last linear layer. Zero means the data's " +
		"classes for a network of the zoo, and the file's own for a network file.",
	"graft/config.NetworkOptions.File": "Path of a network file, in place of a name; empty means none.",
	"graft/config.NetworkOptions.Fresh": "Draws parameters from run.seed although weights is given. It takes from " +
		"weights only the tensors for which no initialization is defined: buffers and constants of an imported " +
		"network. False takes all weights.",
	"graft/config.NetworkOptions.Name": "Name of a network of the zoo, as graft model list prints it; empty without " +
		"a file means ConvSmall.",
	"graft/config.NetworkOptions.ResetEpochs": "Starts with epoch zero and the first learning rate although runtimes " +
		"is given, as the original did. False continues with both.",
	"graft/config.NetworkOptions.Runtimes": "The original's file of epoch times of the weights. Unless time.start is " +
		"given, the job continues at the end of the last epoch in the file: with the next epoch, its learning rate, " +
		"and its time in the budget. Empty means the file in the folder that weights names, or none.",
	"graft/config.NetworkOptions.Weights": "A file of initial weights, .pth or .safetensors, or a results folder of " +
		"the original's; the job continues from it. {seed} in the file name stands for run.seed, so that each seed " +
		"of a comparison starts with its own file. Empty draws random weights.",
	"graft/config.Pipeline.Evaluate": "Evaluation of the policies.",
	"graft/config.Pipeline.Learn":    "Options of the learner.",
	"graft/config.Pipeline.Pipeline": "Scenarios to simulate, and the output.",
	"graft/config.Pipeline.Policy":   "Size of a policy.",
	"graft/config.Pipeline.Run":      "Seeds and checkpoints of the policies.",
	"graft/config.PipelineEvaluate.LeaveOut": "Selects the cross-validation: scenario holds out one scenario at a " +
		"time; network, dataset and budget hold out all scenarios of one network, dataset or budget; none evaluates " +
		"the policies only on their training tables. Empty means none.",
	"graft/config.PipelineOptions.Cache": "Folder of outcomes; empty means each scenario's own setting, or the " +
		"folder cache next to the scenarios' folders.",
	"graft/config.PipelineOptions.Folder": "Path of the results: one folder per scenario and one for the policies; " +
		"empty lets the command choose.",
	"graft/config.PipelineOptions.Scenarios": "Paths of scenario files; policies learn from their tables; required.",
	"graft/config.PipelineOptions.Set": "Assignments to keys of all scenarios, such as run.device=\"cuda:0\". Empty " +
		"changes none.",
	"graft/config.RunOptions.Device": "Device of all tensors: cpu or cuda:N; empty means cpu.",
	"graft/config.RunOptions.Folder": "Path of the run folder; empty lets the command choose.",
	"graft/config.RunOptions.Instructions": "The vector instructions of the CPU: native uses the processor's " +
		"fastest, and results differ between CPU models; avx2 gives the same results on every processor with AVX2. " +
		"Empty means native.",
	"graft/config.RunOptions.Listen": "The address of the HTTP server that shows and controls the running job, such " +
		"as 127.0.0.1:0; port 0 picks a free port. Empty means no server.",
	"graft/config.RunOptions.Seed": "Seed of all random numbers except the data's; default 1, and 0 is a valid seed.",
	"graft/config.RunOptions.Tensorboard": "Writes event files for TensorBoard in addition to the tables. False " +
		"writes none.",
	"graft/config.RunOptions.Threads": "Threads of LibTorch; zero measures the fastest number, up to one per " +
		"processor, if results do not depend on it.",
	"graft/config.SimulateOptions.Actions": "The choices at every decision, in order, such as deepen:0, " +
		"widen:conv2:48 and none. An action that does not fit the current network is skipped. Empty uses kinds.",
	"graft/config.SimulateOptions.Cache": "The folder of outcomes, shared by all scenarios. Empty means the folder " +
		"cache next to the run folder.",
	"graft/config.SimulateOptions.Decisions": "Decisions per sequence, after which the network stays unchanged; zero " +
		"means every decision of the timeline.",
	"graft/config.SimulateOptions.Design": "Selects the sequences: all runs every sequence; sample spreads " +
		"max_sequences evenly over all choices; halve drops the branches with the lowest accuracy at each decision; " +
		"likely runs the sequences that a policy finds most likely. Empty means all.",
	"graft/config.SimulateOptions.Keep": "Fraction of the branches that halve keeps at each decision; zero means 0.5.",
	"graft/config.SimulateOptions.Kinds": "Operations: every decision tries all their actions that fit the current " +
		"network, then none. Empty, without actions, means deepen and widen.",
	"graft/config.SimulateOptions.MaxSequences": "Upper bound on sequences; sample and likely select this number, " +
		"all fails if there are more; default 10000.",
	"graft/config.SimulateOptions.Name": "Name of the scenario in tables and reports; empty means the file name.",
	"graft/config.SimulateOptions.Policy": "Path of the structural policy for the design likely; empty for other " +
		"designs.",
	"graft/config.SimulateOptions.Seeds": "Runs of each sequence, with run.seed and the following seeds; zero means 1.",
	"graft/config.SimulateOptions.Tries": "Attempts per sequence before it is skipped; zero means 2.",
	"graft/config.Simulation.Fleet": "Workers that run the sequences, and their resources; outcomes do not depend on " +
		"it.",
	"graft/config.Simulation.Simulate": "Sequences of actions to run.",
	"graft/config.Sweep.Compare":       "Arms of a comparison; other commands ignore it.",
	"graft/config.Sweep.Fleet":         "Workers that run the trials, and their resources; no effect on outcomes.",
	"graft/config.TimeOptions.Clock": "Clock that measures the budget: virtual charges work by a profile, wall " +
		"measures the machine's time; empty means virtual.",
	"graft/config.TimeOptions.EventsFile": "A file of events that replaces the list: CSV with the columns seconds, " +
		"change and devices. Empty means none.",
	"graft/config.TimeOptions.Profile": "Name or file of the device profile that charges work on the virtual clock; " +
		"empty means steady there.",
	"graft/config.TreeLearning.Learn":  "Options of the learner.",
	"graft/config.TreeLearning.Policy": "Size of a policy.",
	"graft/config.TreeLearning.Run":    "Seeds and output.",
	"graft/config.TreeLearning.Tables": "Training and validation tables.",
	"graft/config.TreeLearningOptions.For": "Selects the defaults of this section: known learns the best sequence of " +
		"each scenario in the tables; new averages noise out and keeps policies from being overconfident, for " +
		"scenarios without a table. Empty means known.",
	"graft/config.TreeLearningTables.Folders": "Folders of the training tables, in graft's format or the original's; " +
		"required.",
	"graft/config.TreeLearningTables.HeldOut": "Folders of validation tables, for early stopping; empty stops when " +
		"the training objective stops improving.",
	"graft/dataset.Options.Context": "The number of tokens per example. The windows of a text follow each other " +
		"without a gap. The texts of a table are padded or cut to this length. Zero means 64.",
	"graft/dataset.Options.Deviation": "The divisor of each channel, above zero, given like mean. Empty means the " +
		"standard deviation of the training images.",
	"graft/dataset.Options.Kind":        "Kind of the dataset; empty means synthetic.",
	"graft/dataset.Options.LabelColumn": "The name of a table's column of labels. Empty means label.",
	"graft/dataset.Options.LabelEach": "Selects what has a label in a table: \"text\", each text; or \"word\", each " +
		"word of the text, with spaces between words and between labels. The label -100 does not count. Empty means " +
		"text.",
	"graft/dataset.Options.Limit": "Maximum number of training images, over all classes; zero means all.",
	"graft/dataset.Options.Mean": "Lists the values subtracted from each channel before the division by deviation, " +
		"with pixels from 0 to 1: one value per channel, or one for all. Empty means the mean of the training images.",
	"graft/dataset.Options.Path": "The path of the files: a folder, or the published archive of CIFAR. Required, " +
		"except for the synthetic kind, which has none.",
	"graft/dataset.Options.Seed": "Seed of the splits and of synthetic images; zero is a valid seed.",
	"graft/dataset.Options.Size": "Height and width in pixels to which images of a folder or of shards are resized; " +
		"zero means 32.",
	"graft/dataset.Options.Stream": "Reads images of a folder or of shards on demand, for sets that exceed the " +
		"memory. Mean and standard deviation then come from 1,000 images. False keeps all images in memory.",
	"graft/dataset.Options.Synthetic": "Options of synthetic images.",
	"graft/dataset.Options.TestAsValidation": "Uses the test images for validation, as the original does, and trains " +
		"on all others. The final test accuracy is then too optimistic. False keeps the splits separate.",
	"graft/dataset.Options.TextColumn": "The name of a table's column of texts. Empty means text.",
	"graft/dataset.Options.Tokens": "Selects the tokens of texts: \"bytes\", 256 in number; \"bpe\", byte pairs of a " +
		"vocabulary; or \"characters\", the characters of the text, in the order of their code points. Empty means " +
		"bytes.",
	"graft/dataset.Options.TurboJPEG": "Decodes JPEG files of a folder or of shards with libjpeg-turbo, which is " +
		"several times as fast as Go's decoder and must be installed (libturbojpeg0 in Debian). Pixels differ from " +
		"Go's by a few levels, so results differ too. CMYK files are decoded by Go. False decodes all files in Go.",
	"graft/dataset.Options.ValidationShare": "The share of the training images that is held out for validation, " +
		"between 0 and 1, equal in each class and drawn by the seed. Digits, and a folder without a test folder, " +
		"hold out the same number for the test. Zero means 0.1.",
	"graft/dataset.Options.Vocabulary": "The file of byte pairs for the tokens \"bpe\": a tokenizer.json of Hugging " +
		"Face, or GPT-2's vocab.json with merges.txt in the same folder. Empty means none.",
	"graft/dataset.SyntheticOptions.Channels": "Channels per image, 1 for grey and 3 for colour; zero means 3.",
	"graft/dataset.SyntheticOptions.Classes":  "Number of classes, from 2 to 100; zero means 10.",
	"graft/dataset.SyntheticOptions.Noise": "The largest change of a pixel, in 255ths. Larger values make classes " +
		"harder to tell apart. Zero means 40.",
	"graft/dataset.SyntheticOptions.Size": "Height and width in pixels, at least 16; zero means 32.",
	"graft/dataset.SyntheticOptions.Test": "Test images; zero means 2,000.",
	"graft/dataset.SyntheticOptions.Textures": "Makes classes differ first in their textures and then in their " +
		"shapes, which small networks learn sooner. False makes them differ in shapes first.",
	"graft/dataset.SyntheticOptions.Train": "Training images, including validation images; zero means 10,000.",
	"graft/decider.StructuralShape.Hidden": "Values per encoding and per hidden layer; zero means 32.",
	"graft/decider.StructuralShape.Rounds": "Message-passing rounds of the graph encoder; zero means 2.",
	"graft/learn.RunOptions.Checkpoint":    "Wall-clock time between two checkpoints of a policy; zero means 30 s.",
	"graft/learn.RunOptions.Every":         "Steps between two rows of the table; zero means 10.",
	"graft/learn.RunOptions.Folder":        "Path of the run folder; empty lets the command choose.",
	"graft/learn.RunOptions.Seed": "Seed of the first policy; the other policies use the " +
		"following seeds; default 1.",
	"graft/learn.RunOptions.Seeds": "Number of policies to learn, from 1 to 1,024; policies from tables vote " +
		"together, of schedulers only the best is kept; zero means 5.",
	"graft/learn.RunOptions.Tensorboard": "Writes event files for TensorBoard in addition to the tables. False " +
		"writes none.",
	"graft/learn.RunOptions.Workers": "Policies that learn in parallel, one thread each; zero means one per processor.",
	"graft/learn/candidates.Options.Actions": "Actions per episode and round, unless the baseline is workload, which " +
		"plays to the end; zero means 2048.",
	"graft/learn/candidates.Options.Baseline": "Selects the comparison value of PPO for the rewards after an action: " +
		"workload uses the rewards of other episodes of the same workload; critic uses the rewards that a network " +
		"predicts. Empty means workload.",
	"graft/learn/candidates.Options.Batch": "Actions per gradient; zero means 256.",
	"graft/learn/candidates.Options.Clip": "Maximum change of an action's probability by PPO in a round; zero means " +
		"0.2.",
	"graft/learn/candidates.Options.Compute": "Selects the code that computes gradients: go gives the same bits on " +
		"every processor; libtorch is several times as fast, especially with wide layers. Empty means go.",
	"graft/learn/candidates.Options.Entropy": "Weight of the entropy of decisions; zero means 0.003.",
	"graft/learn/candidates.Options.Envs":    "Episodes played at once in a round; zero means 8.",
	"graft/learn/candidates.Options.Epochs":  "Passes over the actions of a round; zero means 2.",
	"graft/learn/candidates.Options.Every":   "Lessons or rounds between validations; zero means 5.",
	"graft/learn/candidates.Options.Gamma":   "Discount per slot; zero means 0.99.",
	"graft/learn/candidates.Options.Hidden":  "Width of the agent's layers; zero means 32.",
	"graft/learn/candidates.Options.Lambda": "Weight of later rewards against the estimate of an action, as in " +
		"generalised advantages; zero means 0.99.",
	"graft/learn/candidates.Options.LessonRate": "Adam's learning rate of imitation; zero means 0.001.",
	"graft/learn/candidates.Options.Lessons":    "Workloads played to imitate the teacher; zero means 20.",
	"graft/learn/candidates.Options.Method": "Method that improves the agent after imitation; none only imitates; " +
		"empty means ppo.",
	"graft/learn/candidates.Options.Patience": "Validations of rounds without improvement before learning ends; zero " +
		"means 2.",
	"graft/learn/candidates.Options.Rate":   "Adam's learning rate in the rounds; zero means 0.0003.",
	"graft/learn/candidates.Options.Rounds": "Maximum number of rounds; zero means 40.",
	"graft/learn/candidates.Options.Slots":  "Maximum slots of a workload, which is then cut; zero means 2000.",
	"graft/learn/candidates.Options.Teacher": "Scheduler to imitate first; best imitates, on each workload, the " +
		"scheduler with the smallest mean time to completion; none skips imitation; empty means best.",
	"graft/net2net.Options.Compat": "Deepens as the original did, faults included, with or without a batch " +
		"normalisation. Empty, the default, does not.",
	"graft/net2net.Options.Equal": "Gives copies of a graph's axis equal shares, as Net2Net does. Such copies stay " +
		"equal during training. By default shares differ slightly. Both keep the function.",
	"graft/net2net.Options.Form": "Selects how deepening keeps the function: identity inserts an identity layer; " +
		"residual adds a branch that begins at zero. In graphs, opposite uses pairs of units that cancel, and " +
		"stacked uses plain copies, which change the function. Empty means identity if possible, else residual; in " +
		"graphs, residual.",
	"graft/net2net.Options.Noise": "Breaks the symmetry between copies: normal noise of this size is added to each " +
		"copied row, relative to the root mean square of its tensor. Zero, the default, keeps the function exactly.",
	"graft/original/dl2.Options.Agents": "Agents that learn together, each with its own workloads; zero means 1.",
	"graft/original/dl2.Options.Asynchronous": "Applies each agent's gradient separately (A3C). False averages the " +
		"gradients of all agents. Agents take turns in a fixed order, so a seed gives the same bits.",
	"graft/original/dl2.Options.Optimizer":       "Optimizer of both networks; empty means adam.",
	"graft/original/dl2.Options.Reinforced":      "Reinforcement learning.",
	"graft/original/dl2.Options.Replay":          "Memory of each agent.",
	"graft/original/dl2.Options.Shape":           "Observations, actions and networks of the policy.",
	"graft/original/dl2.Options.Supervised":      "Imitation, the first phase of learning.",
	"graft/original/dl2.Options.Validation":      "Validation.",
	"graft/original/dl2.Options.Workloads":       "Training workloads of agents.",
	"graft/original/dl2.ReinforcedOptions.Batch": "Transitions per update, over all agents; zero means 256.",
	"graft/original/dl2.ReinforcedOptions.Entropy": "The weight of the negative entropy in the loss. Zero means 0.1; " +
		"negative means none.",
	"graft/original/dl2.ReinforcedOptions.EpsilonGreedy": "Draws an action uniformly with a probability that falls " +
		"over time.",
	"graft/original/dl2.ReinforcedOptions.Every": "Slots between two updates; zero means 1.",
	"graft/original/dl2.ReinforcedOptions.NoBalance": "Disables the rule that grows a job with far fewer tasks than " +
		"another.",
	"graft/original/dl2.ReinforcedOptions.NoCritic": "Advantages are relative to the mean reward instead of a value " +
		"network.",
	"graft/original/dl2.ReinforcedOptions.NoInjection": "Disables replacement of actions by rules of the environment.",
	"graft/original/dl2.ReinforcedOptions.NoMean": "Ignores the mean reward; without critic, rewards are used " +
		"unchanged.",
	"graft/original/dl2.ReinforcedOptions.Rate": "Learning rate; zero means 0.0001.",
	"graft/original/dl2.ReinforcedOptions.Reward": "Reward of actions: progress sums over all jobs the fraction of " +
		"epochs completed in the slot; job uses only the action's job; unfinished is the number of unfinished jobs, " +
		"which the original does not negate; discounted gives the last action the reward of the slot, and each " +
		"earlier action 0.99 of the next one. Empty means progress.",
	"graft/original/dl2.ReinforcedOptions.SameEpsilon": "All agents explore equally; false lets later agents explore " +
		"longer.",
	"graft/original/dl2.ReinforcedOptions.Steps": "Updates by reinforcement learning; zero means 6000, negative " +
		"means none.",
	"graft/original/dl2.ReplayOptions.Capacity": "Capacity in transitions; zero means 8192.",
	"graft/original/dl2.ReplayOptions.Even": "Draws uniformly in reinforcement learning, as always in imitation; " +
		"false draws by priority.",
	"graft/original/dl2.ReplayOptions.EvictLeast": "Replaces the transition with the lowest priority; false replaces " +
		"the oldest.",
	"graft/original/dl2.ReplayOptions.Fill":     "Transitions to keep per slot, drawn at random; zero means all.",
	"graft/original/dl2.ReplayOptions.NoSort":   "Gives a new transition the largest priority; false uses its reward.",
	"graft/original/dl2.ShapeOptions.FirstTanh": "First layer uses tanh in place of ReLU.",
	"graft/original/dl2.ShapeOptions.Front": "Layers before the hidden ones: jobs has one per job, attributes one " +
		"per row of the window; empty means none.",
	"graft/original/dl2.ShapeOptions.Layers": "Hidden layers; zero means 1.",
	"graft/original/dl2.ShapeOptions.Neurons": "Neurons of a hidden layer; zero means the number of values in the " +
		"state.",
	"graft/original/dl2.ShapeOptions.NoAffine": "Removes the shift and factor after each ReLU. The original calls " +
		"them batch normalization, but they have no statistics.",
	"graft/original/dl2.ShapeOptions.NoStart": "Gives no job a worker and a server before the policy acts in a slot.",
	"graft/original/dl2.ShapeOptions.Shortcut": "Connects a job's outputs to its first layer as well; requires front " +
		"= \"jobs\".",
	"graft/original/dl2.SupervisedOptions.Batch":     "Samples per update, over all agents; zero means 256.",
	"graft/original/dl2.SupervisedOptions.Loss":      "Loss of imitation; empty means Cross_Entropy.",
	"graft/original/dl2.SupervisedOptions.NoShuffle": "Keeps jobs in their columns; false shuffles the columns.",
	"graft/original/dl2.SupervisedOptions.Rate":      "Learning rate; zero means 0.005.",
	"graft/original/dl2.SupervisedOptions.Steps":     "Updates by imitation; zero means 200, negative means none.",
	"graft/original/dl2.SupervisedOptions.Teacher":   "Scheduler to imitate, such as drf or optimus; empty means drf.",
	"graft/original/dl2.ValidationOptions.Every": "Updates of reinforcement learning between two validations, and a " +
		"quarter of that in imitation; zero means 200, negative validates only on request.",
	"graft/original/dl2.ValidationOptions.Likeliest": "Takes the most likely action; false draws.",
	"graft/original/dl2.WorkloadOptions.Count":       "Workloads that an agent draws and repeats; zero means 100.",
	"graft/original/dl2.WorkloadOptions.FirstTypes":  "Job types at the start; zero means all.",
	"graft/original/dl2.WorkloadOptions.MostSlots":   "Limit of slots per episode; zero means 1000.",
	"graft/original/dl2.WorkloadOptions.TypesEvery": "Updates between two additions of a job type; zero means 500; " +
		"requires first_types.",
	"graft/original/dl2/learning.File.DL2":       "Options of the learner where elastic.compat is dl2.",
	"graft/original/dl2/learning.File.Elastic":   "Cluster and speeds.",
	"graft/original/dl2/learning.File.Learn":     "Options of the learner.",
	"graft/original/dl2/learning.File.Run":       "Seeds and output.",
	"graft/original/dl2/learning.File.Schedule":  "Schedulers that 'graft evaluate' compares with the learned one.",
	"graft/original/dl2/learning.File.Workload":  "At most one trace; generated workloads use its settings.",
	"graft/original/dl2/learning.File.Workloads": "Workloads for training, validation and test.",
	"graft/original/dl2/learning.WorkloadOptions.Arrivals": "Arrivals of generated workloads: uniform; poisson; " +
		"pattern repeats the job counts per slot of pattern from a random slot on; trace does the same with the " +
		"arrivals of workload.traces; submission, only with from, keeps submission times. Empty means poisson, or " +
		"submission with from.",
	"graft/original/dl2/learning.WorkloadOptions.EpochError": "Relative error of the epochs that schedulers see, " +
		"from 0 to below 1; zero means none.",
	"graft/original/dl2/learning.WorkloadOptions.Epochs": "Epochs of a job of a type of length 1; zero means 30,000, " +
		"or with from the work of each job.",
	"graft/original/dl2/learning.WorkloadOptions.From": "The trace of a cluster, in any format of 'graft trace'. Its " +
		"jobs with GPUs are split in the order of submission: first training workloads, then validation, then test. " +
		"Jobs submitted within a slot after the last job of training or validation are skipped, and so are jobs " +
		"after the test. Empty splits no trace.",
	"graft/original/dl2/learning.WorkloadOptions.Jitter": "Varies the epochs of jobs of one type by up to 10%; false " +
		"keeps them equal. With from it must be false.",
	"graft/original/dl2/learning.WorkloadOptions.Jobs": "Jobs per workload, if no file holds it; zero means 60.",
	"graft/original/dl2/learning.WorkloadOptions.Pattern": "Jobs that arrive in each slot, for arrivals = " +
		"\"pattern\"; numbers above rate are cut to it.",
	"graft/original/dl2/learning.WorkloadOptions.Rate": "Upper bound on job arrivals per slot; zero means 3. With " +
		"from it must be zero.",
	"graft/original/dl2/learning.WorkloadOptions.Seed": "Seed of generated workloads; default 1.",
	"graft/original/dl2/learning.WorkloadOptions.Test": "Trace files of test workloads, on which 'graft evaluate' " +
		"compares schedulers; empty generates workloads.",
	"graft/original/dl2/learning.WorkloadOptions.TestCount": "Generated test workloads, if test is empty; zero means " +
		"10.",
	"graft/original/dl2/learning.WorkloadOptions.Train": "Trace files of training workloads, as in workload.traces; " +
		"empty generates workloads.",
	"graft/original/dl2/learning.WorkloadOptions.TrainCount": "Generated training workloads, if train is empty; zero " +
		"means 40.",
	"graft/original/dl2/learning.WorkloadOptions.Validation": "Trace files of validation workloads, which select the " +
		"best learned policy; empty generates workloads.",
	"graft/original/dl2/learning.WorkloadOptions.ValidationCount": "Generated validation workloads, if validation is " +
		"empty; zero means 8.",
	"graft/original/learn.Options.Baseline": "Weight of each reward in the running mean that is subtracted from " +
		"rewards; zero means no baseline.",
	"graft/original/learn.Options.Batch": "Episodes per step; zero means 1.",
	"graft/original/learn.Options.Entropy": "Weight of the entropy of each decision, added to its reward; zero means " +
		"none.",
	"graft/original/learn.Options.Episodes": "Total episodes; with the rule exact a step counts as one; zero means " +
		"10,000.",
	"graft/original/learn.Options.LR":      "Adam's learning rate; zero means 0.0001.",
	"graft/original/learn.Options.LRDecay": "Factor of the learning rate at each decay; zero means 0.99.",
	"graft/original/learn.Options.LREvery": "Episodes between decays of the learning rate; zero means 500.",
	"graft/original/learn.Options.LRLeast": "Lower bound of the learning rate under decay; zero means 1e-9.",
	"graft/original/learn.Options.Reward":  "Reward as a function of accuracy; empty means tangent.",
	"graft/original/learn.Options.Rule":    "Learning rule to train on the table; empty means reinforce.",
	"graft/original/learn.Options.Temperature": "Temperature of exploration: above 1 makes the probabilities of " +
		"actions more equal during learning. Actions are drawn from the softmax of the policy's probabilities (not " +
		"logits) divided by it. Zero means 1.",
	"graft/original/learn.Options.TemperatureDecay": "Factor of the temperature at each decay, down to 1; zero means " +
		"0.9.",
	"graft/original/learn.Options.TemperatureEvery": "Episodes between decays of the temperature; zero means 1.",
	"graft/original/learn.PolicyOptions.Hidden": "Units of each direction of the biLSTM over " +
		"layers; zero means 50.",
	"graft/original/learn.PolicyOptions.Linear": "Values between the linear layers; zero means 128.",
	"graft/original/learn.PolicyOptions.Memory": "Units of the LSTM after it; zero means 16.",
	"graft/original/learn.PolicyOptions.Precise": "Computes in float64. False computes in float32, " +
		"like the original.",
	"graft/original/learn.PolicyOptions.Time": "Values of the encoding of the time left; zero means 8.",
	"graft/original/policyfile.File.Learn":    "Options of the learner.",
	"graft/original/policyfile.File.Policy":   "Sizes of the policy, and its initial weights.",
	"graft/original/policyfile.File.Run":      "Seed and output.",
	"graft/original/policyfile.File.Table":    "Training table.",
	"graft/original/policyfile.PolicyOptions.Embedding": "Length of a token's vector in the vocabulary; zero skips " +
		"the check.",
	"graft/original/policyfile.PolicyOptions.Weights": "File of initial weights, .pth or .safetensors, whose " +
		"embedding is ignored; empty draws random weights.",
	"graft/original/policyfile.RunOptions.Checkpoint": "Wall-clock time between checkpoints; zero means 30 s.",
	"graft/original/policyfile.RunOptions.Every":      "Episodes per row of the table; zero means 100.",
	"graft/original/policyfile.RunOptions.Folder":     "Path of the run folder; empty lets the command choose.",
	"graft/original/policyfile.RunOptions.Seed":       "Seed of the initial parameters and of all actions; default 1.",
	"graft/original/policyfile.RunOptions.Tensorboard": "Writes event files for TensorBoard in addition to the " +
		"tables. False writes none.",
	"graft/original/policyfile.TableOptions.Actions": "The actions for the numbers in a single data.pkl. Empty means " +
		"deepen for each marked block, then none. A folder lists its own actions.",
	"graft/original/policyfile.TableOptions.Compat": "Compatibility mode of the surgery, which changes the policy's " +
		"input; empty means graft's own.",
	"graft/original/policyfile.TableOptions.DiscardDraws": "Draws and discards the random numbers that the original " +
		"draws for weights, so that actions match the original's.",
	"graft/original/policyfile.TableOptions.File": "A table's folder, graft's or the original's, or a single " +
		"data.pkl of the original's. Required.",
	"graft/original/policyfile.TableOptions.Network": "The initial network of the sequences: a name of the zoo or a " +
		"network file. Empty means the network named in the folder, or ConvNet2 for a single data.pkl.",
	"graft/original/policyfile.TableOptions.Prefix": "Starts each sequence with token 0, as for the original's first " +
		"policies.",
	"graft/original/policyfile.TableOptions.Vocabulary": "Path of the vocabulary: a folder, a file of graft's, or " +
		"NAME.ids.pkl with NAME.embeddings.pkl in the same folder; required.",
	"graft/simulation/learning.Options.Beta": "The weight of the best sequences. Zero maximises the expected reward; " +
		"a larger value maximises (1/beta) log E exp(beta R), with rewards of standard deviation one. Default 8, 2 " +
		"for new scenarios.",
	"graft/simulation/learning.Options.Entropy": "Reward per nat of entropy; zero means none; default 0, 0.1 for new " +
		"scenarios.",
	"graft/simulation/learning.Options.Every": "The number of steps between evaluations on held-out trees. Zero " +
		"means 10.",
	"graft/simulation/learning.Options.Leaf": "Minimum choices in a leaf of a forest; zero means 2.",
	"graft/simulation/learning.Options.Method": "Selects the form of the policy. network learns by the exact " +
		"gradient of its aim. forest grows regression trees that predict the advantage of a choice over the others, " +
		"and uses only reward, smooth, pool, without, trees and leaf. Empty means network.",
	"graft/simulation/learning.Options.Patience": "The number of evaluations without improvement before learning " +
		"stops. The best policy is the result. Zero means 8.",
	"graft/simulation/learning.Options.Pool": "Moves the rewards of each tree towards the mean over all trees with " +
		"the same sequence, by a share from 0 to 1, which reduces noise. Zero keeps the rewards. Default 0, 0.5 for " +
		"new scenarios.",
	"graft/simulation/learning.Options.Rate": "Adam's learning rate; zero means 0.01.",
	"graft/simulation/learning.Options.Reward": "Selects the transformation of accuracies: empty keeps them; tangent " +
		"is the original's, which stretches high accuracies.",
	"graft/simulation/learning.Options.Sampled": "The number of sequences sampled from each tree per step, instead " +
		"of the exact gradient. It uses REINFORCE with the mean of the other sequences as baseline, and entropy if " +
		"set, but not beta. Zero uses the exact gradient.",
	"graft/simulation/learning.Options.Smooth": "Moves rewards towards the smoothed table, by a share from 0 to 1, " +
		"which averages out the noise of single runs. Zero keeps the rewards. Default 0, 1 for new scenarios.",
	"graft/simulation/learning.Options.Steps": "Maximum number of steps; zero means 400, and 100 for new scenarios.",
	"graft/simulation/learning.Options.Tolerance": "The minimum growth of the objective within window steps, in " +
		"rewards; learning ends below it. Zero means 0.001. A negative value never ends learning early, nor does " +
		"sampling.",
	"graft/simulation/learning.Options.Trees": "Number of trees in a forest; zero means 200.",
	"graft/simulation/learning.Options.WeightDecay": "AdamW's weight decay, as a share of the rate; zero means none; " +
		"0.3 for new scenarios.",
	"graft/simulation/learning.Options.Window": "Window of tolerance, in steps; zero means 60.",
	"graft/simulation/learning.Options.Without": "Lists inputs, in addition to the network's layers, that policies " +
		"do not read, to measure their value. Empty means none.",
	"graft/torch.Augment.Cutout":    "Side in pixels of a square hole whose centre lies in the image; zero means none.",
	"graft/torch.Augment.Flip":      "Flips images left to right with a probability of one half.",
	"graft/torch.Augment.Magnitude": "The strength of rand_augment's operations, from 1 to 30. Zero means 9.",
	"graft/torch.Augment.Mixup": "The parameter of mixup (Zhang et al. 2018), which mixes each image of a step, and " +
		"its loss, with another image of its batch. The shares of each step are drawn from a Beta distribution with " +
		"both parameters equal to this value. Zero means no mixing.",
	"graft/torch.Augment.Pad": "Maximum shift in each direction, in pixels; zero means none.",
	"graft/torch.Augment.RandAugment": "The number of random operations per image, applied one after the other as in " +
		"torchvision's RandAugment: a shear, a translation, a rotation, a change of brightness, colour, contrast, " +
		"sharpness or levels, or none. Zero means none.",
	"graft/torch.OptimizerOptions.Beta1": "Adam's decay of the first moment; zero means 0.9.",
	"graft/torch.OptimizerOptions.Beta2": "Adam's decay of the second moment; zero means 0.999.",
	"graft/torch.OptimizerOptions.ClipNorm": "The maximum norm of all gradients of a step together: larger ones are " +
		"scaled down to it. Zero means no limit.",
	"graft/torch.OptimizerOptions.ClipValue": "The maximum magnitude of each value of a gradient; larger values are " +
		"cut. Zero means no limit. Excludes clip_norm.",
	"graft/torch.OptimizerOptions.Dampening":   "Dampening of SGD's momentum; zero means none.",
	"graft/torch.OptimizerOptions.Eps":         "Adam's epsilon, added to the root; zero means 1e-8.",
	"graft/torch.OptimizerOptions.LR":          "Learning rate; zero keeps the parameters unchanged.",
	"graft/torch.OptimizerOptions.Momentum":    "Momentum of SGD; zero means none.",
	"graft/torch.OptimizerOptions.Nesterov":    "Uses nesterov momentum in SGD.",
	"graft/torch.OptimizerOptions.Rule":        "Update rule; required.",
	"graft/torch.OptimizerOptions.WeightDecay": "Weight decay; zero means none.",
	"graft/trainer.Adapt.Divide": "The divisor of the learning rate at each decision; a down multiplies it back. " +
		"Zero means 1.",
	"graft/trainer.Adapt.Every": "Asks the decider at the start of each epoch after an up. " +
		"False asks once per up.",
	"graft/trainer.Adapt.MaxDecisions": "The maximum number of decisions per up. Zero means 3 with every, else 1.",
	"graft/trainer.Adapt.OnError": "Selects what happens if the chosen action cannot be done: skip logs a warning, " +
		"counts it in the outcome and continues without the action; stop ends the job. Empty means skip.",
	"graft/trainer.Adapt.Reset": "Creates a new optimizer and schedule after every decision, including the action " +
		"none, and after a down event, as the original did. False keeps both.",
	"graft/trainer.Adapt.Rows": "The number of training images used to calibrate new normalizations. Zero means 256.",
	"graft/trainer.AdaptiveBatch.DeviceMost": "The maximum number of images per device at once. Larger batches run " +
		"in several turns whose gradients are added. Zero means that only train.micro_batch and train.max_memory_mb " +
		"limit it.",
	"graft/trainer.AdaptiveBatch.Every": "Epochs between two choices of the batch on the same devices; zero means 1.",
	"graft/trainer.AdaptiveBatch.Hysteresis": "The minimum relative gain in goodput that changes the batch. Zero " +
		"means 0.05.",
	"graft/trainer.AdaptiveBatch.Interval": "Steps between two measurements of gradient noise; zero means 16.",
	"graft/trainer.AdaptiveBatch.Measure": "Measures the noise of gradients while the batch stays fixed; on implies " +
		"it.",
	"graft/trainer.AdaptiveBatch.Most": "Largest batch, in images; zero means 16 times train.batch.",
	"graft/trainer.AdaptiveBatch.On": "Selects the batch with the highest goodput, from train.batch to most, at each " +
		"change of devices and between epochs. Goodput is images per second times the progress of an image, relative " +
		"to one in the smallest batch. False keeps the batch.",
	"graft/trainer.AdaptiveBatch.Scaling": "The rule for the learning rate: adascale, square-root, linear or none. " +
		"With adascale, warm-up and the schedules exponential and step count steps and epochs of the smallest batch. " +
		"Empty means adascale for sgd, square-root for adam and adamw.",
	"graft/trainer.Checkpoint.Every": "Minimum wall-clock time between two checkpoints; zero means a minute.",
	"graft/trainer.Checkpoint.Off":   "Saves only at the end, on a stop and when a request waits for a checkpoint.",
	"graft/trainer.Distill.Decay":    "Reduction of the share per epoch, between 0 and 1; zero means none.",
	"graft/trainer.Distill.Off":      "Turns distillation off.",
	"graft/trainer.Distill.Share": "Initial share of the larger network in the loss, between 0 " +
		"and 1; zero means 0.9.",
	"graft/trainer.Distill.Span": "The part of the time left after a down that distillation lasts, between 0 and 1. " +
		"The share falls to zero over it, step by step. Zero means all of it.",
	"graft/trainer.Distill.Temperature": "Divisor of the logits before they are compared; zero means 4.",
	"graft/trainer.Event.At":            "Time since the start of the budget.",
	"graft/trainer.Event.Change":        "Direction: up or down.",
	"graft/trainer.Event.Devices":       "Number of devices after the event; zero keeps the number.",
	"graft/trainer.Options.Abandon": "Starts a new epoch after every change of devices, as the original did. The " +
		"steps of the abandoned epoch stay in the weights, but it is not evaluated, recorded or counted by the " +
		"learning rate schedule. False continues the epoch.",
	"graft/trainer.Options.AdaptiveBatch": "Adjusts the batch to the devices and the noise of gradients. Zero keeps " +
		"the batch.",
	"graft/trainer.Options.Augment": "Random changes of training images; zero means none.",
	"graft/trainer.Options.Batch":   "Images per step; zero means 64.",
	"graft/trainer.Options.CUDAGraphs": "Records a step on a full batch as a CUDA graph, which the host then " +
		"launches in one call. Surgery and a change of the batch record it again. Steps that use distillation, " +
		"mixup, float16, micro-batches or several processes, or that measure noise, are not recorded. Results are " +
		"equal up to rounding.",
	"graft/trainer.Options.Checkpoint": "Checkpoint interval; zero means once a minute.",
	"graft/trainer.Options.Distill":    "Distillation from the larger network after a down; zero means its defaults.",
	"graft/trainer.Options.EMA": "The decay of an exponential moving average of weights and running statistics, per " +
		"step, such as 0.999. The average is evaluated, exported, and used as the teacher of a network that shrinks. " +
		"Surgery changes it together with the network. Zero means no average.",
	"graft/trainer.Options.Epochs": "The maximum number of epochs, including epochs of earlier training. The job " +
		"then ends even if time is left. Zero means that only the budget ends it.",
	"graft/trainer.Options.EvalBatch": "Images per evaluation batch; zero means 128, which needs little memory.",
	"graft/trainer.Options.Exact": "Keeps PyTorch's order of operations. False uses the fast path, whose results are " +
		"equal up to rounding.",
	"graft/trainer.Options.KeepBest": "Keeps the network with the highest validation accuracy in addition to the " +
		"last one. False keeps only the last one.",
	"graft/trainer.Options.LabelSmoothing": "The share of each label's target that is spread evenly over all " +
		"classes, between 0 and 1. With distillation it smooths only the labels' part of the loss. Training losses " +
		"include it, evaluation losses do not. Zero means none.",
	"graft/trainer.Options.MaxMemoryMB": "Limits the activation memory of a step, in MiB. A step uses the largest " +
		"parts that fit, at most micro_batch. The estimate comes from the network's shapes, so the parts are the " +
		"same on every machine. Weights, moments and images are not included. Zero means no limit.",
	"graft/trainer.Options.MicroBatch": "The maximum number of images per gradient computation. A step splits its " +
		"batch into such parts and adds their gradients, which needs less memory. BatchNorm normalises and counts " +
		"each part separately. Zero means the whole batch.",
	"graft/trainer.Options.Optimizer": "Update rule of the parameters; without a rule, Adam with a learning rate of " +
		"0.01.",
	"graft/trainer.Options.Overrun": "Trains until the budget is used up and evaluates only whole epochs, as the " +
		"original did. The last epoch may end after the budget. The result is the network as last evaluated. False " +
		"reserves time for a final evaluation, so every step counts.",
	"graft/trainer.Options.Parallel": "Trains with one process per device. Zero trains in one process. A resumed job " +
		"may change it.",
	"graft/trainer.Options.Precision": "The numeric type of convolutions and linear layers in training and " +
		"evaluation: float32, bfloat16, float16 or tf32. bfloat16 may be faster on processors that support it. " +
		"float16, with loss scaling, and tf32, which rounds float32 operands to 11 significant bits, need a CUDA " +
		"device. Weights, gradients, optimizer state and all other layers stay float32. Zero means float32.",
	"graft/trainer.Options.Schedule": "Learning rate schedule; zero means half a cosine wave over the budget.",
	"graft/trainer.Options.Steady": "Makes results bit-identical: on the CPU for any number of threads, at some cost " +
		"of speed; on a CUDA device for every run on the same machine.",
	"graft/trainer.Schedule.Decay": "Factor of the learning rate; zero means 0.9 for exponential and 0.1 for step.",
	"graft/trainer.Schedule.Every": "Epochs between two changes by the rule step; zero means 10.",
	"graft/trainer.Schedule.MinLR": "Lower bound of the learning rate; zero means 1e-8.",
	"graft/trainer.Schedule.Restart": "Selects what restarts the schedule at the first rate: devices, each up and " +
		"down; surgery, each change of the network; never, nothing. cosine and linear then fall faster, over the " +
		"time that is left. With surgery, jobs that grow get other rates than jobs that do not, which affects " +
		"comparisons between them. Empty means devices.",
	"graft/trainer.Schedule.Rule": "Selects how the rate changes: cosine and linear lower it to min_lr at the end of " +
		"the budget, step by step; exponential multiplies it by decay after each epoch; step multiplies it by decay " +
		"whenever every epochs have passed; constant keeps it. Empty means cosine.",
	"graft/trainer.Schedule.WarmUp": "Warm-up steps, over which the rate rises from zero; zero means none.",
	"graft/trainer.Schedule.WarmUpShare": "The length of the warm-up as a part of the time from the schedule's start " +
		"to the end of the budget, between 0 and 1. The rate rises from zero during the warm-up. Zero means none.",
	"graft/trainer.Timeline.Budget":  "Length of the job, counted from zero even if start is later; required.",
	"graft/trainer.Timeline.Devices": "Number of devices at the start; zero means 1.",
	"graft/trainer.Timeline.Events":  "Planned changes of devices, sorted by time; empty means none.",
	"graft/trainer.Timeline.Start":   "Time in the budget at which the job begins; zero means its beginning.",
	"graft/trainer/team.Parallel.Elastic": "Derives the number of devices from the followers: each follower that " +
		"becomes ready is an up of one device, each one that leaves or is lost is a down. Requires listen. The " +
		"timeline and POST /allocation must not change devices then.",
	"graft/trainer/team.Parallel.Listen": "The private IP address and port at which followers on other machines join " +
		"by 'graft follow --join', one for each device except the first. Empty starts the followers on this machine. " +
		"With slurm:PORT, task 0 of 'srun graft train' listens at its node's address, and the other tasks join it.",
	"graft/trainer/team.Parallel.MaxProcesses": "Maximum number of processes, including the leader; zero means one " +
		"per device.",
	"graft/trainer/team.Parallel.MinProcesses": "The number of processes, including the leader, that a job waits for " +
		"at its start and when it resumes. The job fails if they are not ready within start. Requires listen. Zero " +
		"does not wait.",
	"graft/trainer/team.Parallel.On": "Starts one process per device; false trains in one process, and devices only " +
		"divide the cost of work on a virtual clock.",
	"graft/trainer/team.Parallel.Start": "Wall-clock limit for a process to become ready; zero means ten minutes.",
	"graft/trainer/team.Parallel.Threads": "LibTorch threads per process on the CPU; zero divides one process's " +
		"threads evenly.",
	"graft/trainer/team.Parallel.Timeout": "Wall-clock time after which a silent process is considered lost; zero " +
		"means a minute.",
	"graft/trainer/team.Parallel.Token": "File with the token that followers must present; required with listen, " +
		"except with slurm, which also accepts the variable GRAFT_TOKEN.",
}
