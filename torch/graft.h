// The pure C border between Go and LibTorch. One shared library implements it
// together with gotorch's C half; a Go binary runs unchanged on any LibTorch
// for which that library has been built.
//
// Every fallible call returns NULL, or a message that graft_free_error frees.
// A graft_t is an at::Tensor*, as gotorch's handles are, so both mix freely.
#ifndef GRAFT_H
#define GRAFT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Raised whenever a declaration below changes; the loader refuses another one.
#define GRAFT_ABI 26

typedef void *graft_t;
typedef void *graft_generator;
typedef void *graft_program;
typedef void *graft_optimizer;
typedef void *graft_policy;
typedef void *graft_peers;

enum { GRAFT_MAX_DIMS = 8 };

typedef struct {
  int32_t dtype;
  int32_t device_type;  // 0 is the CPU, 1 is CUDA
  int32_t device_index;
  int32_t dims;
  int64_t sizes[GRAFT_MAX_DIMS];
  int32_t requires_grad;
  int32_t defined;
} graft_info;

typedef struct {
  int64_t abi;
  int32_t cuda_devices;
  int32_t cuda_built;
  int32_t threads;
  char version[32];
  char compiled_for[32];
  char capability[16];  // the vector instructions LibTorch chose
  int32_t gloo;         // processes can train together on the host
  int32_t nccl;         // and on CUDA devices without the way over the host
  int32_t graphs;       // whether steps on CUDA devices can be recorded
} graft_runtime;

// ---- life of the library and of tensors

int64_t graft_abi(void);
char *graft_describe(graft_runtime *out);
char *graft_set_threads(int32_t threads);
char *graft_use_threads(int32_t threads);
char *graft_limit_memory(int32_t device, double share);  // of a CUDA device, for this process
void graft_free_error(char *message);
void graft_close_tensors(graft_t *tensors, int64_t count);
char *graft_tensor_info(graft_t tensor, graft_info *out);
char *graft_from_host(const void *data, int32_t dtype, const int64_t *sizes,
                      int32_t dims, int32_t device_type, int32_t device_index,
                      graft_t *out);
char *graft_to_host(graft_t tensor, void *data, int64_t bytes);
// libjpeg-turbo, opened at run time; out has 4 bytes a pixel.
char *graft_jpeg_open(void);
char *graft_jpeg_decode(const uint8_t *data, int64_t size, int32_t width, int32_t height, uint8_t *out);
int32_t graft_set_grad_mode(int32_t enabled);  // returns what it was

// ---- operators: what gotorch lacks, one entry for all

enum {
  GRAFT_OP_AVG_POOL2D = 1,
  GRAFT_OP_SOFTMAX,
  GRAFT_OP_EMBEDDING,
  GRAFT_OP_LSTM,
  GRAFT_OP_CAT,
  GRAFT_OP_CLONE,
  GRAFT_OP_COPY_,
  GRAFT_OP_CROSS_ENTROPY,
  GRAFT_OP_SET_REQUIRES_GRAD,
  GRAFT_OP_GRAD,
  GRAFT_OP_SET_GRAD,
  GRAFT_OP_BACKWARD,
  GRAFT_OP_FULL,
  GRAFT_OP_RESHAPE,
  GRAFT_OP_NARROW,
  GRAFT_OP_FILL_,
  GRAFT_OP_SCALE,
  GRAFT_OP_NEG,
  GRAFT_OP_EXP,
  GRAFT_OP_LOG,
  GRAFT_OP_SQRT,
  GRAFT_OP_MATMUL,
  GRAFT_OP_TO,
  GRAFT_OP_UNIFORM_,
  GRAFT_OP_NORMAL_,
  GRAFT_OP_RANDPERM,
  GRAFT_OP_SPREAD,
  GRAFT_OP_INDEX_ADD_,
  GRAFT_OP_DIRAC_,
  GRAFT_OP_PAD,
  GRAFT_OP_AUGMENT,
  GRAFT_OP_RANDAUGMENT,
  GRAFT_OP_SUM,
  GRAFT_OP_MEAN,
  GRAFT_OP_SVD,
  GRAFT_OP_EIGH
};

char *graft_op(int32_t op, graft_t *in, int32_t nin, const int64_t *ints,
               int32_t nints, const double *doubles, int32_t ndoubles,
               graft_generator generator, graft_t *out, int32_t nout);

// ---- generators

char *graft_generator_new(int32_t device_type, int32_t device_index,
                          int64_t seed, graft_generator *out);
char *graft_generator_state(graft_generator generator, graft_t *out);
char *graft_generator_restore(graft_generator generator, graft_t state);
void graft_generator_close(graft_generator generator);

// ---- programs: a network as a flat list of instructions

enum {
  GRAFT_LAYER_CONV2D = 1,
  GRAFT_LAYER_LINEAR,
  GRAFT_LAYER_BATCH_NORM,
  GRAFT_LAYER_LAYER_NORM,
  GRAFT_LAYER_GROUP_NORM,
  GRAFT_LAYER_ACTIVATION,
  GRAFT_LAYER_AVG_POOL,
  GRAFT_LAYER_MAX_POOL,
  GRAFT_LAYER_ADAPTIVE_AVG_POOL,
  GRAFT_LAYER_FLATTEN,
  GRAFT_LAYER_DROPOUT,
  GRAFT_LAYER_ADD,  // of two registers, or of a register and the first weight
  GRAFT_LAYER_CAT,
  GRAFT_LAYER_NORMALIZE,
  // Made by joining layers, never by a caller.
  GRAFT_LAYER_FUSED_NORM,
  GRAFT_LAYER_RELU_POOL
};

enum {
  GRAFT_ACT_RELU = 1,
  GRAFT_ACT_RELU6,
  GRAFT_ACT_LEAKY_RELU,
  GRAFT_ACT_SIGMOID,
  GRAFT_ACT_TANH,
  GRAFT_ACT_GELU,
  GRAFT_ACT_SILU,
  GRAFT_ACT_HARDSWISH,
  GRAFT_ACT_ELU
};

enum { GRAFT_MAX_IN = 8, GRAFT_MAX_WEIGHTS = 6, GRAFT_MAX_INTS = 8, GRAFT_MAX_DOUBLES = 4 };

typedef struct {
  int32_t op;
  int32_t out;                         // register written
  int32_t nin;
  int32_t in[GRAFT_MAX_IN];            // registers read
  int32_t weights[GRAFT_MAX_WEIGHTS];  // places in the tensor table, -1 is none
  int64_t ints[GRAFT_MAX_INTS];
  double doubles[GRAFT_MAX_DOUBLES];
} graft_instr;

// BFLOAT16 and FLOAT16 are for convolutions and linear layers; all else keeps its type.
enum { GRAFT_PROGRAM_FAST = 1, GRAFT_PROGRAM_STEADY = 2, GRAFT_PROGRAM_BFLOAT16 = 4, GRAFT_PROGRAM_FLOAT16 = 8,
       // Training and evaluation record a step on a full batch and repeat it: a CUDA graph.
       GRAFT_PROGRAM_RECORDED = 16,
       GRAFT_PROGRAM_TF32 = 32 };

char *graft_program_new(const graft_instr *code, int32_t count, int32_t registers,
                        const graft_t *tensors, int32_t ntensors, int32_t output,
                        int32_t flags, graft_program *out);
char *graft_program_forward(graft_program program, graft_t input, int32_t training,
                            graft_generator generator, graft_t *out);
int32_t graft_program_fused(graft_program program);  // how many layers were fused
void graft_program_close(graft_program program);

// ---- calls: a network as calls of LibTorch's operators, which is a program as well

enum {
  GRAFT_VALUE_NONE = 1,
  GRAFT_VALUE_INT,
  GRAFT_VALUE_DOUBLE,
  GRAFT_VALUE_BOOL,
  GRAFT_VALUE_TEXT,
  GRAFT_VALUE_REGISTER,
  GRAFT_VALUE_LIST  // number counts the values that follow, which are its items
};

typedef struct {
  int32_t kind;
  int32_t name;    // of the argument, as a place in the text; of arguments only
  int32_t text;    // a place in the text
  int64_t number;
  double real;
} graft_value;

// A call writes outs registers after those of the calls before it. Register 0 is the input, those from 1 on
// are the tensors.
typedef struct {
  int32_t op, overload, where;  // places in the text: the operator's names, and what errors add to them
  int32_t values;               // of its arguments, with the items of lists
  int32_t outs;
  int32_t only_training;        // runs in train mode only
} graft_call;

typedef struct {
  const graft_call *calls;
  const graft_value *values;
  const char *text;  // texts that end with zeros
  const graft_t *tensors;
  int32_t count, ntensors, output, flags;
} graft_calls;

char *graft_calls_new(const graft_calls *calls, graft_program *out);

/* Writes the place of each call that is about to run as a line to a file, of all programs; a negative number ends it. Calls that run in
   train mode only are not counted. */
void graft_calls_trace(int32_t fd);

/* Fails unless LibTorch has the operator and it is a function of tensors and numbers: without writes, views, randomness, texts and devices. */
char *graft_operator_check(const char *name, const char *overload);

// ---- optimizers: no state of their own, every tensor belongs to the caller

enum { GRAFT_SGD = 1, GRAFT_ADAM, GRAFT_ADAMW };

typedef struct {
  int32_t kind;
  int32_t nparams;
  int32_t nesterov;
  int32_t fused;  // one pass over each parameter; equal up to rounding
  double lr, beta1, beta2, eps, weight_decay, momentum, dampening;
  double clip_norm, clip_value;  // bounds of gradients in a step; zero is none
} graft_group;

char *graft_optimizer_new(const graft_group *groups, int32_t ngroups,
                          const graft_t *params, const graft_t *first,
                          const graft_t *second, graft_t steps,
                          graft_optimizer *out);
char *graft_optimizer_configure(graft_optimizer optimizer, int32_t index,
                                const graft_group *group);
char *graft_optimizer_zero_grad(graft_optimizer optimizer);
char *graft_optimizer_step(graft_optimizer optimizer);
void graft_optimizer_close(graft_optimizer optimizer);

// ---- processes that train together, each with a copy of the network

// What a store does with a key.
enum { GRAFT_STORE_SET, GRAFT_STORE_GET, GRAFT_STORE_ADD, GRAFT_STORE_CHECK, GRAFT_STORE_DELETE };

typedef struct {
  int32_t op;
  const char *key;
  int64_t key_size;
  const uint8_t *value;  // to set
  int64_t value_size;
  int64_t number;        // to add; then the sum, or whether the key was there
  uint8_t *found;        // of GET: allocated, to be freed with free
  int64_t found_size;
} graft_store_call;

// Does a call on a caller's store, from any thread and without waiting for the key. Returns NULL, or a message
// to be freed with free.
typedef char *(*graft_store)(uintptr_t handle, graft_store_call *call);

typedef struct {
  int32_t rank;          // from 0
  int32_t size;          // of the group
  const char *file;      // in which processes of one machine meet; it is not there yet, and the same for all
  int32_t device_type;   // where the tensors are: 0 is the CPU, 1 is CUDA
  int32_t device_index;
  int64_t timeout_ms;    // without a word from another process
  const char *address;   // of this process, for those of other machines; NULL: all are on this one
  graft_store store;     // with an address: the store in which they meet, until the group is closed
  uintptr_t store_handle;
} graft_peers_options;

// Returns when all have come. The message of a call that another process failed
// begins with "peer lost: "; after it the group is of no more use.
char *graft_peers_new(const graft_peers_options *options, graft_peers *out);
char *graft_peers_sum(graft_peers peers, const graft_t *tensors, int64_t count);  // in place
char *graft_peers_broadcast(graft_peers peers, int32_t root, const graft_t *tensors, int64_t count);
void graft_peers_close(graft_peers peers);

// ---- large calls

// A loss scale, which training reads and changes.
typedef struct {
  double scale;
  int64_t streak;    // steps in a row whose gradients were finite
  int64_t interval;  // steps after which the scale doubles
  int64_t skipped;   // steps whose gradients were not finite; they changed nothing
} graft_scaler;

// Squares of gradients in the last step of a call, from which their noise follows. Each process's rows of
// each part of the batch are a part here; a batch that is one part is halved.
typedef struct {
  double parts;    // sum over parts of the squared norm of the mean gradient
  double inverse;  // sum over parts of 1 / rows
  double count;    // parts; 0 where the step was skipped
  double whole;    // squared norm of the mean gradient of the batch
  double rows;     // of the batch
} graft_squares;

typedef struct {
  graft_t inputs;    // rows of examples
  graft_t labels;    // int64, one a row
  graft_t order;     // int64 row numbers, or NULL for the rows as they come
  int64_t batch;     // rows a step
  int64_t steps;
  const double *rates;  // training only: the learning rate of each step, or NULL for the optimizer's
  graft_generator generator;
  int64_t pad;       // training only: the largest random shift, in pixels
  int64_t cutout;    // training only: side of a random hole, in pixels
  int32_t flip;      // training only: mirror every other image
  // training only: a teacher's logits, one row an input, or NULL; the temperature that divides logits; the teacher's share
  // of the loss, which falls to zero on a line over teacher_length steps, of which teacher_past lie before this call;
  // a length of zero keeps the share
  graft_t teacher_logits;
  double temperature;
  double teacher_share;
  int64_t teacher_past, teacher_length;
  double smoothing;  // training only: share of the labels that goes to all classes evenly
  int32_t ignores;   // training only: labels of -100 are there, and the loss is the mean over the others of a batch
  int64_t part;      // training only: rows of which gradients are computed at once; zero is the batch
  int64_t least;     // training only: the fewest such rows; a rest of fewer joins the rows before it; zero is one
  double mixup;      // training only: both parameters of the Beta distribution of shares; zero is none
  int64_t random_ops, magnitude;  // training only: RandAugment's operations for each image, and their strength from 0 to 30
  // training only: tensors and their averages over steps; each step keeps decay of an average
  const graft_t *averaged, *averages;
  int64_t naverages;
  double decay;
  int32_t first_average;  // the first step copies
  // training only: for each parameter of the optimizer, NULL or the step (a double) in which each element was made; the
  // rate of an element rises linearly over warm_up_length steps, of which step 0 of this call is number warm_up_past
  const graft_t *born;
  int64_t nborn;
  int64_t warm_up_length, warm_up_past;
  graft_scaler *scaler;   // training only: NULL is none
  graft_squares *squares;  // training only: NULL measures none
  // the seconds of the parts of each step, or of each evaluated batch, in a row: the operators forward, the operators
  // backward, the parameters of the optimizer in training, the batch, the loss, and the rest. NULL measures none; places
  // must be zero before.
  double *times;
  double *exchange;        // training only: seconds in which processes sum gradients, in the whole call; NULL measures none
  // The processes that share the work, or NULL: of every batch each trains its part
  // of the rows, and evaluates its part of the batches. All give the same figures,
  // those of whole batches. Training that fails changes nothing then.
  graft_peers peers;
} graft_batches;

// Trains for batches->steps steps; losses and correct have that many places.
char *graft_train(graft_program program, graft_optimizer optimizer,
                  const graft_batches *batches, double *losses, int64_t *correct);
// The number of operators in a row of graft_batches.times.
int64_t graft_program_operators(graft_program program);
// Evaluates the same way, without gradients and in eval mode.
char *graft_evaluate(graft_program program, const graft_batches *batches,
                     double *losses, int64_t *correct);

// ---- policies: a decider that learns, with its parameters and moments. All
// numbers cross as double, whatever it computes in.

typedef struct {
  int64_t tokens, embedding;  // their number, and the values of each
  int64_t hidden;             // units of each direction
  int64_t memory;             // units of the second recurrent layer
  int64_t linear;             // values between the linear layers
  int64_t time, actions;
  int32_t precise;       // computes in float64, in place of float32
  int32_t instructions;  // 0 is the processor's widest; 1 to 3 for tests
} graft_policy_shape;

// The options of training.
typedef struct {
  double lr_decay, lr_least;  // each lr_every episodes, while the rate is at least lr_least
  double heat_decay;          // of the temperature, each heat_every episodes, down to 1
  double baseline;            // share of a new reward in the mean that is subtracted; 0 means no baseline
  double entropy;             // its weight beside the reward
  double beta1, beta2, eps;
  int64_t lr_every, heat_every;
  int64_t batch;  // episodes for each step
} graft_policy_rule;

// The state of training besides parameters and moments.
typedef struct {
  int64_t episodes, steps;
  int64_t based;  // whether there is a baseline yet
  double lr, temperature, baseline;
} graft_policy_progress;

enum { GRAFT_POLICY_PARAMETERS, GRAFT_POLICY_FIRST, GRAFT_POLICY_SECOND, GRAFT_POLICY_GRADIENT };

char *graft_policy_new(const graft_policy_shape *shape, const double *embedding, graft_policy *out);
void graft_policy_close(graft_policy policy);
int64_t graft_policy_parameters(graft_policy policy);
char *graft_policy_read(graft_policy policy, int32_t what, double *out);
char *graft_policy_write(graft_policy policy, int32_t what, const double *values);
// States and where actions lead: see PolicyTree in policy.h.
char *graft_policy_grow(graft_policy policy, int64_t states, int64_t leaves, const int32_t *tokens, const int64_t *offsets,
                        const double *time, const int32_t *children, const double *rewards, const int32_t *skips);
char *graft_policy_probabilities(graft_policy policy, int64_t count, const int32_t *states, double temperature, double *out);
char *graft_policy_gradient(graft_policy policy, int64_t count, const int32_t *states, double temperature,
                            const double *coefficients);
char *graft_policy_expect(graft_policy policy, double temperature, double entropy, double *leaves, double *reward);
char *graft_policy_step(graft_policy policy, const graft_policy_rule *rule, graft_policy_progress *progress);
char *graft_policy_learn(graft_policy policy, graft_generator generator, int64_t episodes, const graft_policy_rule *rule,
                         graft_policy_progress *progress, int32_t *leaves, double *objectives);
char *graft_policy_ascend(graft_policy policy, int64_t steps, const graft_policy_rule *rule,
                          graft_policy_progress *progress, double *rewards);

#ifdef __cplusplus
}
#endif
#endif
