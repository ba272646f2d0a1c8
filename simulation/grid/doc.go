// Package grid runs the sequences of a scenario and fills its table.
//
// A [Grid] is a tree of segments. A [Segment] is the training between two decisions; sequences with a common
// beginning share their first segments. A job runs until it asks for a decision. Its state is then saved, and the
// segment of each action continues from this state. The [Outcome] of a segment is kept in a [Store] under a digest of
// everything that determines it: network and first weights, images, options, profile, versions, actions and seed, but
// not the scenario's name. Therefore no segment runs twice, not even for different scenarios.
//
//	outcomes/ab/KEY.json    outcome of a segment, a line with a checksum; linked once
//	states/ab/KEY.state     the job before the next decision; deleted when no segment
//	                        begins there any more
//	states/ab/KEY.stopped   a job that was stopped within its segment, to be resumed
//
// Workers share only the store and the leases of segments. A worker that dies loses at most its segment. Two workers
// that run the same segment produce the same outcome; the first outcome is kept. A damaged or impossible outcome is
// moved aside, and its segment runs again. A table is collected from outcomes in the order of the tree, so its bytes
// do not depend on which worker ran a segment, or when.
//
// # Design
//
// A tree of segments (legs in messages). The training between two decisions is a segment and runs once: it starts
// from a complete checkpoint of a job and ends in another. A sequence therefore has the same bits as if it ran alone,
// and shared beginnings add no cost. The network alone determines the available actions at a decision, and the
// actions alone determine the network; so the size of a tree is known before anything runs.
//
// Outcomes by content. The key of an outcome is a digest of everything that determines it, and the outcome is linked
// into place once. Workers need no other agreement: each takes the first segment that has no outcome and no live lease.
// A wrong lease costs work, never a result. A table is written from outcomes in the tree's order, so equal outcomes
// give equal bytes.
//
// A design is a walk. It selects sequences while walking the tree, from the outcomes known so far: all, sample, halve
// and likely are four walks. The next segment, the remaining work and the contents of the table follow from the same
// walk.
//
// A pipeline keeps digests, not states. Each stage can be repeated at any time, and continues by itself after
// an interruption. The pipeline stores the digests of each stage's inputs and outputs; stages that do not match
// run again.
package grid
