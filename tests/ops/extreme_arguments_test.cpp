// Every op, called through the registry with integers at the ends of their range in place of each integer argument and
// each element of each list: a typed error or a valid result, never a signal, a hang or a size that wrapped around.
// Each op has a child process of its own, with little memory and a deadline, so that what dies is named.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "cresset/core/parallel.h"
#include "cresset/ops/all.h"
#include "cresset/ops/linalg.h"
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t extremes[] = {kLeast,          kLeast + 1, -(1LL << 62),    -(1LL << 32), 0,
                                1LL << 31,       1LL << 32,  (1LL << 32) + 1, 1LL << 61,    1LL << 62,
                                (1LL << 62) + 1, kMost - 2,  kMost - 1,       kMost};
constexpr int kSecondsPerOp = 20;  // of its own processor time; three times that by the clock
constexpr size_t kMemory = 300 << 20;

std::string text_of(const Value& value) {
  if (auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (auto* list = std::get_if<std::vector<int64_t>>(&value)) return cresset::text_of(IntArrayRef(*list));
  if (auto* tensor = std::get_if<Tensor>(&value))
    return tensor->defined() ? "tensor" + cresset::text_of(tensor->sizes()) : "none";
  return "...";
}
std::string text_of(const Values& values) {
  std::string text;
  for (const Value& value : values) text += (text.empty() ? "" : ", ") + text_of(value);
  return "(" + text + ")";
}

// Sizes that are what the elements count, in 128 bits.
bool is_valid(const Tensor& tensor) {
  if (!tensor.defined()) return true;
  __int128 count = 1;
  bool empty = false;
  for (int64_t n : tensor.sizes()) {
    if (n < 0) return false;
    empty = empty || n == 0;
    if (!empty && count <= kMost) count *= n;
  }
  return tensor.numel() == (empty ? 0 : count);
}

// All argument lists with one integer replaced by an extreme.
std::vector<Values> with_extremes(const Op& op, const Values& arguments) {
  std::vector<Values> all;
  for (size_t i = 0; i < arguments.size(); i++) {
    const std::string_view type = op.types[i];
    const auto add = [&](Value value) {
      all.push_back(arguments);
      all.back()[i] = std::move(value);
    };
    if (type == "int") {
      for (int64_t extreme : extremes) add(extreme);
    } else if (type == "int[]") {
      const auto* given = std::get_if<std::vector<int64_t>>(&arguments[i]);
      const std::vector<int64_t> list = given ? *given : std::vector<int64_t>{1};
      for (size_t k = 0; k < std::min<size_t>(list.size(), 4); k++) {
        for (int64_t extreme : extremes) {
          std::vector<int64_t> changed = list;
          changed[k] = extreme;
          add(changed);
        }
      }
      if (list.size() >= 2) {
        add(std::vector<int64_t>(list.size(), kMost));
        add(std::vector<int64_t>(list.size(), 1LL << 32));
        std::vector<int64_t> opposed(list.size(), kMost);
        opposed[1] = kMost - 2;
        add(opposed);
        opposed[1] = kLeast;
        add(opposed);
      }
    }
  }
  return all;
}

// What is wrong with a call, or nothing.
std::string fault_of(const OpCase& c, const Values& arguments) {
  try {
    for (const Tensor& result : call_fresh(c, arguments))
      if (!is_valid(result))
        return message_of("gave shape ", cresset::text_of(result.sizes()), " with numel ", result.numel());
  } catch (const Error& error) {
    return error.what()[0] == '\0' ? "threw an error without a text" : "";
  } catch (const std::exception& error) {
    return message_of("threw what is no cresset::Error: ", error.what());
  }
  return "";
}

size_t memory_now() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(getpagesize());
}

std::vector<Sample> samples_of(const OpCase& c) {
  DType dtype = c.dtypes.front();
  for (DType wanted : {kInt64, kFloat})
    if (std::find(c.dtypes.begin(), c.dtypes.end(), wanted) != c.dtypes.end()) dtype = wanted;
  Make make(dtype);
  std::vector<Sample> kept;
  for (Sample& sample : c.samples(make)) {
    int64_t elements = 0;
    mapped(sample.arguments, [&](const Tensor& tensor) {
      elements = std::max(elements, tensor.defined() ? tensor.numel() : 0);
      return tensor;
    });
    if (elements <= 1000 && kept.size() < 4) kept.push_back(std::move(sample));
  }
  return kept;
}

// In the child: writes what it tries into `place` before each call, faults into the pipe.
void sweep(const OpCase& c, char* place, size_t place_size, int faults) {
  set_num_threads(1);
  // The libraries take their own memory now: OpenBLAS waits for ever for what the limit refuses.
  linalg_svd(matmul(ones({64, 64}), ones({64, 64})));
  const rlimit limit{memory_now() + kMemory, memory_now() + kMemory};
  setrlimit(RLIMIT_AS, &limit);
  const rlimit seconds{kSecondsPerOp, kSecondsPerOp};
  setrlimit(RLIMIT_CPU, &seconds);
  int found = 0;
  for (const Sample& sample : samples_of(c)) {
    Values completed = sample.arguments;
    complete(c.op(), completed);
    for (const bool meta : {true, false}) {
      if (meta && (!c.no_meta.empty() || sample.values_decide_shape)) continue;
      for (const Values& arguments : with_extremes(c.op(), completed)) {
        const std::string what = message_of(c.full_name(), text_of(arguments), meta ? " on meta" : " on the CPU");
        what.copy(place, place_size - 1);
        place[std::min(what.size(), place_size - 1)] = '\0';
        const std::string fault = fault_of(c, meta ? on_device(arguments, DeviceType::Meta) : arguments);
        if (fault.empty()) continue;
        const std::string line = what + " " + fault + "\n";
        if (::write(faults, line.data(), line.size()) < 0 || ++found == 5) return;
      }
    }
  }
}

bool takes_integers(const Op& op) {
  for (int i = 0; i < op.argument_count; i++)
    if (std::string_view(op.types[i]).starts_with("int")) return true;
  return false;
}

class ExtremeArguments : public testing::TestWithParam<const OpCase*> {};

std::vector<const OpCase*> cases_with_integers() {
  std::vector<const OpCase*> list;
  for (const OpCase& c : all_cases())
    if (takes_integers(c.op())) list.push_back(&c);
  return list;
}
INSTANTIATE_TEST_SUITE_P(All, ExtremeArguments, testing::ValuesIn(cases_with_integers()),
                         [](const auto& info) { return message_of(info.param->full_name(), "_", info.index); });

TEST_P(ExtremeArguments, are_refused_or_right) {
  constexpr size_t kPlace = 4096;
  auto* place = static_cast<char*>(mmap(nullptr, kPlace, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(place, MAP_FAILED);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(pipe_ends[0]);
    alarm(3 * kSecondsPerOp);
    sweep(*GetParam(), place, kPlace, pipe_ends[1]);
    _exit(0);
  }
  close(pipe_ends[1]);
  std::string faults;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
    faults.append(buffer, static_cast<size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(faults, "");
  if (WIFSIGNALED(status))
    ADD_FAILURE() << place
                  << (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL
                          ? ": not done after the deadline"
                          : message_of(": killed by signal ", WTERMSIG(status)));
  munmap(place, kPlace);
}

}  // namespace
}  // namespace cresset::test
