// Package dl2 holds what the elastic scheduler DL2 did as published (Peng et al., "DL2: A deep
// learning-driven scheduler for deep learning clusters", arXiv:1909.06040, and its program), and nothing
// else should do: its environment, losses, replay and training, with their faults.
//
// [Env] is its environment, [Memory] its replay, [Trainer] its training by imitation and then by
// reinforcement, and [Policy] the result, which is a scheduler and has a file of its own. Draws of workloads,
// of the environment and of the replay are those of the published program, in its order.
//
// These differ. First weights come from another generator, and numbers have 64 bits. Asynchronous agents
// take turns. An episode that reaches its limit of slots is cut and counts, where the program fails.
// An Optimus that teaches draws no numbers for an error that is zero. All actions are masked. The times
// at which job types are added, and which transitions of a slot are kept if not all are, are not known from the
// program, so they are options.
package dl2
