// Package tasks holds what the GPU scheduling study "scheduling-algo" did as published
// (github.com/gabbyvaillant/scheduling-algo), equal to the bit, and nothing else should do: its packing
// environment with generator and baselines, and its simulations of schedulers. [Quirks] names its faults.
//
//   - [Env] is the packing environment of the PPO agent, [Baselines] simple policies for it,
//     [EvaluateModel] its evaluation. PPO itself is in package learn.
//   - [FCFS], [Lottery] and [WFQ] run jobs on one GPU, one after the other.
//   - [LeastLoaded] places tasks of a list; [SharedFCFS] and [SharedRR] simulate several GPUs with one clock.
//   - [RRText], [SJF], [RR] and [ListOrder] schedule processes on one processor, [QLearning] learns to.
//   - [LiveEnv] is the environment of real GPUs, [ReadUsage] the log of nvidia-smi.
//
// Random numbers equal those of Python's module random, by [Python], and NumPy's normal numbers, by [Noise].
// Float32 observations are float64 with the same values.
package tasks
