// The worker: runs the kernels of a job file and writes a result file. A crash or a hang of
// kernel code ends this process only.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "runtime/findings.h"
#include "runtime/ledger.h"
#include "runtime/machine.h"
#include "runtime/places.h"
#include "runtime/race.h"
#include "runtime/result.h"

namespace emu {
namespace {

struct Job {
  std::string library, result;
  std::vector<Kernel> kernels;
  int workers = 1;
  int idle_seconds = 60;
};

constexpr uint64_t kPage = 4096;
constexpr uint64_t kGap = 64 * kPage;  // between two arrays: no access

uint64_t round_up(uint64_t n) { return (n + kPage - 1) / kPage * kPage; }

[[noreturn]] void usage(const std::string& what) {
  std::fprintf(stderr, "emulator worker: %s\n", what.c_str());
  std::_Exit(2);
}

// Arrays are files shared with the caller, mapped into one window with gaps that fault.
void map_arrays(std::vector<std::pair<std::string, std::string>> const& named_files,
                const std::vector<uint64_t>& sizes) {
  Machine& m = machine();
  uint64_t total = kGap;
  for (uint64_t size : sizes) total += round_up(size) + kGap;
  void* window =
      mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (window == MAP_FAILED) usage("no address space for the arrays");
  uint64_t at = reinterpret_cast<uint64_t>(window) + kGap;
  m.gm_begin = reinterpret_cast<uint64_t>(window);
  m.gm_end = m.gm_begin + total;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 0) {
      const int file = open(named_files[i].second.c_str(), O_RDWR);
      if (file < 0) usage("cannot open " + named_files[i].second);
      if (mmap(reinterpret_cast<void*>(at), sizes[i], PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
        usage("cannot map " + named_files[i].second);
      }
      close(file);
    }
    m.arrays.push_back({named_files[i].first, at, at + sizes[i]});
    at += round_up(sizes[i]) + kGap;
  }
}

KernelKind kind_of(const std::string& word) {
  if (word == "mix") return KernelKind::Mix;
  if (word == "cube") return KernelKind::Cube;
  if (word == "vector") return KernelKind::Vector;
  usage("unknown kernel kind " + word);
}

Pipe pipe_of(const std::string& word) {
  for (int p = 0; p < kPipes; ++p) {
    if (word == pipe_name(Pipe(p))) return Pipe(p);
  }
  usage("unknown pipe " + word);
}

void read_policy(std::istringstream& words, Options& options) {
  std::string policy;
  words >> policy;
  if (policy == "eager") {
    options.policy = Policy::Eager;
  } else if (policy == "lazy") {
    options.policy = Policy::Lazy;
  } else if (policy == "random") {
    options.policy = Policy::Random;
  } else if (policy == "starve") {
    options.policy = Policy::Starve;
    words >> policy;
    options.starved = pipe_of(policy);
  } else {
    usage("unknown policy " + policy);
  }
}

Job read_job(const char* path) {
  Job job;
  std::ifstream file(path);
  if (!file) usage(std::string("cannot read ") + path);
  Options& options = machine().options;
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<uint64_t> sizes;
  std::vector<std::pair<size_t, size_t>> array_slots;  // kernel, slot; the value is the array
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "library") {
      words >> job.library;
    } else if (key == "result") {
      words >> job.result;
    } else if (key == "array") {
      std::string name, file_path;
      uint64_t bytes = 0;
      words >> name >> bytes >> file_path;
      files.emplace_back(name, file_path);
      sizes.push_back(bytes);
    } else if (key == "kernel") {
      Kernel k;
      std::string kind;
      words >> k.name >> kind >> k.blocks >> k.simt >> k.together;
      k.kind = kind_of(kind);
      job.kernels.push_back(k);
    } else if (key == "arg") {
      std::string kind;
      uint64_t value = 0;
      words >> kind >> value;
      Kernel& k = job.kernels.back();
      if (kind == "array") array_slots.emplace_back(job.kernels.size() - 1, k.slots.size());
      k.slots.push_back(value);
    } else if (key == "policy") {
      read_policy(words, options);
    } else if (key == "seed") {
      words >> options.seed;
    } else if (key == "step_budget") {
      words >> options.step_budget;
    } else if (key == "idle_seconds") {
      words >> job.idle_seconds;
    } else if (key == "workers") {
      words >> job.workers;
    } else if (key == "race") {
      words >> options.race;
    } else if (key == "time") {
      words >> options.time;
    } else if (key == "timeline_block") {
      words >> options.timeline_block;
    } else if (key == "closure") {
      words >> options.closure;
    } else if (!key.empty()) {
      usage("unknown job line " + key);
    }
  }
  map_arrays(files, sizes);
  for (auto [kernel, slot] : array_slots) {
    uint64_t& value = job.kernels[kernel].slots[slot];
    value = machine().arrays[value].begin;
  }
  return job;
}

const char* fault_name(int signal, uint64_t address, uint64_t stack_pointer) {
  switch (signal) {
    case SIGFPE:
      return "arithmetic error";
    case SIGILL:
      return "illegal instruction (a trap)";
    case SIGABRT:
      return "abort (an uncaught exception or a failed assertion)";
    case SIGBUS:
      return "bus error";
    default:
      // The guard page lies just below the stack; a large frame may jump past it.
      return address < stack_pointer + 1024 && address + 64 * 1024 > stack_pointer
                 ? "stack overflow"
                 : "bad access";
  }
}

// A fault in kernel code is a finding at the last line known.
void on_fault(int signal, siginfo_t* info, void* context) {
  static bool again = false;
  if (again || !machine().core) {
    // Ends the process by the signal itself, which the parent then names.
    ::signal(signal, SIG_DFL);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, signal);
    sigprocmask(SIG_UNBLOCK, &mask, nullptr);
    raise(signal);
  }
  again = true;
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  const bool access = signal == SIGSEGV || signal == SIGBUS;
  if (access && fault_expected(address)) {
    write_result();
    _exit(0);
  }
  const Core& core = *machine().core;
  const Entry* entry = machine().entry;
  const Loc at =
      code_place(uint64_t(registers[REG_RIP]) + 1, entry ? entry->instr.loc : core.last_at);
  Finding finding("error");
  finding.block = int(machine().block_of(core).index);
  finding.message = std::string("the kernel crashed: ") +
                    fault_name(signal, address, uint64_t(registers[REG_RSP])) +
                    (access ? " at " + address_text(address) : "") + " (line " + line_of(at) + ")";
  finding.add_site(core.name(), entry ? entry->instr.pipe : Pipe::S,
                   entry ? entry->instr.name : "scalar", at);
  stop_with(std::move(finding));
}

int idle_limit = 60;
int idle_ticks = 0;
uint64_t last_steps = ~0ull;

void on_tick(int) {
  const uint64_t steps = machine().steps;
  idle_ticks = steps == last_steps ? idle_ticks + 1 : 0;
  last_steps = steps;
  if (idle_ticks < idle_limit || !machine().core) return;
  Finding finding("budget");
  Core& core = *machine().core;
  finding.message = "the code after line " + line_of(core.last_at) + " ran for " +
                    std::to_string(idle_limit) +
                    " CPU seconds without issuing an instruction (idle_seconds)";
  finding.block = int(machine().block_of(core).index);
  finding.add_site(core.name(), Pipe::S, "scalar", core.last_at);
  stop_with(std::move(finding));
}

void watch() {
  static char stack[64 * 1024];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction fault{};
  fault.sa_sigaction = on_fault;
  fault.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(s, &fault, nullptr);
  struct sigaction tick{};
  tick.sa_handler = on_tick;
  tick.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGPROF, &tick, nullptr);
  itimerval every{{1, 0}, {1, 0}};
  setitimer(ITIMER_PROF, &every, nullptr);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "was killed by SIG" + std::string(sigabbrev_np(signal)) + " (" + strsignal(signal) + ")";
  }
  return "ended with exit status " + std::to_string(WEXITSTATUS(status)) +
         ", so kernel code left it (exit, _Exit)";
}

// A worker is of no use without the process that reads its result.
void end_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(3);
}

std::string partial_path;
void write_partial_result() { write_partial(partial_path); }

// Blocks that do not meet each other are dealt out to processes.
void run_in_processes(const Kernel& kernel, const std::string& base, int workers) {
  std::vector<pid_t> children;
  std::vector<std::string> parts;
  std::fflush(nullptr);
  const pid_t self = getpid();
  for (int w = 0; w < workers; ++w) {
    parts.push_back(base + ".part" + std::to_string(w));
    const pid_t child = fork();
    if (child < 0) usage("cannot fork");
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    end_with_parent(self);
    partial_path = parts.back();
    write_result = write_partial_result;
    watch();
    std::vector<uint32_t> mine;
    for (uint32_t b = w; b < kernel.blocks; b += workers) mine.push_back(b);
    run_blocks(mine);
    write_partial_result();
    std::fflush(nullptr);
    _exit(0);
  }
  for (int w = 0; w < workers; ++w) {
    int status = 0;
    waitpid(children[w], &status, 0);
    if (!read_partial(parts[w])) {
      Finding finding("error");
      finding.message = "a worker process " + how_it_ended(status) + " before its blocks were done";
      report(std::move(finding));
    }
    unlink(parts[w].c_str());
  }
}

std::string result_path;
void write_final_result() { write_json(result_path); }

void run(Job& job) {
  Machine& m = machine();
  result_path = job.result;
  idle_limit = job.idle_seconds;
  write_result = write_final_result;
  void* library = dlopen(job.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) usage(dlerror());
  for (Kernel& kernel : job.kernels) {
    kernel.entry = reinterpret_cast<void (*)(const unsigned long*)>(
        dlsym(library, ("emu_entry_" + kernel.name).c_str()));
    if (!kernel.entry) usage("no kernel " + kernel.name);
    know_library(reinterpret_cast<const void*>(kernel.entry));
    m.kernel = &kernel;
    begin_kernel(kernel);
    if (kernel.blocks == 0) continue;
    const int workers = kernel.together ? 1 : std::min<int>(job.workers, int(kernel.blocks));
    run_in_processes(kernel, job.result, workers);
    if (m.options.race) ledger().race().check_across();
  }
  write_final_result();
}

}  // namespace
}  // namespace emu

int main(int argc, char** argv) {
  if (argc != 2) emu::usage("expects one job file");
  // Before the files are open: the caller removes them when it goes.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  emu::Job job = emu::read_job(argv[1]);
  emu::run(job);
  return 0;
}
