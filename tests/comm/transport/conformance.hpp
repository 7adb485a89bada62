// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bellwether::test {

/// One communicator that must pass the suite. `make` is collective over the ranks of the world.
struct Candidate {
  std::string name;
  std::function<std::unique_ptr<comm::Communicator>()> make;
};

/// Every transport, and every way of cutting and staging it.
std::vector<Candidate> candidates();

/// Byte k of what rank `from` sends to rank `to`: a formula, so that a receiver can check without asking.
std::byte pattern(int from, int to, std::int64_t k, unsigned salt);

/// Memory of the execution space with a host copy beside it.
class Buffer {
 public:
  explicit Buffer(std::int64_t size);
  std::vector<std::byte>& host() { return host_; }
  void upload(Exec const& exec);
  void download(Exec const& exec);
  comm::Bytes all() const;

 private:
  std::vector<std::byte> host_;
  Vec<std::byte> device_;
};

}  // namespace bellwether::test
