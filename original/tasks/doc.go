// Package tasks holds what the GPU scheduling study "scheduling-algo" did as published
// (github.com/gabbyvaillant/scheduling-algo), equal to the bit, and nothing else should do: its packing
// environment with generator and baselines, and its simulations of schedulers.
//
//   - [Env] is the packing environment of the PPO agent, [Baselines] simple policies for it,
//     [EvaluateModel] its evaluation. PPO itself is in package learn.
//
// Draws are those of Python's module random, by [Python].
package tasks
