// Package dl2 reproduces the elastic scheduler DL2 as published (Peng et al., "DL2: A deep learning-driven scheduler
// for deep learning clusters", arXiv:1909.06040, and its program) with its faults: its environment, losses, replay and
// training. Other schedulers should not work this way.
//
// [Env] is its environment, [Memory] is its replay memory, [Trainer] is its training by imitation and then by
// reinforcement learning, and [Policy] is the result, which is a scheduler and has its own file format. Workloads,
// the environment and the replay draw random numbers in the order of the published program and get the same values.
//
// Differences from the program: Initial weights come from another generator, and numbers have 64 bits. Asynchronous
// agents take turns. An episode that reaches its limit of slots is truncated and counts; the published program fails.
// If Optimus is the teacher and its errors are zero, it draws no random numbers for them. All actions are masked. The
// program does not specify when job types are added, or which transitions of a slot are kept if some are dropped, so
// both are options.
package dl2
