// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// fuzz_<target> [--made N] FILE|FOLDER...: runs a target over files, then over N inputs that are made from them by
/// random edits. Each call makes the same inputs. libFuzzer, which searches for new code paths, has its own main.
#include "tests/fuzz/target.hpp"

#include <charconv>
#include <iterator>
#include <random>
#include <vector>

namespace {

constexpr std::uint64_t seed = 1;
constexpr std::size_t longest = 8192;  ///< bytes of a generated input, as in tests/fuzz/run

std::vector<std::filesystem::path> files_in(std::vector<std::string> const& names) {
  std::vector<std::filesystem::path> files;
  for (auto const& name : names) {
    if (!std::filesystem::is_directory(name)) {
      files.emplace_back(name);
      continue;
    }
    for (auto const& entry : std::filesystem::directory_iterator(name)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// Generates inputs by editing those of a corpus.
class Editor {
 public:
  explicit Editor(std::vector<std::string> const& corpus) : corpus_(corpus) {}

  std::string next() {
    std::string text = corpus_[below(corpus_.size())];
    for (auto edits = 1 + below(4); edits > 0; --edits) edit(text);
    text.resize(std::min(text.size(), longest));
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % std::max<std::size_t>(bound, 1)); }

  /// A random piece of up to 64 bytes of any input.
  std::string piece() {
    auto const& other = corpus_[below(corpus_.size())];
    return other.substr(below(other.size()), 1 + below(64));
  }

  char odd_byte() {
    constexpr std::string_view odd = "\xff\x7f\x80\n\r\t :,-.#'\"[]{}0129eE~$%";
    auto const at = below(odd.size() + 1);
    return at < odd.size() ? odd[at] : '\0';
  }

  void edit(std::string& text) {
    auto const at = below(text.size() + 1), length = 1 + below(std::min<std::size_t>(text.size() - at + 1, 64));
    switch (below(8)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < text.size()) text[at] = odd_byte();
        break;
      case 2:
        text.insert(at, 1, odd_byte());
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(at, text.substr(at, length));
        break;
      case 5:
        text.insert(at, piece());
        break;
      case 6:
        text.replace(at, length, piece());
        break;
      default:
        text.resize(at);
        break;
    }
  }

  std::vector<std::string> const& corpus_;
  std::mt19937_64 random_{seed};
};

void run(std::string const& content) {
  LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(content.data()), content.size());
}

/// Stores the current input in a file, which stays there if a fault ends the process.
void run_made(std::vector<std::string> const& corpus, int count, std::filesystem::path const& at_work) {
  Editor editor(corpus);
  for (int i = 0; i < count; ++i) {
    auto const content = editor.next();
    std::ofstream(at_work, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    run(content);
  }
  std::filesystem::remove(at_work);
  std::cout << count << " made inputs, nothing found\n";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  int made = 0;
  if (words.size() > 1 && words[0] == "--made") {
    auto const& text = words[1];
    if (std::from_chars(text.data(), text.data() + text.size(), made).ptr != text.data() + text.size()) words.clear();
    words.erase(words.begin(), words.begin() + std::min<std::ptrdiff_t>(2, std::ssize(words)));
  }
  std::vector<std::string> corpus;
  for (auto const& file : files_in(words)) {
    std::ifstream in(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (!in) {
      std::cerr << file.string() << ": cannot be read\n";
      return 2;
    }
    std::cout << file.filename().string() << std::endl;  // flush before a fault can end the process
    run(corpus.back());
  }
  if (corpus.empty()) {
    std::cerr << "usage: " << argv[0] << " [--made N] FILE|FOLDER...\n";
    return 2;
  }
  auto const at_work = std::filesystem::path(argv[0]).filename().string() + ".input";
  if (made > 0) std::cout << "made inputs; the one at work is in " << at_work << std::endl;
  run_made(corpus, made, at_work);
  return 0;
}
