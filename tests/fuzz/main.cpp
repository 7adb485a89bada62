// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// fuzz_<target> FILE|FOLDER...: runs a target over files, where it is not linked with libFuzzer, which has its own
/// main.
#include "tests/fuzz/target.hpp"

#include <iterator>
#include <vector>

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (auto const& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (auto const& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string const content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in) {
      std::cerr << file.string() << ": cannot be read\n";
      return 2;
    }
    std::cout << file.filename().string() << std::endl;  // on its way before a fault ends the process
    LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(content.data()), content.size());
  }
  if (files.empty()) std::cerr << "usage: " << argv[0] << " FILE|FOLDER...\n";
  return files.empty() ? 2 : 0;
}
