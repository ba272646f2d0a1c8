// A network as calls of LibTorch's operators, in the order in which they run.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include "network.h"

namespace graft {

// State of one pass over the calls.
struct CallPass {
  std::vector<c10::IValue> regs;
  bool training;
  c10::optional<at::Generator> generator;
  Masks *masks;
  bool steady;  // bits must not depend on the number of threads
  bool fast;    // bits need not be LibTorch's
};

// Operator is one of LibTorch's or one of graft's own, for what this LibTorch lacks.
struct Operator {
  using Own = at::Tensor (*)(const torch::jit::Stack &, CallPass &);
  using Count = int64_t (*)(const torch::jit::Stack &);

  std::shared_ptr<const c10::FunctionSchema> schema;
  c10::optional<c10::OperatorHandle> handle;  // LibTorch's
  Own own = nullptr;                          // or one of these
  Count count = nullptr;
};

class Calls final : public Network {
 public:
  explicit Calls(const graft_calls &c);

  at::Tensor forward(const at::Tensor &input, bool training, c10::optional<at::Generator> generator, Masks *masks = nullptr) const override;

  size_t operators() const override {
    return std::count_if(calls_.begin(), calls_.end(), [](const Call &c) { return !c.only_training; });
  }

 private:
  // An argument as it was given. A register is read when the call runs.
  struct Value {
    int32_t kind;
    int64_t number;
    double real;
    std::string text;
    std::vector<Value> items;

    bool reads() const;
  };

  // What an argument of the schema gets.
  struct Argument {
    c10::IValue constant;
    c10::TypePtr type;
    Value given;
    bool reads = false;
    int32_t items = 0;  // that a list of the schema has, such as int[2]; zero is any number
    std::string name;
  };

  // An argument that the mode of a pass sets.
  enum class Mode { kNone, kTraining, kStatistics, kProbability };

  struct Call {
    Operator op;
    std::string name, where;
    std::vector<Argument> arguments;
    int32_t first, outs;
    Mode mode = Mode::kNone;
    int32_t moded = -1;             // the argument that the mode sets
    bool only_training = false;
    std::vector<int32_t> last_use;  // registers that no later call reads
  };

  Value value(const graft_calls &c, const char *text, int64_t &at, int depth) const;
  void bind(Call &call, const graft_calls &c, int64_t at, int64_t end) const;
  void mark_mode(Call &call) const;
  void mark_last_uses();
  void run(const Call &call, CallPass &pass) const;
  c10::IValue mode_value(const Call &call, const c10::IValue &given, const torch::jit::Stack &stack, bool training) const;
  c10::IValue convert(const Value &v, const c10::TypePtr &type, const std::vector<c10::IValue> *regs) const;
  c10::IValue argument_value(const Argument &a, const std::vector<c10::IValue> *regs) const;
  c10::IValue convert_list(const Value &v, const c10::TypePtr &element, const std::vector<c10::IValue> *regs) const;

  std::vector<Call> calls_;
  int32_t registers_, output_;
};

// The operator of a name such as aten::conv2d and an overload; an unknown one is an error.
Operator find_operator(const std::string &name, const std::string &overload);

// Throws where an operator would divide by a size of zero without a check of its own.
void check_empty(const std::string &name, const torch::jit::Stack &stack);

// Raises where the values of the arguments would end the process, or take memory that no trial has seen.
void check_data(const std::string &name, const torch::jit::Stack &stack);

// Throws unless LibTorch has the operator and it is a function of tensors and numbers.
void check_function(const std::string &name, const std::string &overload);

}  // namespace graft
