// Package learn trains agents in environments: rollouts, imitation and policy gradients. An
// environment may take several actions before its time goes on. All random numbers come from streams
// of the seed, one for each environment, so that the same seed has the same bits however many
// environments run at once.
package learn
