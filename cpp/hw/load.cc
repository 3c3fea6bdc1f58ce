#include "hw/load.h"

#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ir/transform.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>

#include "hw/section.h"

namespace tilelang_ascend_sched {

namespace {

constexpr const char* kOption = "tl.ascend_sched.hardware";

constexpr const char* kBytes = "bytes";
constexpr const char* kCycles = "cycles";
constexpr const char* kBytesPerCycle = "bytes/cycle";
constexpr const char* kOperationsPerCycle = "operations/cycle";
constexpr const char* kLanesPerCycle = "lanes/cycle";
constexpr const char* kElements = "elements";
constexpr const char* kCount = "count";

void LoadCapacities(Section scopes, Machine* machine) {
  constexpr const char* kKeys[] = {"ub", "l1", "l0a", "l0b", "l0c"};
  for (size_t i = 0; i < machine->capacities.size(); ++i) {
    machine->capacities[i] = scopes.Divisor(kKeys[i], kBytes);
  }
  machine->ub_with_simt = scopes.Divisor("ub_with_simt", kBytes);
  scopes.Done();
}

void LoadPipes(Section pipes, Machine* machine) {
  for (size_t i = 0; i < kPipes.size(); ++i) {
    Section section = pipes.Child(PipeName(kPipes[i]));
    PipeModel& pipe = machine->pipes[i];
    for (const std::string& core : section.Texts("cores")) {
      if (core != "AIC" && core != "AIV") section.Fail("cores", "may name AIC and AIV");
      pipe.cores |= core == "AIC" ? kAic : kAiv;
    }
    pipe.completes_in_order = section.Flag("completes_in_order");
    section.Source();
    section.Done();
  }
  pipes.Done();
}

void LoadSync(Section section, SyncModel* sync) {
  sync->flags_per_event = section.Divisor("flags_per_event", kCount);
  sync->locks = section.Divisor("locks", kCount);
  sync->cross_core_flags = section.Divisor("cross_core_flags", kCount);
  sync->cross_core_max_count = section.Divisor("cross_core_max_count", kCount);
  section.Done();
}

PortMask LoadPorts(Section* section) {
  PortMask mask = 0;
  for (const std::string& port : section->Texts("ports")) {
    if (port == "AIV") {
      mask |= kAivPort;
    } else if (port == "AIC") {
      mask |= kAicPort;
    } else if (port == "store") {
      mask |= kStorePort;
    } else {
      section->Fail("ports", "names the port \"" + port + "\"; ports are AIV, AIC and store");
    }
  }
  return mask;
}

constexpr const char* kRouteKeys[kNumRoutes] = {"gm_to_l1",    "gm_to_ub",   "ub_to_gm",
                                                "ub_to_l1",    "l1_to_l0a",  "l1_to_l0b",
                                                "l1_to_scale", "l1_to_bias", "l1_to_fixpipe_buffer",
                                                "l0c_to_ub",   "l0c_to_gm"};

void LoadTransfers(Section transfers, Machine* machine) {
  for (size_t i = 0; i < kNumRoutes; ++i) {
    Section section = transfers.Child(kRouteKeys[i]);
    Transfer& transfer = machine->transfers[i];
    const std::string name = section.Text("pipe");
    const std::optional<PipeMask> pipe = ParsePipe(name);
    if (!pipe || (*pipe & kDmaPipes) == 0 || *pipe == kAllPipes) {
      section.Fail("pipe", "is \"" + name + "\"; it must be MTE1, MTE2, MTE3 or FIX");
    }
    transfer.pipe = static_cast<Pipe>(*pipe);
    transfer.ports = LoadPorts(&section);
    transfer.bandwidth = section.Divisor("bandwidth", kBytesPerCycle);
    transfer.latency = section.Figure("latency", kCycles);
    transfer.issue = section.Figure("issue", kCycles);
    transfer.min_interval = section.Figure("min_interval", kCycles);
    section.Done();
  }
  transfers.Done();
}

// Of two entries with one name the second would never be found.
std::vector<std::string> LoadNames(Section* section, std::set<std::string>* known) {
  std::vector<std::string> names = section->Texts("names");
  if (names.empty()) section->Fail("names", "is empty");
  for (const std::string& name : names) {
    if (!known->insert(name).second) {
      section->Fail("names", "has \"" + name + "\" a second time");
    }
  }
  return names;
}

PipeMask LoadPipeMask(Section* section) {
  PipeMask mask = 0;
  for (const std::string& name : section->Texts("pipes")) {
    const std::optional<PipeMask> pipe = ParsePipe(name);
    if (!pipe || *pipe == kAllPipes) {
      section->Fail("pipes",
                    "names the pipe \"" + name + "\"; pipes are MTE1, MTE2, MTE3, M, V, FIX and S");
    }
    mask |= *pipe;
  }
  return mask;
}

// An operation that moves data occupies what its route does.
OperationModel LoadOperation(Section section, const Machine& machine,
                             std::set<std::string>* known) {
  OperationModel operation;
  operation.names = LoadNames(&section, known);
  if (section.Has("transfer")) {
    const std::string key = section.Text("transfer");
    const auto* const route = std::ranges::find(kRouteKeys, key);
    if (route == std::end(kRouteKeys)) {
      section.Fail("transfer", "is \"" + key + "\", which is not a key of `transfers`");
    }
    const Transfer& transfer = machine.transfers[route - std::begin(kRouteKeys)];
    operation.pipes = transfer.pipe;
    operation.ports = transfer.ports;
  } else {
    operation.pipes = LoadPipeMask(&section);
  }
  section.Source();
  if (section.Has("note")) section.Text("note");
  section.Done();
  return operation;
}

StridedRows LoadStridedRows(Section section) {
  StridedRows rows;
  rows.transaction = section.Divisor("transaction", kBytes);
  rows.narrow = section.Divisor("narrow", kBytesPerCycle);
  rows.peak = section.Divisor("peak", kBytesPerCycle);
  rows.wide = section.Divisor("wide", kBytesPerCycle);
  rows.unknown = section.Divisor("unknown", kBytesPerCycle);
  rows.latency = section.Figure("latency", kCycles);
  rows.narrow_latency = section.Figure("narrow_latency", kCycles);
  section.Done();
  return rows;
}

void LoadRows(Section rows, Machine* machine) {
  machine->gm_to_ub_rows = LoadStridedRows(rows.Child("gm_to_ub"));
  machine->ub_to_gm_rows = LoadStridedRows(rows.Child("ub_to_gm"));

  Section packed = rows.Child("ub_to_l1");
  machine->ub_to_l1_rows.full_row = packed.Divisor("full_row", kBytes);
  machine->ub_to_l1_rows.numerator = packed.Divisor("numerator", kCount);
  machine->ub_to_l1_rows.denominator = packed.Divisor("denominator", kCount);
  machine->ub_to_l1_rows.unknown = packed.Divisor("unknown", kBytesPerCycle);
  packed.Done();

  Section dual = rows.Child("l0c_to_ub_dual");
  machine->dual.bandwidth = dual.Divisor("bandwidth", kBytesPerCycle);
  machine->dual.row_scale = dual.Divisor("row_scale", "bytes/cycle per row byte");
  machine->dual.unknown = dual.Divisor("unknown", kBytesPerCycle);
  machine->dual.latency = dual.Figure("latency", kCycles);
  dual.Done();
  rows.Done();
}

void LoadCube(Section section, CubeModel* cube) {
  cube->latency = section.Figure("latency", kCycles);
  cube->float32_latency = section.Figure("float32_latency", kCycles);
  cube->mx_latency = section.Figure("mx_latency", kCycles);
  cube->mx_min_extent = section.Figure("mx_min_extent", kElements);
  cube->tile = section.Divisor("tile", kElements);
  cube->row_bits = section.Divisor("row_bits", "bits");
  cube->float32_group = section.Divisor("float32_group", kElements);
  cube->hf32_group = section.Divisor("hf32_group", kElements);
  cube->float16 = section.Divisor("float16", kOperationsPerCycle);
  cube->bfloat16 = section.Divisor("bfloat16", kOperationsPerCycle);
  cube->float32 = section.Divisor("float32", kOperationsPerCycle);
  cube->hf32 = section.Divisor("hf32", kOperationsPerCycle);
  cube->float8 = section.Divisor("float8", kOperationsPerCycle);
  cube->mx_float4 = section.Divisor("mx_float4", kOperationsPerCycle);
  cube->other = section.Divisor("other", kOperationsPerCycle);
  section.Done();
}

ScatterModel LoadScatter(Section section) {
  ScatterModel scatter;
  scatter.min = section.Figure("min", kCycles);
  scatter.setup = section.Figure("setup", kCycles);
  scatter.pass = section.Figure("pass", kCycles);
  scatter.row_quarters = section.Figure("row", "quarter cycles");
  section.Done();
  return scatter;
}

CallCost LoadCall(Section section, std::set<std::string>* known) {
  CallCost cost;
  cost.names = LoadNames(&section, known);
  if (section.Has("throughput")) {
    cost.throughput = section.Divisor("throughput", kLanesPerCycle);
  } else {
    cost.cycles = section.Figure("cycles", kCycles);
  }
  section.Done();
  return cost;
}

void LoadVector(Section section, VectorModel* vector) {
  vector->bandwidth = section.Divisor("bandwidth", kBytesPerCycle);
  vector->register_bytes = section.Divisor("register", kBytes);
  vector->add = section.Divisor("add", kLanesPerCycle);
  vector->subtract = section.Divisor("subtract", kLanesPerCycle);
  vector->multiply = section.Divisor("multiply", kLanesPerCycle);
  vector->divide = section.Divisor("divide", kLanesPerCycle);
  vector->modulo = section.Divisor("modulo", kLanesPerCycle);
  vector->min_max = section.Divisor("min_max", kLanesPerCycle);
  vector->compare = section.Divisor("compare", kLanesPerCycle);
  vector->logic = section.Divisor("logic", kLanesPerCycle);
  std::set<std::string> known;
  for (Section call : section.Children("calls")) vector->calls.push_back(LoadCall(call, &known));
  Section scatter = section.Child("nd2nz_scatter");
  vector->scatter_same = LoadScatter(scatter.Child("same_type"));
  vector->scatter_widening = LoadScatter(scatter.Child("bfloat16_to_float32"));
  vector->scatter_narrowing = LoadScatter(scatter.Child("float32_to_bfloat16"));
  scatter.Done();
  section.Done();
}

std::string ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) TVM_FFI_THROW(ValueError) << path << ": the hardware file cannot be read";
  return text.str();
}

Machine Understand(const std::string& path, const std::string& text) {
  const Json json = ParseJson(path, text);
  Section root(path, json);
  Machine machine;
  machine.file = path;
  machine.name = root.Text("name");
  machine.aivs_per_block = root.Divisor("aivs_per_block", kCount);
  machine.unknown_trips = root.Divisor("unknown_trips", kCount);
  LoadCapacities(root.Child("capacities"), &machine);
  LoadPipes(root.Child("pipes"), &machine);
  LoadSync(root.Child("synchronization"), &machine.sync);
  LoadTransfers(root.Child("transfers"), &machine);
  std::set<std::string> known;
  for (Section operation : root.Children("operations")) {
    machine.operations.push_back(LoadOperation(operation, machine, &known));
  }
  LoadRows(root.Child("strided_rows"), &machine);
  LoadCube(root.Child("cube"), &machine.cube);
  LoadVector(root.Child("vector"), &machine.vector);
  root.Done();
  return machine;
}

// The machine that was asked for last, which is nearly always the one that is asked for next.
class LatestMachine {
 public:
  std::shared_ptr<const Machine> Get(const std::string& path) {
    std::string text = ReadFile(path);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (machine_ == nullptr || machine_->file != path || text_ != text) {
      machine_ = std::make_shared<const Machine>(Understand(path, text));
      text_ = std::move(text);
    }
    return machine_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
  std::shared_ptr<const Machine> machine_;
};

std::string CurrentPath() {
  const auto config = tvm::transform::PassContext::Current()->config;
  if (auto option = config.Get(kOption)) {
    const std::string path = option.value().cast<tvm::ffi::String>();
    if (!path.empty()) return path;
  }
  const auto builtin = tvm::ffi::Function::GetGlobalRequired("tl.ascend_sched.hardware.builtin");
  return builtin().cast<tvm::ffi::String>();
}

}  // namespace

Machine LoadMachine(const std::string& path) { return Understand(path, ReadFile(path)); }

std::shared_ptr<const Machine> CurrentMachine() {
  static LatestMachine latest;
  return latest.Get(CurrentPath());
}

TVM_FFI_STATIC_INIT_BLOCK() {
  // Reads a hardware file for its errors; returns the machine's name.
  tvm::ffi::reflection::GlobalDef().def(
      "tl.ascend_sched.hardware.check",
      [](const tvm::ffi::String& path) { return tvm::ffi::String(LoadMachine(path).name); });
}

}  // namespace tilelang_ascend_sched
