// Code generated from the comments of the fields by go generate; DO NOT EDIT.

package config

// descriptions say what keys are for, by the field of a struct.
var descriptions = map[string]string{
	"graft/cluster/adaptive.PolluxOptions.Delay": "Time for which a job is expected to stand still when its devices " +
		"change; zero is 30.",
	"graft/cluster/adaptive.PolluxOptions.Fairness": "Exponent of the mean of speedups, not zero; zero is -1, the " +
		"harmonic mean, as published.",
	"graft/cluster/adaptive.PolluxOptions.Generations": "Of a search; zero is 100.",
	"graft/cluster/adaptive.PolluxOptions.Mixed": "Lets parts of several jobs that span nodes share a node; default " +
		"false.",
	"graft/cluster/adaptive.PolluxOptions.Population": "States of a generation; zero is 100.",
	"graft/cluster/adaptive.SchedulerOptions.Pollux":  "Search of pollux.",
	"graft/cluster/adaptive/world.File.Adaptive":      "Applications and cluster.",
	"graft/cluster/adaptive/world.File.Run":           "Run folder.",
	"graft/cluster/adaptive/world.File.Schedule": "Schedulers, of adaptive jobs or of rigid ones, which keep the " +
		"devices and the batch that their users ask for.",
	"graft/cluster/adaptive/world.File.Workload": "Traces: tables of jobs, with columns name, time, application, " +
		"num_replicas and batch_size, or traces of clusters in any format, whose jobs get applications of their " +
		"sizes. A name that is not a file is looked up in adaptive.data, in its folder workloads and in the folders " +
		"there. Required.",
	"graft/cluster/adaptive/world.Options.Compat": "Reproduces the faults of another simulator: pollux has the " +
		"results of Pollux's, none corrects its errors. Empty means none.",
	"graft/cluster/adaptive/world.Options.Data": "A folder of applications, each a folder with placements.csv and " +
		"validation-BATCH.csv, beneath it or beneath traces; applications.csv has their epochs. Required.",
	"graft/cluster/adaptive/world.Options.Delay": "Time for which a job stands still when its devices change. " +
		"Default 30.",
	"graft/cluster/adaptive/world.Options.Devices": "Devices of a node. Default 4.",
	"graft/cluster/adaptive/world.Options.Interference": "Share of its speed that a job on several nodes loses next " +
		"to another such job, from 0 to below 1. Default 0.",
	"graft/cluster/adaptive/world.Options.Interval": "Time between two decisions. Default 60.",
	"graft/cluster/adaptive/world.Options.Limit":    "Time after which a simulation fails. Zero means no limit.",
	"graft/cluster/adaptive/world.Options.Nodes":    "Nodes of the cluster, all alike. Default 16.",
	"graft/cluster/adaptive/world.Options.Quirks": "Faults that are kept, by name, where compat is none. Empty keeps " +
		"none.",
	"graft/cluster/elastic.WindowOptions.Apart": "Leaves out the action that adds a worker and a server at once. Of " +
		"such an action of a scheduler there are two samples. It has no effect without servers.",
	"graft/cluster/elastic.WindowOptions.Bits": "Writes the type as four rows of bits, highest first, in place of " +
		"one row.",
	"graft/cluster/elastic.WindowOptions.Order": "Of jobs: by arrival, by dominant share or by the share of epochs " +
		"that is left, the smallest first; empty is arrival.",
	"graft/cluster/elastic.WindowOptions.Padding": "Of columns without a job; zero is 0, the original also uses -1.",
	"graft/cluster/elastic.WindowOptions.Rescale": "Divides types by their number, slots by 100 and counts by their " +
		"maximum.",
	"graft/cluster/elastic.WindowOptions.Size":  "Number of jobs, and of columns; zero is 20.",
	"graft/cluster/elastic/world.File.Elastic":  "Cluster, speeds and types of jobs.",
	"graft/cluster/elastic/world.File.Run":      "Run folder.",
	"graft/cluster/elastic/world.File.Schedule": "Schedulers.",
	"graft/cluster/elastic/world.File.Workload": "Traces: JSON files of elastic jobs, or traces of clusters, whose " +
		"jobs with GPUs keep their work.",
	"graft/cluster/elastic/world.Options.CPUs": "CPU slots of a node; zero is the trace's, or 8.",
	"graft/cluster/elastic/world.Options.Compat": "Reproduces the faults of another simulator: dl2 has the results " +
		"of DL2's, none corrects its errors. Empty means none.",
	"graft/cluster/elastic/world.Options.GPUs":  "GPU slots of a node; zero is the trace's, or 8.",
	"graft/cluster/elastic/world.Options.Limit": "Slots after which a simulation fails; zero is no limit.",
	"graft/cluster/elastic/world.Options.Most": "Maximum number of workers of a job, and of servers; zero is the " +
		"trace's, or 16.",
	"graft/cluster/elastic/world.Options.Nodes": "Of the cluster; zero is the trace's, or 96.",
	"graft/cluster/elastic/world.Options.Scaling": "The time that a job loses in a slot when its counts have " +
		"changed: checkpoint stops and restarts it, hot moves parameters while it runs, none is free. Empty means " +
		"checkpoint, or none with compat dl2.",
	"graft/cluster/elastic/world.Options.Slot": "Length of a slot in seconds; zero is the trace's, or 1200.",
	"graft/cluster/elastic/world.Options.SpeedError": "The relative error of speeds, drawn evenly in ± of it for " +
		"each job and slot, from 0 to below 1. Zero is the trace's, or none.",
	"graft/cluster/elastic/world.Options.Speeds": "A JSON file of steps a second by model, servers and workers, each " +
		"from 1 on; a folder of applications as in adaptive.data, which are then the types of jobs, without " +
		"parameter servers; or analytic, which computes speeds from what the types say of computation and " +
		"communication. Required unless the trace says that speeds are analytic.",
	"graft/cluster/elastic/world.Options.Types": "JSON file of job types: demands, size of an epoch, communication; " +
		"empty means the eight models of DL2.",
	"graft/cluster/fabric/world.Demand.Every": "Mean time between arrivals, in place of load. Zero follows from load.",
	"graft/cluster/fabric/world.Demand.Gaps": "Distribution of times between arrivals; regular has all alike. Empty " +
		"means exponential.",
	"graft/cluster/fabric/world.Demand.Jobs":  "Number of jobs of an episode. Zero means 200.",
	"graft/cluster/fabric/world.Demand.Least": "Lower end of uniform and skewed. Zero means 0.1.",
	"graft/cluster/fabric/world.Demand.Limits": "Distribution of the share of its time on one server that a job may " +
		"take. Empty means uniform.",
	"graft/cluster/fabric/world.Demand.Load": "Servers that jobs would keep busy if none was split, as a share of " +
		"all servers. Zero means 1.",
	"graft/cluster/fabric/world.Demand.Most": "Upper end of uniform and skewed, and the share of " +
		"fixed. Zero means 1.",
	"graft/cluster/fabric/world.Demand.Period": "Jobs of a period. Zero means 50.",
	"graft/cluster/fabric/world.Demand.Seed":   "Random seed of the first episode. Default 1.",
	"graft/cluster/fabric/world.Demand.Shares": "Relative frequency of each of the values. Empty means all alike.",
	"graft/cluster/fabric/world.Demand.Skewness": "Shape of skewed: a positive one has more short limits. PAC-ML's " +
		"distributions B, C and D have 5, 0 and -5.",
	"graft/cluster/fabric/world.Demand.Steps": "Training steps of a job. Zero means 50.",
	"graft/cluster/fabric/world.Demand.Swing": "Share by which the load rises and falls in each period, from 0 to " +
		"below 1. Zero is steady.",
	"graft/cluster/fabric/world.Demand.TestCount":  "Episodes on which schedulers are compared. Zero means 5.",
	"graft/cluster/fabric/world.Demand.TrainCount": "Episodes to learn from. Zero means 20.",
	"graft/cluster/fabric/world.Demand.ValidationCount": "Episodes by which learned schedulers are chosen. Zero " +
		"means 10.",
	"graft/cluster/fabric/world.Demand.Values": "Limits to draw from, of values.",
	"graft/cluster/fabric/world.File.Demand":   "Jobs that arrive.",
	"graft/cluster/fabric/world.File.Fabric":   "Servers, and the network between them.",
	"graft/cluster/fabric/world.File.Graphs":   "Networks that jobs train.",
	"graft/cluster/fabric/world.File.Learn":    "Options of the learner of 'graft learn'.",
	"graft/cluster/fabric/world.File.Run":      "Seeds of 'graft learn', and the run folder of all commands.",
	"graft/cluster/fabric/world.File.Schedule": "Schedulers, which choose the degree of each job.",
	"graft/cluster/fabric/world.File.Vary":     "Values that are compared in one run.",
	"graft/cluster/fabric/world.Graphs.Batch":  "Examples per step of a network. Zero means 64.",
	"graft/cluster/fabric/world.Graphs.Models": "Networks of the zoo, files of networks, profiles of PipeDream " +
		"(.txt) or graphs (.json). Empty means ResNet18, VGG11BN, MobileNetV2, CIFARResNet56 and LargeConvNet.",
	"graft/cluster/fabric/world.Graphs.Profile": "Device profile with the times of networks, by name or file. Empty " +
		"means round-gpu.",
	"graft/cluster/fabric/world.Graphs.Sizes": "Height and width in pixels of the images of each network; zero is " +
		"the network's own. Empty keeps all.",
	"graft/cluster/fabric/world.Graphs.Weights": "Relative frequency of each network among the jobs. Empty means all " +
		"alike.",
	"graft/cluster/fabric/world.Options.Bandwidth": "Server bandwidth in bytes/s. Zero means 1.6e12, as in PAC-ML's " +
		"experiments.",
	"graft/cluster/fabric/world.Options.Channels":  "Number of channels between two servers, of ramp. Zero means 1.",
	"graft/cluster/fabric/world.Options.IO":        "Time to send and to receive in s, of ramp. Zero means 100e-9.",
	"graft/cluster/fabric/world.Options.Latency":   "Transfer latency in s. Zero means 50e-9.",
	"graft/cluster/fabric/world.Options.MaxDegree": "Maximum number of parts of a step. Zero means 16.",
	"graft/cluster/fabric/world.Options.Memory":    "Server memory in bytes. Zero means 80e9.",
	"graft/cluster/fabric/world.Options.Network": "Kind of network that connects the servers: ramp is an optical " +
		"network with channels between all servers, tree has a switch in each rack and a core. Empty means ramp.",
	"graft/cluster/fabric/world.Options.Quantum": "Time of an operation per part in ms, of tensor. Zero means 0.01.",
	"graft/cluster/fabric/world.Options.Quirks":  "Faults of PAC-ML's simulator to keep, by name. Empty keeps none.",
	"graft/cluster/fabric/world.Options.Size": "Numbers of parts of the network: of ramp groups, racks per group and " +
		"servers per rack; of tree racks and servers per rack. Empty means 4, 4, 2 and 4, 8.",
	"graft/cluster/fabric/world.Options.Speed": "Server speed, by which times of operations are " +
		"divided. Zero means 1.",
	"graft/cluster/fabric/world.Options.Strategy": "Way to spread a step over servers. Empty means data.",
	"graft/cluster/fabric/world.Options.Uplink": "Bandwidth of a rack in bytes/s, of tree. Zero means the sum of its " +
		"servers.",
	"graft/cluster/fabric/world.Vary.Bandwidths": "Values of fabric.bandwidth to sweep, with fabric.uplink in " +
		"proportion. Empty keeps it.",
	"graft/cluster/fabric/world.Vary.Loads": "Values of demand.load to sweep. Empty keeps demand.load. Excludes " +
		"demand.every.",
	"graft/cluster/fabric/world.Vary.MaxDegrees": "Values of fabric.max_degree to sweep. Empty keeps it.",
	"graft/cluster/fabric/world.Vary.Networks": "Kinds of networks to sweep, with their sizes or alone, such as ramp " +
		"4x4x2 or tree 4x8. Empty keeps the network.",
	"graft/cluster/fabric/world.Vary.Skewness": "Values of demand.skewness to sweep, with demand.limits = " +
		"\"skewed\". Empty keeps it.",
	"graft/cluster/lucid.Options.Echo": "Virtual cluster that has a node less while the profiler has one more; empty " +
		"is one of Venus's, or the largest but those.",
	"graft/cluster/lucid.Options.From": "Virtual clusters that give the profiler a node each; empty is two of " +
		"Venus's, or the largest.",
	"graft/cluster/lucid.Options.Largest": "Devices of the largest job that is profiled; zero is 8, or all that the " +
		"profiler has.",
	"graft/cluster/lucid.Options.Limit": "Seconds that a job is profiled for; zero is 200.",
	"graft/cluster/lucid.Options.Nodes": "Of the profiler; zero is 2.",
	"graft/cluster/node/world.Executor.Backoff": "Wait before the first retry of a task; it doubles with each retry. " +
		"Default 1s.",
	"graft/cluster/node/world.Executor.Cgroup": "Folder of a cgroup v2 that the user may write; none uses none. " +
		"Empty means the cgroup of graft, where it may be written.",
	"graft/cluster/node/world.Executor.Devices": "Selects the devices of tasks: gpu is the machine's GPUs, cpu is " +
		"machine.gpus slots of its processors, auto is gpu where NVIDIA's library finds some, otherwise cpu. Empty " +
		"means auto.",
	"graft/cluster/node/world.Executor.Grace": "Time between SIGTERM and SIGKILL. Default 10s.",
	"graft/cluster/node/world.Executor.IdleWatts": "The power of an idle device, which one column of the energy " +
		"leaves out. Zero measures it for a second before the first task; negative leaves the column empty.",
	"graft/cluster/node/world.Executor.Log": "Limit of the log of an attempt, MiB; the middle of a longer one is " +
		"left out. Default 16.",
	"graft/cluster/node/world.Executor.Sampling": "Time between readings of the devices, from 10ms to 1s. Default " +
		"100ms.",
	"graft/cluster/node/world.Executor.UUIDs": "GPUs to use, as nvidia-smi -L prints them. Empty means all.",
	"graft/cluster/node/world.File.Executor":  "Options of 'graft node run'.",
	"graft/cluster/node/world.File.Learn":     "Options of the learner of 'graft learn'.",
	"graft/cluster/node/world.File.Machine":   "GPUs of the machine.",
	"graft/cluster/node/world.File.Run":       "Seeds of 'graft learn', and the run folder of all commands.",
	"graft/cluster/node/world.File.Schedule": "Schedulers. Where none are named, 'graft node simulate' compares all " +
		"that need no learning, and 'graft node run' takes backfill, otherwise the first one.",
	"graft/cluster/node/world.File.Task":  "Tasks, each a table [[task]]. Empty generates them.",
	"graft/cluster/node/world.File.Tasks": "Tasks that are generated, or taken from a trace.",
	"graft/cluster/node/world.File.Workload": "Trace of a cluster, at most one, in any format that 'graft trace' " +
		"reads: its jobs with at most one GPU are the tasks.",
	"graft/cluster/node/world.Machine.Active": "Power of a GPU with an idle task. Default 60.",
	"graft/cluster/node/world.Machine.Compat": "Reproduces another simulator: tasks is the packing environment of a " +
		"published study of GPU schedulers with its generator, rewards and faults, in which PPO learns as published; " +
		"none is graft's. Empty means none.",
	"graft/cluster/node/world.Machine.Contention": "Share of its speed that a task loses for each GPU's worth of " +
		"cores that others use on its GPU. Default 0.",
	"graft/cluster/node/world.Machine.Cores": "Selects the rule for tasks that ask for more than all cores of a GPU " +
		"together: shared slows them, whole lets one wait. Empty means shared.",
	"graft/cluster/node/world.Machine.Empty": "Power of a GPU without tasks. Default 25.",
	"graft/cluster/node/world.Machine.Full":  "Power of a GPU with all cores in use. Default 250.",
	"graft/cluster/node/world.Machine.GPUs":  "Number of equal GPUs. Default 4.",
	"graft/cluster/node/world.Machine.Memories": "Memory of each of several unequal GPUs, MiB. Replaces gpus and " +
		"memory_mb.",
	"graft/cluster/node/world.Machine.Memory": "Memory of a GPU, MiB. Default 16384.",
	"graft/cluster/node/world.Machine.Profiles": "File of measured pairs, colocate_info.csv as 'graft node profile' " +
		"writes it: tasks of the kinds in it slow one another as measured. Empty means none.",
	"graft/cluster/node/world.Machine.Speeds": "Relative speed of each GPU of memories_mb, by which the durations of " +
		"tasks are divided. Empty means 1 for each.",
	"graft/cluster/node/world.Machine.Stop": "The way to stop a task: signal pauses its processes, which keep their " +
		"memory and their GPU, checkpoint ends them and starts them again later, on any GPU. Empty means signal.",
	"graft/cluster/node/world.Machine.Switch":   "Time that a stopped task loses when it continues. Default 0.",
	"graft/cluster/node/world.Machine.Together": "Limit of tasks on a GPU at a time. Zero means no limit.",
	"graft/cluster/node/world.Schedule.Aging":   "Waiting time that counts as one step of priority. Default 1m.",
	"graft/cluster/node/world.Schedule.Objective": "The cost by which schedulers are ranked, and which learning " +
		"lowers: completion is the mean time from arrival to completion, energy-delay that time the energy of all " +
		"GPUs. Empty means completion.",
	"graft/cluster/node/world.Schedule.Quantum": "Time slice of the schedulers that share GPUs in time. Default 10s.",
	"graft/cluster/node/world.Task.After":       "Names of the tasks that must complete before.",
	"graft/cluster/node/world.Task.Arrival":     "Time since the beginning. Default 0.",
	"graft/cluster/node/world.Task.Checkpoint": "Says that a real task saves its state when it gets SIGTERM, and " +
		"continues from there when it runs again, as 'graft train --resume' does. False only pauses it by signals.",
	"graft/cluster/node/world.Task.Command": "Program and arguments of a real task; no shell reads them. A task " +
		"without one is only simulated.",
	"graft/cluster/node/world.Task.Cores": "Share of a GPU's cores that the task keeps busy when it runs alone, " +
		"percent. Default 100.",
	"graft/cluster/node/world.Task.Count": "Number of equal tasks; more than one have numbers behind the name. " +
		"Default 1.",
	"graft/cluster/node/world.Task.Duration": "Run time alone on a GPU, for simulations and schedulers. Zero means " +
		"unknown, which real tasks may be.",
	"graft/cluster/node/world.Task.Env":      "Further variables of a real task, such as SEED=1.",
	"graft/cluster/node/world.Task.Estimate": "Estimate of the duration, for schedulers. Zero means the duration.",
	"graft/cluster/node/world.Task.Flow": "User or queue to which fair queueing gives a share. Empty means a flow of " +
		"its own.",
	"graft/cluster/node/world.Task.Folder": "Working folder of a real task. Empty means that of the command.",
	"graft/cluster/node/world.Task.Kind":   "Row in tables of measured pairs. Empty means the name.",
	"graft/cluster/node/world.Task.MainMemory": "Limits the main memory of a real task, MiB, where its processes " +
		"have a cgroup. Zero means no limit.",
	"graft/cluster/node/world.Task.Memory":   "Memory of a GPU, MiB. Default 0.",
	"graft/cluster/node/world.Task.Name":     "Unique name. Empty means task and its place.",
	"graft/cluster/node/world.Task.Priority": "Priority: larger ones are first. Default 0.",
	"graft/cluster/node/world.Task.Retries": "Maximum number of times that a real task runs again after a failure. " +
		"Default 0.",
	"graft/cluster/node/world.Task.Tickets": "Tickets in lotteries and stride scheduling. Default 1.",
	"graft/cluster/node/world.Task.Timeout": "Running time after which a real task is ended. Zero means no limit.",
	"graft/cluster/node/world.Task.Weight":  "Weight of its flow in fair queueing. Default 1.",
	"graft/cluster/node/world.Tasks.EstimateError": "Relative error of the estimates of durations that schedulers " +
		"have, drawn evenly in ± of it, from 0 to below 1. Default 0.",
	"graft/cluster/node/world.Tasks.Interval": "Mean time between arrivals of a Poisson process. Zero lets all " +
		"generated tasks arrive at the beginning.",
	"graft/cluster/node/world.Tasks.Least":           "Minimum number of tasks of a generated workload. Default 40.",
	"graft/cluster/node/world.Tasks.Most":            "Maximum number of tasks of a workload. Default 50.",
	"graft/cluster/node/world.Tasks.Seed":            "Seed of what is drawn. Default 1.",
	"graft/cluster/node/world.Tasks.TestCount":       "Workloads on which schedulers are compared. Default 20.",
	"graft/cluster/node/world.Tasks.TrainCount":      "Workloads to learn from. Default 100.",
	"graft/cluster/node/world.Tasks.Unit":            "Unit of the durations of generated tasks. Default 1s.",
	"graft/cluster/node/world.Tasks.ValidationCount": "Workloads that choose the best of what is learned. Default 20.",
	"graft/cluster/rigid.File.Cluster": "Nodes of the cluster and the part of the trace " +
		"that is simulated.",
	"graft/cluster/rigid.File.Run":      "Run folder.",
	"graft/cluster/rigid.File.Schedule": "Schedulers and their estimates.",
	"graft/cluster/rigid.File.Workload": "Traces of clusters, as 'graft trace info' reads them.",
	"graft/cluster/rigid.Options.CPUs": "The number of processors of a node, of which jobs get as many as they ask " +
		"for, divided among their GPUs. Zero does not count processors.",
	"graft/cluster/rigid.Options.Compat": "Reproduces the faults of another simulator: lucid has the results of " +
		"Lucid's, none corrects its errors. Empty means none.",
	"graft/cluster/rigid.Options.Data": "A folder with files about a cluster: vc_config.csv, the virtual clusters " +
		"and their nodes; *_lgb.csv and *_ebm*.csv, estimated durations of jobs; single_data.csv and " +
		"colocate_info.csv, profiles of models; *throughput_pred.csv, forecast submissions. Empty where nodes names " +
		"the first and no other is needed.",
	"graft/cluster/rigid.Options.Format": "The trace's, one of those that 'graft trace convert --help' lists. Empty " +
		"recognises it by its first lines.",
	"graft/cluster/rigid.Options.From": "First second of the trace; zero means its start, or with compat lucid that " +
		"of the month in Lucid's experiment.",
	"graft/cluster/rigid.Options.Memory": "The MiB of a node's memory, of which jobs get as much as they ask for, " +
		"divided among their GPUs. Zero does not count memory.",
	"graft/cluster/rigid.Options.Nodes": "A file of the virtual clusters and their nodes, or the number of nodes of " +
		"a single one for all jobs. Empty means vc_config.csv in data.",
	"graft/cluster/rigid.Options.PerNode": "The number of GPUs of a node, at most 64. Zero means 8.",
	"graft/cluster/rigid.Options.Placement": "Selects nodes: consolidate takes as few as possible, consolidate-first " +
		"does so too and spreads jobs where that is impossible, random takes free GPUs in any order. Empty means " +
		"consolidate.",
	"graft/cluster/rigid.Options.To": "Last second of the trace; zero means its end, or with compat lucid that of " +
		"the month in Lucid's experiment.",
	"graft/cluster/rigid.Options.UsageEvery": "The time in seconds between two rows of the tables of usage. Zero " +
		"writes none.",
	"graft/cluster/rigid.Options.WholeGPUs": "Gives a job that asks for a part of one GPU all of it. False gives it " +
		"the part, so that other jobs can have the rest.",
	"graft/cluster/rigid.Schedule.ArrivalFactors": "Factors by which jobs arrive faster than in the trace, each a " +
		"point of the study. Empty means 1.",
	"graft/cluster/rigid.Schedule.Estimates": "The expected durations of jobs: lgb or ebm are files in data, exact " +
		"is the true duration (an oracle), any other text is the path of a file. Empty means ebm for Lucid and lgb " +
		"for the others that need estimates.",
	"graft/cluster/schedulers.Options.Lucid": "How lucid profiles jobs.",
	"graft/cluster/study.RunOptions.Folder":  "Path of the run folder. Empty lets the command choose.",
	"graft/cluster/study.Schedule.Ablate": "Simulates each quirk of an original alone, and reports its effect. " +
		"Default false.",
	"graft/cluster/study.Schedule.Against": "Baseline of differences. Empty means the first scheduler, or the usual " +
		"baseline of the world.",
	"graft/cluster/study.Schedule.Schedulers": "Names of schedulers to compare, as 'graft list schedulers' lists " +
		"them; learned ones are paths of run folders of 'graft learn', or of files of their policies. Empty means " +
		"the usual ones of the world.",
	"graft/cluster/study.Schedule.Seed": "First seed of schedulers that draw random numbers.",
	"graft/cluster/study.Schedule.Seeds": "Simulations under each scheduler that draws, with successive seeds. Zero " +
		"means 1.",
	"graft/cluster/study.Schedule.Workers": "Simulations in parallel. Zero means one per processor.",
	"graft/cluster/study.Workload.Traces": "Files of jobs, each a workload of its own, in the formats that the world " +
		"reads.",
	"graft/config.AdaptOptions.Actions": "Lists the actions of the deciders fixed, which takes one, and script, and " +
		"the choices of random, of trials and of a structural policy, as far as they fit: such as deepen:0, " +
		"widen:conv2:48 or none. Empty where the last two choose by kinds, and for none.",
	"graft/config.AdaptOptions.Decider": "Chooses the actions: fixed takes its action each time, script its actions " +
		"one after the other, random any that fits, trials the one of those that fit whose validation loss is the " +
		"lowest after some steps of training, policy those of a learned policy, none takes none. Empty means none.",
	"graft/config.AdaptOptions.Kinds": "The operations that random draws from, or a structural policy weighs, where " +
		"there are no actions. Empty means deepen and widen for random, and for a policy what it learned to judge, " +
		"on the kinds of layers that it learned from.",
	"graft/config.AdaptOptions.Policy": "The path of a learned policy: the file of a structural one or a folder with " +
		"its policy.safetensors, or the weights of one of the original's or their folder. Empty for the other " +
		"deciders.",
	"graft/config.AdaptOptions.Sample": "Whether the policy draws its actions; false takes the likeliest.",
	"graft/config.AdaptOptions.TrialSteps": "The number of steps for which the decider trials trains a copy of the " +
		"network with each of its choices; zero means 32.",
	"graft/config.AdaptOptions.Vocab": "The path of the vocabulary that a policy of the original's learned with, a " +
		"folder or a file. Empty for a structural policy and for the other deciders.",
	"graft/config.CompareOptions.Actions": "The choices of every decision for the arms random and best fixed, such " +
		"as deepen:0 and none. Empty takes kinds.",
	"graft/config.CompareOptions.Arms": "Run beside the job as it is configured: never (no adaptation), small from " +
		"scratch (the same with fresh weights, for a job that begins with trained ones), final from scratch (the " +
		"network with which the job of the same seed ended, trained anew for the whole budget), random (any action " +
		"that fits), best fixed (the sequence of actions with the highest validation accuracy on other seeds). Empty " +
		"means all that apply.",
	"graft/config.CompareOptions.Kinds": "Operations whose fitting actions, and none, are the choices. Empty, where " +
		"there are no actions, means deepen and widen.",
	"graft/config.CompareOptions.MaxSequences": "Sequences that the arm best fixed tries; of more it takes so many, " +
		"evenly spread; zero means 64.",
	"graft/config.CompareOptions.Seeds": "Trials of each arm, with run.seed and the seeds after it; zero means 10.",
	"graft/config.CompareOptions.SelectionSeeds": "The number of trials of each sequence for the arm best fixed, " +
		"with the seeds after those of the arms. Zero means 3.",
	"graft/config.FleetOptions.Account": "The account that Slurm charges. Empty means its default.",
	"graft/config.FleetOptions.CPUs": "The number of processors of each worker. Zero divides this machine's among " +
		"local workers, and means the cluster's default elsewhere.",
	"graft/config.FleetOptions.Claim": "The persistent volume claim of the run folder and the cache, for the engine " +
		"kubernetes; required there, empty for the others.",
	"graft/config.FleetOptions.Constraint": "A feature that Slurm's nodes must have, such as a100. Empty means none.",
	"graft/config.FleetOptions.Devices": "The devices of local workers, assigned in turn, such as cuda:0 and cuda:1; " +
		"several workers may share one. Empty means run.device.",
	"graft/config.FleetOptions.Engine": "Starts the workers: local on this machine, slurm as jobs of a Slurm " +
		"cluster, kubernetes from a manifest that is applied to a cluster. Empty means local.",
	"graft/config.FleetOptions.Extra": "Options of sbatch that have no key here, as --name=value; those that graft " +
		"sets are errors. Empty means none.",
	"graft/config.FleetOptions.Fit": "Finds the number of local workers on each device by trying: 1, 2, 4, … train " +
		"the largest network of the scenario side by side for two seconds, and the number with the highest " +
		"throughput within nine tenths of the memory is kept. False takes workers.",
	"graft/config.FleetOptions.GPUs": "The number of CUDA devices of each worker, for engines other than local; it " +
		"trains on the first, with run.device cuda. Zero means none.",
	"graft/config.FleetOptions.Gres": "Slurm's generic resource of a worker, such as gpu:a100:1, in place of gpus. " +
		"Empty means gpus.",
	"graft/config.FleetOptions.Image": "The container image for the engine kubernetes, with graft on its path; " +
		"required there, empty for the others.",
	"graft/config.FleetOptions.Lead": "The time before the time limit at which Slurm signals a worker to save its " +
		"work. Zero means a minute, or half of time where that is less.",
	"graft/config.FleetOptions.MemoryMB": "The memory of each worker in MiB, for engines other than local. Zero " +
		"means the cluster's default.",
	"graft/config.FleetOptions.Mount": "The absolute path at which the claim is mounted. Empty means the parent of " +
		"the run folder.",
	"graft/config.FleetOptions.Namespace": "The namespace of the engine kubernetes. Empty means the default one of " +
		"whoever applies the manifest.",
	"graft/config.FleetOptions.Partition": "Slurm's partition, as 'sinfo -s' lists them. Empty means its default.",
	"graft/config.FleetOptions.QOS":       "Slurm's quality of service. Empty means its default.",
	"graft/config.FleetOptions.Threads": "The number of LibTorch's threads in each worker. Zero means one for each " +
		"of the worker's processors: see cpus.",
	"graft/config.FleetOptions.Time": "The time limit of a worker, for engines other than local; it is started again " +
		"while sequences are left. Slurm rounds it up to minutes. Zero means the cluster's default.",
	"graft/config.FleetOptions.Workers": "The number of parallel workers. Zero means one for each device, or " +
		"processor, of this machine, and 4 with the other engines.",
	"graft/config.Job.Adapt":   "Decider, and when and how the network changes; empty means never.",
	"graft/config.Job.Data":    "Dataset; empty means synthetic images.",
	"graft/config.Job.Network": "Network to train, and its initial weights.",
	"graft/config.Job.Run":     "Seed, device and output.",
	"graft/config.Job.Time":    "Budget, clock and changes of devices.",
	"graft/config.Job.Train": "Holds the options of training. Its tables stand beside it: optimizer, schedule, " +
		"augment, distill, checkpoint and parallel.",
	"graft/config.NetworkOptions.Classes": "The number of classes that the last linear layer tells apart. Zero means " +
		"those of the data for a network of the zoo, and the file's own for one of a file.",
	"graft/config.NetworkOptions.File": "Path of a network file, in place of a name; empty means none.",
	"graft/config.NetworkOptions.Fresh": "Draws parameters from run.seed in spite of weights, and takes from it only " +
		"what nothing says how to draw: buffers and constants of an imported network. False takes all weights.",
	"graft/config.NetworkOptions.Name": "Name of a network of the zoo, as graft model list prints it; empty means " +
		"ConvSmall where no file is given.",
	"graft/config.NetworkOptions.ResetEpochs": "Starts with epoch zero and the first learning rate in spite of " +
		"runtimes, as the original did. False continues with both.",
	"graft/config.NetworkOptions.Runtimes": "The original's file of epoch times of the weights. The job continues " +
		"with the next epoch and its learning rate, at the time of the budget at which the last epoch ended, unless " +
		"time.start is given. Empty means the file in the folder that weights names, or none.",
	"graft/config.NetworkOptions.Weights": "A file of initial weights, .pth or .safetensors, or a results folder of " +
		"the original's, from which the job continues. {seed} in the name of the file stands for run.seed: each seed " +
		"of a comparison then begins with its own file. Empty draws random weights.",
	"graft/config.Pipeline.Evaluate": "Evaluation of the policies.",
	"graft/config.Pipeline.Learn":    "Options of the learner.",
	"graft/config.Pipeline.Pipeline": "Scenarios to simulate, and the output.",
	"graft/config.Pipeline.Policy":   "Size of a policy.",
	"graft/config.Pipeline.Run":      "Seeds and checkpoints of the policies.",
	"graft/config.PipelineEvaluate.LeaveOut": "Selects the cross-validation: scenario holds out one scenario at a " +
		"time, network, dataset and budget all scenarios of one network, dataset or budget, none evaluates the " +
		"policies on their training tables only. Empty means none.",
	"graft/config.PipelineOptions.Cache": "Folder of outcomes; empty means what each scenario says, or the folder " +
		"cache beside the others.",
	"graft/config.PipelineOptions.Folder": "Path of the results: a folder for each scenario and one for the " +
		"policies; empty lets the command choose.",
	"graft/config.PipelineOptions.Scenarios": "Paths of scenario files, whose tables policies learn from; required.",
	"graft/config.PipelineOptions.Set": "Assignments to keys of all scenarios, such as run.device=\"cuda:0\"; empty " +
		"changes none.",
	"graft/config.RunOptions.Device": "Device of all tensors: cpu or cuda:N; empty means cpu.",
	"graft/config.RunOptions.Folder": "Path of the run folder; empty lets the command choose.",
	"graft/config.RunOptions.Instructions": "The vector instructions of the CPU: native, the processor's fastest, " +
		"with which unlike processors round otherwise; or avx2, whose results are the same on every processor that " +
		"has AVX2. Empty means native.",
	"graft/config.RunOptions.Listen": "The address of the HTTP server that shows and steers the running job, such as " +
		"127.0.0.1:0, where port 0 picks a free one; empty means no server.",
	"graft/config.RunOptions.Seed": "Seed of all random numbers but the data's; default 1, and 0 is a seed like any " +
		"other.",
	"graft/config.RunOptions.Tensorboard": "Whether event files for TensorBoard are written beside the tables; false " +
		"writes none.",
	"graft/config.RunOptions.Threads": "Threads of LibTorch; zero finds the fastest number by trying, up to one for " +
		"each processor, where results do not depend on it.",
	"graft/config.SimulateOptions.Actions": "The choices of every decision, in order, such as deepen:0, " +
		"widen:conv2:48 and none; one that does not fit a network is left out there. Empty takes kinds.",
	"graft/config.SimulateOptions.Cache": "The folder of outcomes, shared by all scenarios; empty means the folder " +
		"cache beside the run folder.",
	"graft/config.SimulateOptions.Decisions": "Decisions of a sequence, after which the network stays as it is; zero " +
		"means all that the timeline leads to.",
	"graft/config.SimulateOptions.Design": "Selects the sequences: all runs every one; sample spreads a number of " +
		"them evenly over all choices; halve drops the branches with the lowest accuracy at each decision; likely " +
		"runs those that a policy finds likeliest. Empty means all.",
	"graft/config.SimulateOptions.Keep": "Share of the branches that halve keeps at each decision; zero means 0.5.",
	"graft/config.SimulateOptions.Kinds": "Operations: every decision tries all their actions that fit the network " +
		"there, and none at last. Empty, where there are no actions, means deepen and widen.",
	"graft/config.SimulateOptions.MaxSequences": "Upper bound on the number of sequences; sample and likely run so " +
		"many of more, and for all it is an error; zero means 10000.",
	"graft/config.SimulateOptions.Name":   "Name of the scenario in tables and reports; empty means the file's.",
	"graft/config.SimulateOptions.Policy": "Path of the structural policy of the design likely; empty for the others.",
	"graft/config.SimulateOptions.Seeds":  "Runs of each sequence, with run.seed and the seeds after it; zero means 1.",
	"graft/config.SimulateOptions.Tries":  "Attempts at a sequence before it is left out; zero means 2.",
	"graft/config.Simulation.Fleet": "Workers that run the sequences, and their resources; no " +
		"outcome depends on it.",
	"graft/config.Simulation.Simulate": "Sequences of actions to run.",
	"graft/config.Sweep.Compare":       "Arms of a comparison; other commands do not read it.",
	"graft/config.Sweep.Fleet": "Workers that run the trials, and their resources; no " +
		"outcome depends on it.",
	"graft/config.TimeOptions.Clock": "Clock that the budget counts on: virtual charges work by a profile, wall is " +
		"the machine's; empty means virtual.",
	"graft/config.TimeOptions.EventsFile": "A file of events in place of a list: CSV with the columns seconds, " +
		"change and devices. Empty means none.",
	"graft/config.TimeOptions.Profile": "Name or file of the profile that the virtual clock charges work by; empty " +
		"means steady there.",
	"graft/config.TreeLearning.Learn":  "Options of the learner.",
	"graft/config.TreeLearning.Policy": "Size of a policy.",
	"graft/config.TreeLearning.Run":    "Seeds and output.",
	"graft/config.TreeLearning.Tables": "Training and validation tables.",
	"graft/config.TreeLearningOptions.For": "Selects the defaults of the keys of this section: known learns the best " +
		"sequence of each scenario of the tables; new averages noise out and keeps policies from being too certain, " +
		"for scenarios that have no table. Empty means known.",
	"graft/config.TreeLearningTables.Folders": "Folders of the training tables, graft's or the original's; required.",
	"graft/config.TreeLearningTables.HeldOut": "Folders of validation tables, for early stopping; empty stops where " +
		"the training objective stops improving.",
	"graft/dataset.Options.Context": "The number of tokens in a window of a text, whose windows follow each other " +
		"without a gap, or of each text of a table, where shorter ones are filled up and longer ones are cut. Zero " +
		"means 64.",
	"graft/dataset.Options.Deviation": "The divisor of each channel, given like mean; none is zero. Empty means the " +
		"deviation of the training images.",
	"graft/dataset.Options.Kind":        "Kind of the dataset; empty means synthetic.",
	"graft/dataset.Options.LabelColumn": "The name of a table's column of labels. Empty means label.",
	"graft/dataset.Options.LabelEach": "Says what has a label in a table: \"text\", each text; or \"word\", each of " +
		"its words, with spaces between words and between labels, where -100 is none. Empty means text.",
	"graft/dataset.Options.Limit": "Maximum of training images, over all classes; zero means all.",
	"graft/dataset.Options.Mean": "Subtracted from each channel before the division by deviation, pixels being from " +
		"0 to 1: a value for each channel, or one for all. Empty means the mean of the training images.",
	"graft/dataset.Options.Path": "The path of the files: a folder, or the published archive of CIFAR. The synthetic " +
		"kind has none, all others need one.",
	"graft/dataset.Options.Seed": "Seed of the splits and of synthetic images; zero is a seed like any other.",
	"graft/dataset.Options.Size": "Height and width in pixels to which images of a folder or of shards are resized; " +
		"zero means 32.",
	"graft/dataset.Options.Stream": "Reads images of a folder or of shards when they are needed, for more than fit " +
		"into memory; the mean and the deviation are then those of 1,000 images. False keeps all in memory.",
	"graft/dataset.Options.Synthetic": "Options of synthetic images.",
	"graft/dataset.Options.TestAsValidation": "Uses the test images for validation, as the original does, and trains " +
		"on all others. The final test accuracy is then too optimistic. False keeps them apart.",
	"graft/dataset.Options.TextColumn": "The name of a table's column of texts. Empty means text.",
	"graft/dataset.Options.Tokens": "Says what a token of a text is: \"bytes\", of which there are 256; \"bpe\", " +
		"byte pairs of a vocabulary; or \"characters\", those that occur in the text, in the order of their code " +
		"points. Empty means bytes.",
	"graft/dataset.Options.TurboJPEG": "Decodes JPEG files of a folder or of shards by libjpeg-turbo, which is " +
		"several times as fast as Go's decoder and must be installed (libturbojpeg0 in Debian). Pixels differ from " +
		"Go's by a few levels, so results differ too; CMYK files are decoded by Go. False decodes all in Go.",
	"graft/dataset.Options.ValidationShare": "The share of the training images that is held out for validation, " +
		"between 0 and 1, equal in each class and drawn by the seed. Digits, and a folder without a test folder, " +
		"hold out as many for the test. Zero means 0.1.",
	"graft/dataset.Options.Vocabulary": "The file of byte pairs for the tokens \"bpe\": a tokenizer.json of Hugging " +
		"Face's, or GPT-2's vocab.json with merges.txt beside it. Empty means none.",
	"graft/dataset.SyntheticOptions.Channels": "Channels of an image, 1 for grey and 3 for colour; zero means 3.",
	"graft/dataset.SyntheticOptions.Classes":  "Number of classes, from 2 to 100; zero means 10.",
	"graft/dataset.SyntheticOptions.Noise": "The largest change of a pixel, in 255ths: more is " +
		"harder. Zero means 40.",
	"graft/dataset.SyntheticOptions.Size": "Height and width in pixels, from 16 on; zero means 32.",
	"graft/dataset.SyntheticOptions.Test": "Test images; zero means 2,000.",
	"graft/dataset.SyntheticOptions.Textures": "Says that classes differ in their textures first and then in their " +
		"shapes, which small networks learn sooner; false is shapes first.",
	"graft/dataset.SyntheticOptions.Train": "Training images, including those held out for validation; zero means " +
		"10,000.",
	"graft/decider.StructuralShape.Hidden": "Values of an encoding and of each hidden layer; zero means 32.",
	"graft/decider.StructuralShape.Rounds": "Of the graph encoder; zero means 2.",
	"graft/learn.RunOptions.Checkpoint":    "Wall-clock time between two checkpoints of a policy; zero means 30 s.",
	"graft/learn.RunOptions.Every":         "Steps between two rows of the table; zero means 10.",
	"graft/learn.RunOptions.Folder":        "Path of the run folder; empty lets the command choose.",
	"graft/learn.RunOptions.Seed":          "Seed of the first policy; the others have the seeds after it; default 1.",
	"graft/learn.RunOptions.Seeds": "Policies that learn, from 1 to 1,024; those of tables vote together in the end, " +
		"of schedulers the best is kept; zero means 5.",
	"graft/learn.RunOptions.Tensorboard": "Whether event files for TensorBoard are written beside the tables; false " +
		"writes none.",
	"graft/learn.RunOptions.Workers": "Policies that learn in parallel, each on a thread; zero means one for each " +
		"processor.",
	"graft/learn/candidates.Options.Actions": "Actions in each of them in a round, where the baseline is not " +
		"workload, which plays to the end; zero means 2048.",
	"graft/learn/candidates.Options.Baseline": "Selects the comparison of PPO for the rewards after an action: " +
		"workload takes those of other episodes of the same workload, critic those that a network expects. Empty " +
		"means workload.",
	"graft/learn/candidates.Options.Batch": "Actions in a gradient; zero means 256.",
	"graft/learn/candidates.Options.Clip": "How far PPO may change the probability of an action in a round; zero " +
		"means 0.2.",
	"graft/learn/candidates.Options.Compute": "Selects the code that computes gradients: go has the same bits on " +
		"every processor, libtorch is several times as fast, the more the wider the layers. Empty means go.",
	"graft/learn/candidates.Options.Entropy": "Weight of the entropy of decisions; zero means 0.003.",
	"graft/learn/candidates.Options.Envs":    "Episodes that are played at once in a round; zero means 8.",
	"graft/learn/candidates.Options.Epochs":  "Passes over the actions of a round; zero means 2.",
	"graft/learn/candidates.Options.Every":   "Lessons or rounds between validations; zero means 5.",
	"graft/learn/candidates.Options.Gamma":   "Discount of a slot; zero means 0.99.",
	"graft/learn/candidates.Options.Hidden":  "Width of the layers of the agent; zero means 32.",
	"graft/learn/candidates.Options.Lambda": "Weight of what follows an action against its estimate, as in " +
		"generalised advantages; zero means 0.99.",
	"graft/learn/candidates.Options.LessonRate": "Adam's learning rate of imitation; zero means 0.001.",
	"graft/learn/candidates.Options.Lessons":    "Workloads that are played to imitate the teacher; zero means 20.",
	"graft/learn/candidates.Options.Method":     "What improves the agent then; none only imitates; empty means ppo.",
	"graft/learn/candidates.Options.Patience": "Validations of rounds without a better one after which learning " +
		"ends; zero means 2.",
	"graft/learn/candidates.Options.Rate":   "Adam's learning rate in them; zero means 0.0003.",
	"graft/learn/candidates.Options.Rounds": "Rounds of it, at most; zero means 40.",
	"graft/learn/candidates.Options.Slots":  "Slots after which a workload is cut; zero means 2000.",
	"graft/learn/candidates.Options.Teacher": "Scheduler to imitate first; best imitates on each workload the one " +
		"with the smallest mean time to completion, none nobody; empty means best.",
	"graft/net2net.Options.Compat": "Deepens as the original did, faults included, with or without a batch " +
		"normalisation. Empty, the default, does not.",
	"graft/net2net.Options.Equal": "Gives the copies of a graph's axis equal shares, as Net2Net does: such copies " +
		"stay equal in training. By default shares differ a little; both keep the function.",
	"graft/net2net.Options.Form": "Selects how deepening keeps the function: by an identity layer, or by a residual " +
		"branch that begins at zero. Empty means the first if it is possible. A graph's new blocks begin at zero, or " +
		"with pairs of units that cancel (opposite), or are plain copies, which change the function (stacked).",
	"graft/net2net.Options.Noise": "Breaks the symmetry between copies: each copied row gets normal noise of this " +
		"size, relative to the root mean square of its tensor. Zero, the default, keeps the function exactly.",
	"graft/original/dl2.Options.Agents": "Agents that learn together, each in its own workloads; zero means 1.",
	"graft/original/dl2.Options.Asynchronous": "Applies each agent's gradient on its own (A3C), where all are " +
		"averaged otherwise. Agents take turns in a fixed order, so a seed gives the same bits.",
	"graft/original/dl2.Options.Optimizer":       "Of both networks; empty means adam.",
	"graft/original/dl2.Options.Reinforced":      "Reinforcement learning.",
	"graft/original/dl2.Options.Replay":          "Memories of agents.",
	"graft/original/dl2.Options.Shape":           "What the policy sees and does, and its networks.",
	"graft/original/dl2.Options.Supervised":      "Learning by imitation, which comes first.",
	"graft/original/dl2.Options.Validation":      "Validation.",
	"graft/original/dl2.Options.Workloads":       "What agents learn from.",
	"graft/original/dl2.ReinforcedOptions.Batch": "Transitions of all agents in an update; zero means 256.",
	"graft/original/dl2.ReinforcedOptions.Entropy": "The weight of the negative entropy in the loss; zero means 0.1, " +
		"negative none.",
	"graft/original/dl2.ReinforcedOptions.EpsilonGreedy": "Draws an action evenly at times, less and less.",
	"graft/original/dl2.ReinforcedOptions.Every":         "Slots from an update to the next; zero means 1.",
	"graft/original/dl2.ReinforcedOptions.NoBalance": "Leaves out the rule that grows a job with far fewer tasks " +
		"than another.",
	"graft/original/dl2.ReinforcedOptions.NoCritic": "Advantages are relative to the mean reward in place of a " +
		"network's value.",
	"graft/original/dl2.ReinforcedOptions.NoInjection": "The environment replaces no actions by rules.",
	"graft/original/dl2.ReinforcedOptions.NoMean": "The mean reward plays no role; without critic, rewards are taken " +
		"as they are.",
	"graft/original/dl2.ReinforcedOptions.Rate": "Learning rate; zero means 0.0001.",
	"graft/original/dl2.ReinforcedOptions.Reward": "Of actions: progress is the share of their epochs that all jobs " +
		"do in the slot, job that of the action's job, unfinished the number of unfinished jobs, which the original " +
		"does not negate, and discounted that of the slot for its last action, discounted by 0.99 for each action " +
		"before. Empty means progress.",
	"graft/original/dl2.ReinforcedOptions.SameEpsilon": "All agents explore alike; false keeps later agents at it " +
		"for longer.",
	"graft/original/dl2.ReinforcedOptions.Steps": "Updates; zero means 6000, negative none.",
	"graft/original/dl2.ReplayOptions.Capacity":  "Transitions; zero means 8192.",
	"graft/original/dl2.ReplayOptions.Even": "Reinforcement learning draws evenly; false draws by priority. " +
		"Imitation always draws evenly.",
	"graft/original/dl2.ReplayOptions.EvictLeast": "A new transition replaces that with the smallest priority; false " +
		"the oldest one.",
	"graft/original/dl2.ReplayOptions.Fill": "Transitions of a slot that are kept, drawn at " +
		"random; zero means all.",
	"graft/original/dl2.ReplayOptions.NoSort":   "A new transition has the largest priority; false that of its reward.",
	"graft/original/dl2.ShapeOptions.FirstTanh": "The first layer has tanh in place of ReLU.",
	"graft/original/dl2.ShapeOptions.Front": "Layers before the hidden ones: jobs has one for each job, attributes " +
		"one for each row of the window; empty means none.",
	"graft/original/dl2.ShapeOptions.Layers":  "Hidden layers; zero means 1.",
	"graft/original/dl2.ShapeOptions.Neurons": "Of a hidden layer; zero means as many as the state has values.",
	"graft/original/dl2.ShapeOptions.NoAffine": "Leaves out the shift and factor behind each ReLU. The original " +
		"calls them a batch normalization, but they have no statistics.",
	"graft/original/dl2.ShapeOptions.NoStart": "No job gets a worker and a server before the " +
		"policy acts in a slot.",
	"graft/original/dl2.ShapeOptions.Shortcut":       "Outputs of a job see its first layer too; it needs front jobs.",
	"graft/original/dl2.SupervisedOptions.Batch":     "Samples of all agents in an update; zero means 256.",
	"graft/original/dl2.SupervisedOptions.Loss":      "Of imitation; empty means Cross_Entropy.",
	"graft/original/dl2.SupervisedOptions.NoShuffle": "Keeps jobs in their columns; false puts them in random ones.",
	"graft/original/dl2.SupervisedOptions.Rate":      "Learning rate; zero means 0.005.",
	"graft/original/dl2.SupervisedOptions.Steps":     "Updates; zero means 200, negative none.",
	"graft/original/dl2.SupervisedOptions.Teacher": "Scheduler that is imitated, such as drf or optimus; empty means " +
		"drf.",
	"graft/original/dl2.ValidationOptions.Every": "Updates of reinforcement learning from a validation to the next, " +
		"a quarter in imitation; zero means 200, negative validates only on request.",
	"graft/original/dl2.ValidationOptions.Likeliest": "Takes the likeliest action; false draws.",
	"graft/original/dl2.WorkloadOptions.Count":       "Workloads that it draws and repeats; zero means 100.",
	"graft/original/dl2.WorkloadOptions.FirstTypes":  "Job types at first; zero means all.",
	"graft/original/dl2.WorkloadOptions.MostSlots":   "Slots after which an episode is cut; zero means 1000.",
	"graft/original/dl2.WorkloadOptions.TypesEvery": "Updates after which there is another type; zero means 500, it " +
		"needs first_types.",
	"graft/original/dl2/learning.File.DL2":       "Options of the learner where elastic.compat is dl2.",
	"graft/original/dl2/learning.File.Elastic":   "Cluster and speeds.",
	"graft/original/dl2/learning.File.Learn":     "Options of the learner.",
	"graft/original/dl2/learning.File.Run":       "Seeds and output.",
	"graft/original/dl2/learning.File.Schedule":  "Schedulers that 'graft evaluate' compares with.",
	"graft/original/dl2/learning.File.Workload":  "At most one trace, whose settings are those of generated workloads.",
	"graft/original/dl2/learning.File.Workloads": "To learn from, to stop by and to compare on.",
	"graft/original/dl2/learning.WorkloadOptions.Arrivals": "Of generated workloads: uniform, poisson, pattern, " +
		"which repeats the numbers of jobs in the slots of pattern from a random slot on, or trace, which does so " +
		"with those of workload.traces; with from it is submission. Empty means poisson, or submission with from.",
	"graft/original/dl2/learning.WorkloadOptions.EpochError": "Relative error of what schedulers know of epochs, " +
		"from 0 to below 1; zero means none.",
	"graft/original/dl2/learning.WorkloadOptions.Epochs": "Of a job whose type has length 1; zero means 30,000, or " +
		"with from that jobs keep their work.",
	"graft/original/dl2/learning.WorkloadOptions.From": "The trace of a cluster, of any format that 'graft trace' " +
		"reads. Its jobs with GPUs are divided in the order of submission: workloads to learn from, then those of " +
		"validation, then those of the test. Jobs submitted within a slot after the last one of learning or " +
		"validation are left out, as are those after the test. Empty divides none.",
	"graft/original/dl2/learning.WorkloadOptions.Jitter": "Varies the epochs of jobs of one type by up to a tenth; " +
		"false keeps them equal. With from it must be false.",
	"graft/original/dl2/learning.WorkloadOptions.Jobs": "Of a workload that no file holds; zero means 60.",
	"graft/original/dl2/learning.WorkloadOptions.Pattern": "Jobs that arrive in each slot, for arrivals of that " +
		"name; numbers above rate are cut to it.",
	"graft/original/dl2/learning.WorkloadOptions.Rate": "Jobs that arrive in a slot, at most; zero means 3. With " +
		"from it must be zero.",
	"graft/original/dl2/learning.WorkloadOptions.Seed": "Of what is drawn; default 1.",
	"graft/original/dl2/learning.WorkloadOptions.Test": "Files of traces on which 'graft evaluate' compares " +
		"schedulers; empty generates workloads.",
	"graft/original/dl2/learning.WorkloadOptions.TestCount": "Workloads to compare on, where no files are; zero " +
		"means 10.",
	"graft/original/dl2/learning.WorkloadOptions.Train": "Files of traces to learn from, as in workload.traces; " +
		"empty generates workloads.",
	"graft/original/dl2/learning.WorkloadOptions.TrainCount": "Workloads to learn from, where no files are; zero " +
		"means 40.",
	"graft/original/dl2/learning.WorkloadOptions.Validation": "Files of traces that choose the best of what is " +
		"learned; empty generates workloads.",
	"graft/original/dl2/learning.WorkloadOptions.ValidationCount": "Workloads of validation, where no files are; " +
		"zero means 8.",
	"graft/original/learn.Options.Baseline": "Share of each reward in the running mean that is subtracted from " +
		"rewards; zero means no baseline.",
	"graft/original/learn.Options.Batch": "Episodes for each step; zero means 1.",
	"graft/original/learn.Options.Entropy": "Weight of the entropy of each decision beside its reward; zero means " +
		"none.",
	"graft/original/learn.Options.Episodes": "In all; with the rule exact a step counts as one; zero means 10,000.",
	"graft/original/learn.Options.LR":       "Adam's rate; zero means 0.0001.",
	"graft/original/learn.Options.LRDecay":  "Factor of the rate at each decay; zero means 0.99.",
	"graft/original/learn.Options.LREvery":  "Episodes between decays of the rate; zero means 500.",
	"graft/original/learn.Options.LRLeast":  "Rate at which decays end; zero means 1e-9.",
	"graft/original/learn.Options.Reward":   "Empty means tangent.",
	"graft/original/learn.Options.Rule":     "Empty means reinforce.",
	"graft/original/learn.Options.Temperature": "Above 1 makes actions more equally likely while a policy learns: " +
		"they have the softmax of the policy's probabilities, and not of its logits, over it. Zero means 1.",
	"graft/original/learn.Options.TemperatureDecay": "Factor of the temperature at each decay, down to 1; zero means " +
		"0.9.",
	"graft/original/learn.Options.TemperatureEvery": "Episodes between decays of the temperature; zero means 1.",
	"graft/original/learn.PolicyOptions.Hidden": "Units of each direction of the biLSTM over " +
		"layers; zero means 50.",
	"graft/original/learn.PolicyOptions.Linear":  "Values between the linear layers; zero means 128.",
	"graft/original/learn.PolicyOptions.Memory":  "Units of the LSTM after it; zero means 16.",
	"graft/original/learn.PolicyOptions.Precise": "Computes in float64; false is float32, as the original.",
	"graft/original/learn.PolicyOptions.Time":    "Values of the encoding of the time left; zero means 8.",
	"graft/original/policyfile.File.Learn":       "Options of the learner.",
	"graft/original/policyfile.File.Policy":      "Sizes of the policy, and its initial weights.",
	"graft/original/policyfile.File.Run":         "Seed and output.",
	"graft/original/policyfile.File.Table":       "Training table.",
	"graft/original/policyfile.PolicyOptions.Embedding": "Size of a token's vector in the vocabulary; zero does not " +
		"check it.",
	"graft/original/policyfile.PolicyOptions.Weights": "File of initial weights, .pth or .safetensors, whose " +
		"embedding is ignored; empty draws random ones.",
	"graft/original/policyfile.RunOptions.Checkpoint": "Wall-clock time between checkpoints; zero means 30 s.",
	"graft/original/policyfile.RunOptions.Every":      "Episodes in a row of the table; zero means 100.",
	"graft/original/policyfile.RunOptions.Folder":     "Path of the run folder; empty lets the command choose.",
	"graft/original/policyfile.RunOptions.Seed":       "Seed of the initial parameters and of all actions; default 1.",
	"graft/original/policyfile.RunOptions.Tensorboard": "Whether event files for TensorBoard are written beside the " +
		"tables; false writes none.",
	"graft/original/policyfile.TableOptions.Actions": "The actions that the numbers of a single data.pkl stand for; " +
		"empty means to deepen each marked block, and at last none. A folder lists its own.",
	"graft/original/policyfile.TableOptions.Compat": "Compatibility of the surgery, which decides what the policy " +
		"reads; empty means graft's own.",
	"graft/original/policyfile.TableOptions.DiscardDraws": "Whether the random numbers that the original drew for " +
		"weights are drawn and discarded, so that actions are drawn as by it.",
	"graft/original/policyfile.TableOptions.File": "A table's folder, graft's or the original's, or a single " +
		"data.pkl of the original's; required.",
	"graft/original/policyfile.TableOptions.Network": "The network that the sequences start with: a name of the zoo " +
		"or a network file. Empty means what the folder says, and ConvNet2 for a single data.pkl.",
	"graft/original/policyfile.TableOptions.Prefix": "Whether each sequence starts with token 0, as for the " +
		"original's first policies.",
	"graft/original/policyfile.TableOptions.Vocabulary": "Path of the vocabulary: a folder, a file of graft's, or " +
		"NAME.ids.pkl with NAME.embeddings.pkl beside it; required.",
	"graft/simulation/learning.Options.Beta": "Weighs the best sequences: zero maximises the expected reward, more " +
		"maximises (1/beta) log E exp(beta R), of rewards with a deviation of one. 8 unless given, 2 for new " +
		"scenarios.",
	"graft/simulation/learning.Options.Entropy": "Reward of a nat of entropy; zero means none; 0.1 for new scenarios.",
	"graft/simulation/learning.Options.Every": "The number of steps between evaluations on held-out trees; zero " +
		"means 10.",
	"graft/simulation/learning.Options.Leaf": "Fewest choices in a leaf of a forest; zero means 2.",
	"graft/simulation/learning.Options.Method": "Selects the form of the policy: network learns by the exact " +
		"gradient of its aim; forest grows regression trees that predict how far a choice is ahead of the others, " +
		"and reads only reward, smooth, pool, without, trees and leaf. Empty means network.",
	"graft/simulation/learning.Options.Patience": "The number of evaluations without improvement after which " +
		"learning stops; the best policy is the result. Zero means 8.",
	"graft/simulation/learning.Options.Pool": "Moves the rewards of each tree towards the mean over all trees with " +
		"the same sequence, by a share from 0 to 1, which reduces noise. Zero leaves them; 0.5 for new scenarios.",
	"graft/simulation/learning.Options.Rate": "Adam's learning rate; zero means 0.01.",
	"graft/simulation/learning.Options.Reward": "Transforms accuracies; empty leaves them as they are, tangent is " +
		"the original's, which stretches high ones.",
	"graft/simulation/learning.Options.Sampled": "The number of sequences sampled from each tree in a step, in place " +
		"of the exact gradient: REINFORCE with the mean of the others as a baseline, and entropy if given; beta is " +
		"not used. Zero means the exact gradient.",
	"graft/simulation/learning.Options.Smooth": "Moves rewards towards the smoothed table, by a share from 0 to 1: " +
		"the noise of single runs averages out in it. Zero leaves them; 1 for new scenarios.",
	"graft/simulation/learning.Options.Steps": "Maximum number of steps; zero means 400, and 100 for new scenarios.",
	"graft/simulation/learning.Options.Tolerance": "The least growth of the objective within window steps, in " +
		"rewards; learning ends below it. Zero means 0.001. Less than zero never ends, nor does sampling.",
	"graft/simulation/learning.Options.Trees": "Number of trees in a forest; zero means 200.",
	"graft/simulation/learning.Options.WeightDecay": "AdamW's weight decay, as a share of the rate; zero means none; " +
		"0.3 for new scenarios.",
	"graft/simulation/learning.Options.Window": "Steps of tolerance; zero means 60.",
	"graft/simulation/learning.Options.Without": "Names of inputs, beside the network's layers, that policies do not " +
		"see, to measure what they are worth. Empty means none.",
	"graft/torch.Augment.Cutout":    "Side in pixels of a square hole whose centre lies in the image; zero means none.",
	"graft/torch.Augment.Flip":      "Flip images left to right with a probability of one half.",
	"graft/torch.Augment.Magnitude": "The strength of rand_augment's operations, from 1 to 30; zero means 9.",
	"graft/torch.Augment.Mixup": "Mixes each image of a step with another of its batch, and their losses alike " +
		"(Zhang et al. 2018). The shares of each step are drawn from a Beta distribution whose two parameters have " +
		"this value. Zero means no mixing.",
	"graft/torch.Augment.Pad": "Largest shift in each direction, in pixels; zero means none.",
	"graft/torch.Augment.RandAugment": "The number of random operations for each image, one after the other, as " +
		"torchvision's RandAugment does them: a shear, a translation, a rotation, a change of brightness, colour, " +
		"contrast, sharpness or levels, or none. Zero means none.",
	"graft/torch.OptimizerOptions.Beta1": "Adam: decay of the first moment; zero means 0.9.",
	"graft/torch.OptimizerOptions.Beta2": "Adam: decay of the second moment; zero means 0.999.",
	"graft/torch.OptimizerOptions.ClipNorm": "The largest norm of all gradients of a step together: larger ones are " +
		"scaled down to it. Zero means no limit.",
	"graft/torch.OptimizerOptions.ClipValue": "Bounds each value of a gradient, which is cut to plus or minus " +
		"clip_value. Zero means no limit; only one of the two limits is given.",
	"graft/torch.OptimizerOptions.Dampening":   "SGD: dampening of the momentum; zero means none.",
	"graft/torch.OptimizerOptions.Eps":         "Adam: added to the root; zero means 1e-8.",
	"graft/torch.OptimizerOptions.LR":          "Learning rate; zero changes nothing.",
	"graft/torch.OptimizerOptions.Momentum":    "SGD: momentum; zero means none.",
	"graft/torch.OptimizerOptions.Nesterov":    "SGD: nesterov momentum.",
	"graft/torch.OptimizerOptions.Rule":        "Update rule; required.",
	"graft/torch.OptimizerOptions.WeightDecay": "Weight decay; zero means none.",
	"graft/trainer.Adapt.Divide": "The factor by which every decision divides the learning rate, and a down " +
		"multiplies it; zero means 1.",
	"graft/trainer.Adapt.Every": "Asks the decider again at the start of each epoch after an up; false asks once for " +
		"each up.",
	"graft/trainer.Adapt.MaxDecisions": "The number of decisions for each up; zero means 3 with every, else 1.",
	"graft/trainer.Adapt.OnError": "Says how a job goes on if the chosen action cannot be done: skip goes on without " +
		"it, warns and counts it in the outcome, stop ends the job. Empty means skip.",
	"graft/trainer.Adapt.Reset": "Begins a new optimizer and schedule after every decision, also for no action, and " +
		"after a down, as the original did; false keeps both.",
	"graft/trainer.Adapt.Rows": "The number of training images that calibrate new normalizations; zero means 256.",
	"graft/trainer.AdaptiveBatch.DeviceMost": "The number of images that a device takes at once; a larger batch is " +
		"taken in turns whose gradients are added up. Zero means no limit but those of train.micro_batch and " +
		"train.max_memory_mb.",
	"graft/trainer.AdaptiveBatch.Every": "Epochs between two choices on the same devices; zero means 1.",
	"graft/trainer.AdaptiveBatch.Hysteresis": "The share by which goodput must rise for the batch to change; zero " +
		"means 0.05.",
	"graft/trainer.AdaptiveBatch.Interval": "Steps between two measurements of the noise of gradients; zero means 16.",
	"graft/trainer.AdaptiveBatch.Measure": "Measures the noise of gradients where the batch stays; " +
		"on measures it too.",
	"graft/trainer.AdaptiveBatch.Most": "Images in the largest batch; zero means 16 times train.batch.",
	"graft/trainer.AdaptiveBatch.On": "Chooses the batch at each change of the devices and between epochs: the one " +
		"from train.batch to most with the highest goodput, the images a second times the progress of one beside " +
		"that of one in the smallest batch. False keeps the batch.",
	"graft/trainer.AdaptiveBatch.Scaling": "The rule for the learning rate: adascale, square-root, linear or none. " +
		"With adascale, warm-up and the schedules exponential and step count steps and epochs of the smallest batch. " +
		"Empty means adascale for sgd, square-root for adam and adamw.",
	"graft/trainer.Checkpoint.Every": "Minimum time between two checkpoints, on the machine's clock; zero means a " +
		"minute.",
	"graft/trainer.Checkpoint.Off": "Save only at the end, when stopped and when a request waits for it.",
	"graft/trainer.Distill.Decay":  "Part of the share that each epoch takes off, between 0 and 1; zero means none.",
	"graft/trainer.Distill.Off":    "No distillation.",
	"graft/trainer.Distill.Share":  "First share of the larger network in the loss, between 0 and 1; zero means 0.9.",
	"graft/trainer.Distill.Span": "The part of the time left after a down that distillation lasts, between 0 and 1. " +
		"The share falls to nothing along it, step by step. Zero means all of it.",
	"graft/trainer.Distill.Temperature": "Divides logits before they are compared; zero means 4.",
	"graft/trainer.Event.At":            "Since the budget began.",
	"graft/trainer.Event.Change":        "Up or down.",
	"graft/trainer.Event.Devices":       "From then on; zero keeps their number.",
	"graft/trainer.Options.Abandon": "Begins a new epoch after every change of devices, as the original did. The " +
		"steps of the abandoned epoch stay in the weights; it is not evaluated, not recorded and not counted by the " +
		"learning rate. False continues the epoch.",
	"graft/trainer.Options.AdaptiveBatch": "Lets the batch follow the devices and the noise of gradients; zero keeps " +
		"it.",
	"graft/trainer.Options.Augment": "Random changes of training images; zero means none.",
	"graft/trainer.Options.Batch":   "Images in a step; zero means 64.",
	"graft/trainer.Options.CUDAGraphs": "Records a step on a full batch as a CUDA graph, which the host then issues " +
		"in one call; it is recorded again after surgery and a change of the batch. Steps with distillation, mixup, " +
		"float16, micro-batches or several processes, and those that measure noise, are not recorded. Results are " +
		"equal up to rounding.",
	"graft/trainer.Options.Checkpoint": "How often a job is saved; zero is once a minute.",
	"graft/trainer.Options.Distill":    "Learning from the larger network after a down; zero means its defaults.",
	"graft/trainer.Options.EMA": "The part of an exponential moving average of the weights and running statistics " +
		"that each step keeps, such as 0.999. The average is evaluated, exported, and teaches a network that " +
		"shrinks; surgery changes it as it changes the network. Zero means no average.",
	"graft/trainer.Options.Epochs": "Ends a job after so many epochs, earlier training included, even if there is " +
		"time left; zero means that only the budget ends it.",
	"graft/trainer.Options.EvalBatch": "Images in a batch of evaluation; zero means 128, which takes little memory.",
	"graft/trainer.Options.Exact": "Keeps PyTorch's order of operations; false takes the fast path, whose results " +
		"are equal up to rounding.",
	"graft/trainer.Options.KeepBest": "Keeps the network with the highest validation accuracy besides the last one; " +
		"false keeps the last one alone.",
	"graft/trainer.Options.LabelSmoothing": "The share of each label's target that all classes get evenly, between 0 " +
		"and 1. With distillation it smooths the labels' part of the loss, not the larger network's. Losses of " +
		"training include it, those of evaluation do not. Zero means none.",
	"graft/trainer.Options.MaxMemoryMB": "A limit in MiB of the activations of a step: its parts are as large as " +
		"fit, and at most micro_batch. The memory is estimated from the network's shapes, so the parts are the same " +
		"on every machine; weights, moments and images come on top. Zero means no limit.",
	"graft/trainer.Options.MicroBatch": "The number of images of which a step computes gradients at once: it takes " +
		"its batch in such parts and adds up their gradients, which needs less memory. A BatchNorm normalises and " +
		"counts each part by itself. Zero means the batch.",
	"graft/trainer.Options.Optimizer": "How parameters follow gradients; a rule of zero means Adam with a rate of " +
		"0.01.",
	"graft/trainer.Options.Overrun": "Trains until the budget is used up and evaluates whole epochs only, the last " +
		"one past the end if need be, as the original did; the result is the network as last evaluated. False " +
		"reserves time for an evaluation at the end, so that every step counts.",
	"graft/trainer.Options.Parallel": "Trains in a process for each device; zero trains in one. A resumed job may " +
		"have another value.",
	"graft/trainer.Options.Precision": "The type in which convolutions and linear layers compute, in training and in " +
		"evaluation: float32, or bfloat16, which may be faster on processors that have it; for CUDA devices only " +
		"float16, whose loss is scaled, and tf32, which rounds the operands of float32 to 11 significant bits. " +
		"Weights, gradients, the optimizer's state and all other layers are float32. Zero means float32.",
	"graft/trainer.Options.Schedule": "How the learning rate changes; zero is half a cosine wave over the budget.",
	"graft/trainer.Options.Steady": "Makes results on the CPU independent of the number of threads, to the bit, at " +
		"some cost of speed, and on a CUDA device the same at each run on the same machine.",
	"graft/trainer.Schedule.Decay": "Factor of the rate; zero means 0.9 for exponential and 0.1 for step.",
	"graft/trainer.Schedule.Every": "Epochs between two changes of the rule step; zero means 10.",
	"graft/trainer.Schedule.MinLR": "Lower bound of the rate; zero means 1e-8.",
	"graft/trainer.Schedule.Restart": "Begins the schedule anew, from the first rate: cosine and linear then fall " +
		"faster, over the time that is left. devices does so after each up and down, surgery after each change of " +
		"the network, never goes on. With surgery a job that grows has other rates than one that does not, which a " +
		"comparison of the two then measures as well. Empty means devices.",
	"graft/trainer.Schedule.Rule": "Changes the rate. cosine and linear lower it to min_lr at the end of the budget, " +
		"step by step; exponential multiplies it by decay after each epoch, step after every every epochs; constant " +
		"keeps it. Empty means cosine.",
	"graft/trainer.Schedule.WarmUp": "Steps over which the rate rises from zero; zero means none.",
	"graft/trainer.Schedule.WarmUpShare": "The part, between 0 and 1, of the time from the schedule's beginning to " +
		"the end of the budget over which the rate rises from zero. Zero means none.",
	"graft/trainer.Timeline.Budget": "Length of the job, counted from zero also where it starts later; required.",
	"graft/trainer.Timeline.Events": "In order of time; empty means none.",
	"graft/trainer.Timeline.Start":  "Where in the budget the job begins; zero means at its beginning.",
	"graft/trainer/team.Parallel.Elastic": "Derives the devices from the followers: each one that is ready is an up " +
		"of one device, each one that leaves or is lost a down. It requires listen, and neither the timeline nor " +
		"POST /allocation changes devices then.",
	"graft/trainer/team.Parallel.Listen": "The private IP address and the port at which followers on other machines " +
		"join by 'graft follow --join', one for each device but the first; empty starts them on this machine. With " +
		"slurm:PORT task 0 of 'srun graft train' listens at its node's address, and the other tasks join it.",
	"graft/trainer/team.Parallel.MaxProcesses": "Processes, with the leader; zero means one for each device.",
	"graft/trainer/team.Parallel.MinProcesses": "The number of processes, with the leader, that a job waits for " +
		"before it trains, at its start and when it resumes; after the time of start it fails. It requires listen; " +
		"zero waits for none.",
	"graft/trainer/team.Parallel.On": "A process for each device; false trains in one, and devices only divide the " +
		"cost of work on a virtual clock.",
	"graft/trainer/team.Parallel.Start": "Limit of the machine's time until a process is ready; zero means ten " +
		"minutes.",
	"graft/trainer/team.Parallel.Threads": "Of LibTorch in each process on the CPU; zero divides those of one process.",
	"graft/trainer/team.Parallel.Timeout": "Of the machine's time, after which a silent process is lost; zero means " +
		"a minute.",
	"graft/trainer/team.Parallel.Token": "File of the token that they must know; required with listen, but with " +
		"slurm the variable GRAFT_TOKEN may hold it.",
}
