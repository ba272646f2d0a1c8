// Package grid runs the sequences of a scenario and fills its table.
//
// A [Grid] is a tree of segments. A [Segment] is the training between two decisions;
// sequences that begin alike share their first segments. A job runs until it asks for a
// decision, which is left open; its state is kept, and each action goes on from there.
// The [Outcome] of a segment is kept in a [Store] by a digest of everything that it
// follows from: network and first weights, images, options, profile, versions, actions
// and seed, but not the scenario's name. So no scenario runs anything twice.
//
//	outcomes/ab/KEY.json    outcome of a segment, a line with a checksum; linked once
//	states/ab/KEY.state     the job before the next decision; deleted when no segment
//	                        begins there any more
//	states/ab/KEY.stopped   a job that was stopped within its segment, to be resumed
//
// Workers share the store and the leases of segments, nothing else. A worker that dies
// costs at most its segment; two that run the same segment produce the same outcome, of
// which the first stays. An outcome that is damaged or impossible is moved aside and run
// again. A table is collected from outcomes in the order of the tree, so its bytes do
// not depend on which worker ran what, or when.
package grid
