// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bellwether::test {

/// A communicator that must pass the suite. `make` is collective over the ranks of the world.
struct Candidate {
  std::string name;
  std::function<std::unique_ptr<comm::Communicator>()> make;
};

/// Returns every transport with every variant of message splitting and staging.
std::vector<Candidate> candidates();

/// Returns byte k of the data that rank `from` sends to rank `to`; a receiver can check it without communication.
std::byte pattern(int from, int to, std::int64_t k, unsigned salt);

/// Execution space memory with a host copy.
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
