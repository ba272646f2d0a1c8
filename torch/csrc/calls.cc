#include "calls.h"

#include <atomic>
#include <unistd.h>

#include <ATen/ScalarOps.h>

#include "guard.h"
#include "numerics.h"
#include "peers.h"
#include "steady.h"
#include "stopwatch.h"

namespace graft {

namespace {

using c10::IValue;
using c10::TypeKind;

// The integer that an IValue holds; a tensor has to have one value.
int64_t whole(const IValue &v) {
  if (v.isInt()) return v.toInt();
  if (v.isBool()) return v.toBool() ? 1 : 0;
  TORCH_CHECK(v.isTensor() && v.toTensor().numel() == 1, "a whole number is expected, not ", v.tagKind());
  return v.toTensor().item<int64_t>();
}

std::vector<int64_t> wholes(const IValue &v) {
  if (!v.isTensor()) return {whole(v)};
  const at::Tensor t = v.toTensor().to(at::kCPU, at::kLong).contiguous().view(-1);
  TORCH_CHECK(t.numel() <= 64, "a list of ", t.numel(), " sizes");
  return std::vector<int64_t>(t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel());
}

at::Tensor tensor_of(const IValue &v) {
  if (v.isTensor()) return v.toTensor();
  return at::native::wrapped_scalar_tensor(v.toScalar());
}

// The number of items that a schema gives a list, such as int[2]. Of int[1] it gives none: any number may stand there.
int32_t items_of(const c10::Argument &a) {
  const int32_t n = a.N().value_or(0);
  if (n < 2) return 0;
  const auto fits = [n](const IValue &v) { return v.isIntList() && static_cast<int32_t>(v.toIntVector().size()) == n; };
  return !a.default_value().has_value() || a.default_value()->isNone() || fits(*a.default_value()) ? n : -n;
}

// Kernels read as many items as the schema says. One item stands for all, as in PyTorch; none is right where it is the default.
IValue fit_items(IValue v, int32_t items) {
  if (items == 0 || !v.isIntList()) return v;
  std::vector<int64_t> list = v.toIntVector();
  const size_t n = std::abs(items);
  if (list.size() == 1) return std::vector<int64_t>(n, list[0]);
  TORCH_CHECK(list.size() == n || (list.empty() && items < 0), "a list of ", list.size(), " items, where ", n, " are needed");
  return v;
}

// Where the calls of passes are noted; negative is nowhere.
std::atomic<int> trace{-1};

// Writes the place of a call that is about to run.
void note_call(int64_t place) {
  const int fd = trace.load(std::memory_order_relaxed);
  if (fd < 0) return;
  char line[32];
  const int size = std::snprintf(line, sizeof line, "%lld\n", static_cast<long long>(place));
  if (write(fd, line, size) < 0) trace = -1;
}

std::string shapes(const torch::jit::Stack &stack) {
  std::ostringstream text;
  for (const IValue &v : stack) {
    if (v.isTensor() && v.toTensor().defined()) text << " " << v.toTensor().scalar_type() << v.toTensor().sizes();
  }
  return text.str();
}

}  // namespace

bool Calls::Value::reads() const {
  if (kind == GRAFT_VALUE_REGISTER) return true;
  for (const Value &item : items)
    if (item.reads()) return true;
  return false;
}

Calls::Calls(const graft_calls &c) : Network(c.flags), output_(c.output) {
  for (int32_t k = 0; k < c.ntensors; k++) tensors_.push_back(deref(c.tensors[k], "a weight"));
  check_recording();
  registers_ = c.ntensors + 1;
  int64_t at = 0;
  for (int32_t k = 0; k < c.count; k++) {
    const graft_call &given = c.calls[k];
    Call call;
    call.where = c.text + given.where;
    call.name = std::string(c.text + given.op) + (c.text[given.overload] == 0 ? "" : ".") + (c.text + given.overload);
    call.outs = given.outs;
    call.first = registers_;
    call.only_training = given.only_training != 0;
    try {
      call.op = find_operator(c.text + given.op, c.text + given.overload);
      mark_mode(call);
      bind(call, c, at, at + given.values);
    } catch (const c10::Error &e) {
      TORCH_CHECK(false, call.name, call.where, ": ", e.what_without_backtrace());
    }
    at += given.values;
    registers_ += given.outs;
    calls_.push_back(std::move(call));
  }
  TORCH_CHECK(output_ >= 0 && output_ < registers_, "the output is register ", output_, " of ", registers_);
  mark_last_uses();
}

Calls::Value Calls::value(const graft_calls &c, const char *text, int64_t &at, int depth) const {
  const graft_value &given = c.values[at++];
  Value v{given.kind, given.number, given.real, text + given.text, {}};
  TORCH_CHECK(v.kind != GRAFT_VALUE_REGISTER || (v.number >= 0 && v.number < registers_), "register ", v.number, " of ", registers_, " is not written yet");
  if (v.kind != GRAFT_VALUE_LIST) return v;
  TORCH_CHECK(depth == 0, "a list in a list");
  for (int64_t k = 0; k < given.number; k++) v.items.push_back(value(c, text, at, depth + 1));
  return v;
}

// Gives each argument of the schema what the call names, or its default.
void Calls::bind(Call &call, const graft_calls &c, int64_t at, int64_t end) const {
  std::unordered_map<std::string, Value> given;
  while (at < end) {
    const std::string name = c.text + c.values[at].name;
    TORCH_CHECK(given.emplace(name, value(c, c.text, at, 0)).second, "the argument ", name, " is given twice");
  }
  for (const c10::Argument &a : call.op.schema->arguments()) {
    Argument argument;
    argument.type = a.type();
    argument.items = items_of(a);
    argument.name = a.name();
    auto found = given.find(a.name());
    c10::TypePtr inner = a.type();
    if (inner->kind() == TypeKind::OptionalType) inner = inner->castRaw<c10::OptionalType>()->getElementType();
    if (inner->kind() == TypeKind::DeviceObjType) {
      argument.constant = device();
    } else if (a.name() == "cudnn_enabled" || a.name() == "cudnn_enable") {
      argument.constant = true;
    } else if (found != given.end()) {
      argument.given = found->second;
      argument.reads = found->second.reads();
      if (!argument.reads) argument.constant = argument_value(argument, nullptr);
    } else if (a.default_value().has_value()) {
      argument.constant = *a.default_value();
    } else if (call.mode != Mode::kNone && call.moded == static_cast<int32_t>(call.arguments.size())) {
      argument.constant = false;  // until a pass sets it
    } else {
      TORCH_CHECK(a.type()->kind() == TypeKind::OptionalType, "the argument ", a.name(), " is missing");
    }
    if (found != given.end()) given.erase(found);
    call.arguments.push_back(std::move(argument));
  }
  TORCH_CHECK(given.empty(), "there is no argument ", given.empty() ? "" : given.begin()->first);
}

// An exported graph holds one mode; a pass sets these arguments for its own.
void Calls::mark_mode(Call &call) const {
  static const std::unordered_map<std::string, std::pair<const char *, Mode>> kModes = {
      {"aten::batch_norm", {"training", Mode::kStatistics}},
      {"aten::instance_norm", {"use_input_stats", Mode::kStatistics}},
      {"aten::dropout", {"train", Mode::kTraining}},
      {"aten::feature_dropout", {"train", Mode::kTraining}},
      {"aten::lstm", {"train", Mode::kTraining}},
      {"aten::gru", {"train", Mode::kTraining}},
      {"aten::rnn_tanh", {"train", Mode::kTraining}},
      {"aten::rnn_relu", {"train", Mode::kTraining}},
      {"aten::scaled_dot_product_attention", {"dropout_p", Mode::kProbability}},
  };
  auto found = kModes.find(call.op.schema->name());
  if (found == kModes.end()) return;
  call.mode = found->second.second;
  const auto index = call.op.schema->argumentIndexWithName(found->second.first);
  TORCH_CHECK(index.has_value(), "this LibTorch's operator has no argument ", found->second.first);
  call.moded = static_cast<int32_t>(*index);
}

void Calls::mark_last_uses() {
  std::vector<bool> read(registers_, false);
  read[output_] = true;
  auto note = [&](Call &call, const Value &v) {
    if (v.kind != GRAFT_VALUE_REGISTER) return;
    if (!read[v.number] && v.number > static_cast<int64_t>(tensors_.size())) call.last_use.push_back(static_cast<int32_t>(v.number));
    read[v.number] = true;
  };
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    for (const Argument &a : call->arguments) {
      if (!a.reads) continue;
      note(*call, a.given);
      for (const Value &item : a.given.items) note(*call, item);
    }
    for (int32_t k = 0; k < call->outs; k++) {
      if (!read[call->first + k]) call->last_use.push_back(call->first + k);
    }
  }
}

IValue Calls::convert(const Value &v, const c10::TypePtr &type, const std::vector<IValue> *regs) const {
  if (type->kind() == TypeKind::OptionalType)
    return v.kind == GRAFT_VALUE_NONE ? IValue() : convert(v, type->castRaw<c10::OptionalType>()->getElementType(), regs);
  if (type->kind() == TypeKind::ListType) return convert_list(v, type->castRaw<c10::ListType>()->getElementType(), regs);
  const IValue given = v.kind == GRAFT_VALUE_REGISTER ? regs->at(v.number)
                       : v.kind == GRAFT_VALUE_INT    ? IValue(v.number)
                       : v.kind == GRAFT_VALUE_DOUBLE ? IValue(v.real)
                       : v.kind == GRAFT_VALUE_BOOL   ? IValue(v.number != 0)
                       : v.kind == GRAFT_VALUE_TEXT   ? IValue(v.text)
                                                      : IValue();
  switch (type->kind()) {
    case TypeKind::TensorType:
      if (given.isTensor() || given.isScalar()) return tensor_of(given);
      break;
    case TypeKind::NumberType:
      if (given.isScalar()) return given;
      if (given.isTensor() && given.toTensor().numel() == 1) return given.toTensor().item();
      break;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      if (given.isInt() || given.isBool() || given.isTensor()) return whole(given);
      break;
    case TypeKind::FloatType:
      if (given.isDouble()) return given;
      if (given.isInt()) return static_cast<double>(given.toInt());
      break;
    case TypeKind::BoolType:
      if (given.isBool()) return given;
      break;
    case TypeKind::StringType:
      if (given.isString()) return given;
      break;
    default: break;
  }
  TORCH_CHECK(false, "a value of type ", type->str(), " is expected, not ", given.tagKind());
}

IValue Calls::argument_value(const Argument &a, const std::vector<IValue> *regs) const {
  try {
    return fit_items(convert(a.given, a.type, regs), a.items);
  } catch (const c10::Error &e) {
    TORCH_CHECK(false, "argument ", a.name, ": ", e.what_without_backtrace());
  }
}

IValue Calls::convert_list(const Value &v, const c10::TypePtr &element, const std::vector<IValue> *regs) const {
  const std::vector<Value> one{v};
  const std::vector<Value> &items = v.kind == GRAFT_VALUE_LIST ? v.items : one;
  const TypeKind kind = element->kind();
  if (kind == TypeKind::IntType || kind == TypeKind::SymIntType) {
    if (v.kind == GRAFT_VALUE_REGISTER) return wholes(regs->at(v.number));
    std::vector<int64_t> list;
    for (const Value &item : items) list.push_back(whole(convert(item, c10::IntType::get(), regs)));
    return list;
  }
  if (kind == TypeKind::FloatType) {
    std::vector<double> list;
    for (const Value &item : items) list.push_back(convert(item, element, regs).toDouble());
    return list;
  }
  if (kind == TypeKind::BoolType) {
    c10::List<bool> list;
    for (const Value &item : items) list.push_back(convert(item, element, regs).toBool());
    return list;
  }
  c10::impl::GenericList list(element);
  for (const Value &item : items) list.push_back(convert(item, element, regs));
  return list;
}

IValue Calls::mode_value(const Call &call, const IValue &given, const torch::jit::Stack &stack, bool training) const {
  switch (call.mode) {
    case Mode::kTraining: return training;
    case Mode::kStatistics: {
      // Without running statistics a norm uses the batch's own in every mode.
      const auto mean = call.op.schema->argumentIndexWithName("running_mean");
      return training || stack[*mean].isNone();
    }
    case Mode::kProbability: return training ? given : IValue(0.0);
    default: return given;
  }
}

void Calls::run(const Call &call, CallPass &pass) const {
  torch::jit::Stack stack;
  try {
    for (const Argument &a : call.arguments) stack.push_back(a.reads ? argument_value(a, &pass.regs) : a.constant);
  } catch (const c10::Error &e) {
    TORCH_CHECK(false, call.name, call.where, ": ", e.what_without_backtrace());
  }
  if (call.moded >= 0) stack[call.moded] = mode_value(call, stack[call.moded], stack, pass.training);
  const std::string inputs = shapes(stack);
  try {
    check_empty(call.op.schema->name(), stack);
    check_data(call.op.schema->name(), stack);
    if (call.op.own != nullptr) {
      stack = {call.op.own(stack, pass)};
    } else if (call.op.count != nullptr) {
      stack = {call.op.count(stack)};
    } else {
      call.op.handle->callBoxed(&stack);
    }
  } catch (const c10::Error &e) {
    TORCH_CHECK(false, call.name, call.where, " of", inputs, ": ", e.what_without_backtrace());
  } catch (const std::runtime_error &e) {  // of functions that infer shapes
    TORCH_CHECK(false, call.name, call.where, " of", inputs, ": ", e.what());
  }
  if (stack.size() == 1 && stack[0].isTensorList()) {
    const auto list = stack[0].toTensorVector();
    stack.assign(list.begin(), list.end());
  }
  TORCH_CHECK(stack.size() >= static_cast<size_t>(call.outs), call.name, call.where, " of", inputs, " has ", stack.size(), " results, where ", call.outs, " are read");
  for (int32_t k = 0; k < call.outs; k++) pass.regs[call.first + k] = std::move(stack[k]);
}

at::Tensor Calls::forward(const at::Tensor &input, bool training, c10::optional<at::Generator> generator, Masks *masks) const {
  at::get_num_threads();  // sets up a thread that is new to LibTorch
  const Narrow threads(steady_);
  const Numerics numerics(device(), steady_, tf32_);
  CallPass pass{std::vector<IValue>(registers_), training, generator, masks, steady_, fast_};
  pass.regs[0] = input;
  for (size_t k = 0; k < tensors_.size(); k++) pass.regs[k + 1] = tensors_[k];
  int64_t place = 0;  // among the calls that both modes run
  for (const Call &call : calls_) {
    if (!call.only_training) note_call(place++);
    if (call.only_training && !training) continue;
    run(call, pass);
    for (int32_t reg : call.last_use) pass.regs[reg] = IValue();
    if (stopwatch() != nullptr) stopwatch()->forward(place - 1);
  }
  TORCH_CHECK(pass.regs[output_].isTensor(), "the output is no tensor");
  return pass.regs[output_].toTensor();
}

}  // namespace graft

char *graft_operator_check(const char *name, const char *overload) {
  return graft::guarded([&] { graft::check_function(name, overload); });
}

char *graft_calls_new(const graft_calls *calls, graft_program *out) {
  return graft::guarded([&] { *out = static_cast<graft::Network *>(new graft::Calls(*calls)); });
}

void graft_calls_trace(int32_t fd) { graft::trace = fd; }
