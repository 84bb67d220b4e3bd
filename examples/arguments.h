// The command line of an example: --name VALUE, or --name alone, as its usage line names them. What is not there, has
// no value or is no number (N) where one is wanted, is refused with a sentence and status 2; an error on the way ends
// the example with its message and status 1.
#pragma once

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

class Arguments {
 public:
  Arguments(int argc, char** argv, const std::string& usage)
      : program_(argv[0]), usage_(usage), words_(argv + 1, argv + argc) {
    for (size_t at = 0; at < words_.size(); at++) {
      const std::string& word = words_[at];
      if (word == "--help" || word == "-h") {
        std::printf("usage: %s %s\n", program_.c_str(), usage.c_str());
        std::exit(0);
      }
      if (!is_name(word) || !named(word)) refuse("unknown argument " + word);
      const std::string wanted = value_of(word);
      if (wanted.empty()) continue;
      if (++at == words_.size() || is_name(words_[at])) refuse(word + " needs a value (" + wanted + ")");
      if (wanted == "N") check_count(word, words_[at]);
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
  static bool is_name(const std::string& word) { return word.rfind("--", 0) == 0; }
  size_t find(const std::string& name) const {
    size_t at = 0;
    while (at < words_.size() && words_[at] != name) at++;
    return at;
  }
  bool named(const std::string& word) const {
    std::istringstream parts(usage_);
    for (std::string part; parts >> part;)
      if (part == word) return true;
    return false;
  }
  // What the usage line calls a name's value; empty for a name that stands alone.
  std::string value_of(const std::string& name) const {
    std::istringstream parts(usage_);
    std::string part, next;
    while (parts >> part)
      if (part == name) return parts >> next && !is_name(next) ? next : "";
    return "";
  }
  void check_count(const std::string& name, const std::string& text) const {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1)
      refuse(name + " needs a whole number of 1 or more, found " + text);
  }
  [[noreturn]] void refuse(const std::string& sentence) const {
    std::fprintf(stderr, "%s: %s (usage: %s)\n", program_.c_str(), sentence.c_str(), usage_.c_str());
    std::exit(2);
  }

  std::string program_, usage_;
  std::vector<std::string> words_;
};

// main of an example: runs it, and ends it with a message when it throws.
template <class Example>
int run_example(int argc, char** argv, const std::string& usage, const Example& example) {
  const Arguments arguments(argc, argv, usage);
  try {
    return example(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
