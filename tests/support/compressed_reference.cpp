// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/compressed_reference.hpp"

#include <algorithm>
#include <cmath>

namespace bellwether::test {
namespace {

std::size_t quotient_up(std::size_t dividend, std::size_t divisor) { return (dividend + divisor - 1) / divisor; }

}  // namespace

template <class Real>
ReferenceCompression<Real>::ReferenceCompression(std::size_t count, std::size_t ranks, comm::Scale scale,
                                                 std::size_t groups)
    : active(count, true),
      worker_error(ranks, std::vector<Real>(count)),
      server_error(count),
      worker_signs(ranks, std::vector<bool>(count)),
      count_(count),
      ranks_(ranks),
      chunk_(32 * quotient_up(count, 32 * ranks)),
      group_(32 * quotient_up(quotient_up(count, 32), groups)),
      scale_(scale) {}

template <class Real>
std::size_t ReferenceCompression<Real>::chunk_first(std::size_t chunk) const {
  return std::min(chunk * chunk_, count_);
}

template <class Real>
Real ReferenceCompression<Real>::compress(std::vector<Real>& values, std::size_t first, std::size_t last,
                                          std::vector<bool>& signs) const {
  double sum = 0;
  double alive = 0;
  for (std::size_t k = first; k < last; ++k) {
    if (!active[k]) continue;
    double const value = static_cast<double>(values[k]);
    sum += scale_ == comm::Scale::rms ? value * value : std::abs(value);
    alive += 1;
  }
  double const mean = alive > 0 ? sum / alive : 0;
  Real const scale = static_cast<Real>(scale_ == comm::Scale::rms ? std::sqrt(mean) : mean);
  for (std::size_t k = first; k < last; ++k) {
    signs[k] = active[k] && values[k] >= 0;
    values[k] = !active[k] ? 0 : values[k] >= 0 ? values[k] - scale : values[k] + scale;
  }
  return scale;
}

template <class Real>
std::vector<Real> ReferenceCompression<Real>::mean(std::vector<std::vector<Real>> const& inputs) {
  std::vector<Real> server(count_, 0);
  std::vector<Real> result(count_, 0);
  if (count_ == 0) return result;
  worker_scales.assign(ranks_, {});
  server_scales.assign(ranks_, {});
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    auto& z = worker_error[rank];
    for (std::size_t k = 0; k < count_; ++k) z[k] = inputs[rank][k] + z[k];
    for (std::size_t first = 0; first < count_; first += group_)
      worker_scales[rank].push_back(compress(z, first, std::min(first + group_, count_), worker_signs[rank]));
    for (std::size_t k = 0; k < count_; ++k) {
      Real const scale = worker_scales[rank][k / group_];
      Real const sent = worker_signs[rank][k] ? scale : -scale;
      server[k] = rank == 0 ? sent : server[k] + sent;
    }
  }
  std::vector<bool> signs(count_);
  for (std::size_t k = 0; k < count_; ++k) {
    Real const quotient = server[k] / static_cast<Real>(ranks_);
    server_error[k] = active[k] ? quotient + server_error[k] : 0;
  }
  for (std::size_t chunk = 0; chunk < ranks_; ++chunk) {
    std::size_t const end = chunk_first(chunk + 1);
    for (std::size_t first = chunk_first(chunk); first < end;) {
      std::size_t const last = std::min((first / group_ + 1) * group_, end);
      Real const scale = compress(server_error, first, last, signs);
      server_scales[chunk].push_back(scale);
      for (std::size_t k = first; k < last; ++k) result[k] = !active[k] ? 0 : signs[k] ? scale : -scale;
      first = last;
    }
  }
  return result;
}

template <class Real>
void ReferenceCompression<Real>::set_active(std::vector<bool> const& now) {
  active = now;
  for (std::size_t k = 0; k < count_; ++k) {
    if (active[k]) continue;
    server_error[k] = 0;
    for (auto& error : worker_error) error[k] = 0;
  }
}

template <class Real>
double ReferenceCompression<Real>::worker_error_squared_norm(std::size_t rank) const {
  double sum = 0;
  for (Real const e : worker_error[rank]) sum += static_cast<double>(e) * static_cast<double>(e);
  return sum;
}

template <class Real>
double ReferenceCompression<Real>::server_error_squared_norm(std::size_t chunk) const {
  double sum = 0;
  for (std::size_t k = chunk_first(chunk); k < chunk_first(chunk + 1); ++k)
    sum += static_cast<double>(server_error[k]) * static_cast<double>(server_error[k]);
  return sum;
}

template class ReferenceCompression<float>;
template class ReferenceCompression<double>;

std::vector<unsigned> packed(std::vector<bool> const& active) {
  std::vector<unsigned> words(quotient_up(active.size(), 32), 0);
  for (std::size_t k = 0; k < active.size(); ++k)
    if (active[k]) words[k / 32] |= 0x80000000u >> (k % 32);
  return words;
}

}  // namespace bellwether::test
