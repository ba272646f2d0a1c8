// Package trainer runs one job from its start to the end of its budget: epochs over images on the device, a clock for
// the time left, a timeline of devices that are granted and removed, a decider that chooses how to adapt, surgery and
// distillation that adapt the network, and checkpoints from which a stopped job resumes with the same result.
//
// A job has four parts on one core: Job is the loop, adaptation changes the network,
// distillation teaches a network that shrank, and team trains on several devices.
//
// The result of a job depends only on its options, its data and its clock: with a virtual clock, two runs give the
// same digest on any machine. Several processes round sums differently from a single process, so digests are
// comparable only if the number of processes is the same at every step.
//
// # Design
//
// Four parts on one core. Job is the loop: it asks the scheduler, trains steps, ends epochs and saves checkpoints.
// Its adaptation asks the decider and operates on the network, its distillation teaches a network that shrank, its
// team runs steps in several processes. All share the core: the progress, and the replica, which is a process's copy
// of the network with its optimizer and images. A follower has only a replica. Each part stores its own state in a
// checkpoint's position. Package trainer/team has the processes; this package has the work they do together.
//
// Time is charged. A clock of trainer/clock charges each piece of work. A call ends at the next event, the end of the
// epoch or the final evaluation; time for that evaluation is reserved. Calls are short enough that the job reacts
// quickly to a stop. No result depends on their length.
//
// The learning rate follows the budget. The rate of each step is computed from the time at which the step ends, and a
// call gets the rates of all its steps, so grouping steps into calls changes nothing. Changes of devices restart the
// schedule of every job, so arms of a comparison have the same rates. Surgery alone does not restart it.
//
// The batch may adapt to devices and noise. Train returns the squared norms of the gradients of parts of a step's
// batch and of the whole batch; goodput estimates the noise scale from them. A call ends at each measured step, so
// decisions and rates do not depend on how steps are grouped into calls. At a change of the allocation and between
// epochs the job selects the batch with the highest goodput: throughput times efficiency. Throughput comes from the
// cost on the virtual clock, or from a model fitted to measured times on the wall clock. The position in an epoch is
// a number of images, so the batch may change within an epoch. batching.go holds all its state, which is one key of a
// checkpoint's position. Noise estimates survive surgery, which keeps the function; measured step times do not.
//
// A profile is measured by jobs. Measure runs a job for each network with a clock that records work, so it measures
// exactly the work that jobs are charged for.
//
// One digest. On the virtual clock nothing depends on the machine. The order of images comes from seed and epoch, new
// layers from seed and decision. LibTorch rounds differently for each number of threads: gradients of weights are
// sums over one part per thread, and a BLAS splits a product among threads. A steady step therefore runs on one
// thread. It uses all threads only for layers whose results do not depend on the number of threads (convolutions,
// ReLU, pools, the fast path's layers) and for sums over four fixed parts of a batch (weights, norms, large
// products). The parts run on OpenMP's own threads: other threads would compete with them for the processors, since
// idle OpenMP threads spin. A part uses no further threads, since oneDNN deadlocks if its threads are split twice. A
// test compares all kinds of layers on 1, 2 and 3 threads. Grouped convolutions are split by examples, since oneDNN
// in LibTorch 2 splits dilated convolutions within an example. Several processes sum in a different order from a
// single process, so digests are comparable only if the number of processes is the same at every step. On the virtual
// clock a job waits for processes at a step, not at a time.
//
// Threads are chosen by trials. A steady job's result does not depend on the number of threads, so the job tries the
// neighbours (1, 2, 4, …) of the fastest number so far, in pairs of calls of some 10 ms: after the first call, after
// surgery, and, because the load may have changed, again whenever trials cost at most 2% of the time since the last
// trial. A trial sets only OpenMP's number of threads, which costs nothing: LibTorch's setter also creates a new pool
// of threads, which spins for some 16 ms. All segments of a grid that run on a worker share the worker's results.
//
// Distillation. Before a network shrinks, its logits on all training images are computed; then its memory is freed.
// The smaller network learns from the logits, with a share of the loss that falls step by step and reaches zero at
// the end of the budget. This costs one evaluation pass, which is charged. Running the larger network on every batch
// would cost as much as the steps themselves, more than distillation gains.
//
// A checkpoint holds the position of the job as one JSON value; the architecture, weights and moments; the logits
// during distillation; the state of the generator of augmentation and dropout. Resuming truncates the tables to the
// rows of that moment. One test kills a job at many readings of its clock and expects bit-identical results. Another
// test makes every write fail.
//
// Up and down. An up event records how many times the network has changed. A down event reverts changes one by one
// until this number is reached, and the optimizer follows each reversal.
//
// Live changes. The job asks its scheduler before each operation. A requested change takes effect after the clock has
// advanced, so it has a unique time: the same change at that time in a timeline gives the same bits. The job stores it
// in its position, saves immediately, and then answers the request.
//
// Observers never block the job. A job passes its progress to Watch before each operation, as an immutable value.
// control.Monitor in runner/control keeps the newest value behind one pointer; the progress bar, GET /status and the
// metrics read it. A metric is a line in runner/control/metrics.go. Requests for changes wait in a queue.
//
// TensorBoard files use the same appender as tables, with framed records in place of lines, so kills and checkpoints
// affect both in the same way. Each process writes a new file that begins with the step from which it continues: an
// open TensorBoard reads files by offset and does not notice truncation.
package trainer
