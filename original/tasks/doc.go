// Package tasks holds what the GPU scheduling study "scheduling-algo" did as published
// (github.com/gabbyvaillant/scheduling-algo), equal to the bit, and nothing else should do. [Env] is the packing
// environment of its PPO agent with its faults, [Baselines] are its simple policies, [Evaluate] compares policies,
// and [LearnPPO] trains the agent.
//
// Random numbers equal those of Python's module random, by [Python]. Float32 observations are float64 with the same
// values.
package tasks
