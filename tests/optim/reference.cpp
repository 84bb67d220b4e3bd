#include "tests/optim/reference.h"
#include "tests/support/paths.h"

#include <sys/wait.h>

#include <cstdio>
#include <sstream>

namespace cresset::testing {

std::vector<double> noise(int64_t count, int64_t seed) {
  std::vector<double> values;
  uint64_t state = static_cast<uint64_t>(seed);
  for (int64_t i = 0; i < count; i++) {
    state = (state * 1103515245u + 12345u) % (uint64_t{1} << 31);
    values.push_back(static_cast<double>(state >> 15) / 32768.0 - 1.0);
  }
  return values;
}

Tensor noise_tensor(IntArrayRef sizes, int64_t seed, DType dtype) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  std::vector<double> values = noise(count, seed);
  Tensor x = empty(sizes, kDouble);
  std::copy(values.begin(), values.end(), x.data_ptr<double>());
  return x.to(dtype);
}

std::vector<Tensor> reference_parameters(DType dtype) {
  std::vector<Tensor> params = {noise_tensor({3, 4}, 7, dtype), noise_tensor({5}, 8, dtype),
                                noise_tensor({2, 3, 2}, 9, dtype)};
  for (Tensor& p : params) p.requires_grad_();
  return params;
}

void set_reference_gradients(const std::vector<Tensor>& params, int step) {
  for (size_t i = 0; i < params.size(); i++) {
    const Tensor& p = params[i];
    p.mutable_grad() =
        noise_tensor(p.sizes(), 1000 + 10 * step + static_cast<int64_t>(i), p.dtype()) + 0.5 * p.detach();
  }
}

std::vector<double> flat_values(const std::vector<Tensor>& tensors) {
  std::vector<double> all;
  for (const Tensor& t : tensors) {
    std::vector<double> values = t.detach().to(kDouble).tolist<double>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

namespace {

// "ID KEY 2 3 : numbers" into the dict of one optimizer's states.
void read_saved(std::istringstream& words, IValue::Dict& states) {
  int64_t id = 0;
  std::string key, word;
  words >> id >> key;
  std::vector<int64_t> sizes;
  bool is_number = false;
  while (words >> word && word != ":") {
    is_number = word == "number";
    if (!is_number) sizes.push_back(std::stoll(word));
  }
  std::vector<double> values;
  while (words >> word && word != "None") values.push_back(std::stod(word));
  IValue value;
  if (is_number && !values.empty()) {
    value = static_cast<int64_t>(values[0]);
  } else if (!is_number) {
    Tensor tensor = empty(sizes, kDouble);
    std::copy(values.begin(), values.end(), tensor.data_ptr<double>());
    value = tensor;
  }
  if (states.items.empty() || states.items.back().first.toInt() != id) states.items.emplace_back(id, IValue::Dict());
  states.items.back().second.toDict()[key] = value;
}

}  // namespace

const Reference& reference() {
  static const Reference read = [] {
    Reference result;
    FILE* pipe = popen(("/usr/bin/python3 " + test::source_path("tests/optim/reference.py")).c_str(), "r");
    if (!pipe) return result;
    std::string text;
    char buffer[4096];
    while (size_t count = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, count);
    const int status = pclose(pipe);
    if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) return result;
    EXPECT_EQ(status, 0) << "reference.py failed";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string kind, name, word;
      words >> kind >> name;
      if (kind == "run" || kind == "lr") {
        if (kind == "run") {
          words >> word;
          name += " " + word;
        } else {
          name = "lr " + name;
        }
        while (words >> word) result.runs[name].push_back(std::stod(word));
      } else if (kind == "saved") {
        read_saved(words, result.saved[name]);
      } else {
        std::vector<std::string>& keys = result.keys[kind + " " + name];
        while (words >> word) keys.push_back(word);
      }
    }
    result.available = true;
    return result;
  }();
  return read;
}

}  // namespace cresset::testing
