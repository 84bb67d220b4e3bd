// The command line of an example: --name VALUE, or --name alone. What the usage line does not name is refused.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

class Arguments {
 public:
  Arguments(int argc, char** argv, const std::string& usage) : words_(argv + 1, argv + argc) {
    for (const std::string& word : words_) {
      if (word.rfind("--", 0) != 0 || names(usage, word)) continue;
      std::fprintf(word == "--help" ? stdout : stderr, "usage: %s %s\n", argv[0], usage.c_str());
      std::exit(word == "--help" ? 0 : 2);
    }
  }
  bool has(const std::string& name) const { return find(name) != words_.size(); }
  std::string text(const std::string& name, const std::string& otherwise = "") const {
    size_t at = find(name) + 1;
    return at < words_.size() ? words_[at] : otherwise;
  }
  int number(const std::string& name, int otherwise) const {
    std::string value = text(name);
    return value.empty() ? otherwise : std::atoi(value.c_str());
  }

 private:
  size_t find(const std::string& name) const {
    size_t at = 0;
    while (at < words_.size() && words_[at] != name) at++;
    return at;
  }
  static bool names(const std::string& usage, const std::string& word) {
    std::istringstream parts(usage);
    for (std::string part; parts >> part;)
      if (part == word) return true;
    return false;
  }

  std::vector<std::string> words_;
};
