// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint_reader.hpp"

#include "app/checkpoint/checkpoint_file.hpp"
#include "app/checkpoint/checkpoint_slices.hpp"
#include "app/checkpoint/device_copy.hpp"
#include "app/checkpoint/earlier_names.hpp"
#include "app/checkpoint/state_validity.hpp"
#include "app/format/formatted.hpp"
#include "app/launch/collective_errors.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/system/error.hpp"
#include "core/system/system_limits.hpp"
#include "input/threads/io_thread.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <sstream>

namespace bellwether::app {
namespace {

using input::Hdf5File;
using Shape = std::vector<std::int64_t>;

/// Returns the path in a line of /index, "kind path".
std::string path_in(std::string const& line) { return line.substr(line.find(' ') + 1); }

/// Returns the number of elements per row.
std::int64_t row_width(Shape const& shape) {
  return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
}

Shape shape_of(std::span<float const> values) { return {static_cast<std::int64_t>(values.size())}; }

}  // namespace

CheckpointReader::CheckpointReader(FoundCheckpoint const& found, ParameterLayout const& layout, comm::RankGroup& group,
                                   input::IoThread& io)
    : folder_(found.path),
      step_(found.step),
      ranks_(found.ranks),
      files_(found.files),
      layout_(layout),
      group_(group),
      io_(io) {
  std::string lines;
  if (group_.rank() == 0)
    attempt([&] {
      auto const from = Hdf5File::open(shared_file());
      require_attribute(from, "step", step_, "as in the manifest");
      require_attribute(from, "ranks", ranks_, "as in the manifest");
      for (auto const& line : from.read_texts("index")) lines += line + '\n';
    });
  // Without the index, nothing else can be checked.
  raise_together(group_, faults_);
  std::istringstream in(broadcast_text(group_, lines));
  for (std::string line; std::getline(in, line);) {
    unread_.insert(line);
    stored_.insert(path_in(line));
  }
}

std::string CheckpointReader::shared_file() const {
  return (std::filesystem::path(folder_) / "replicated.h5").string();
}

input::Hdf5File CheckpointReader::open(int rank) const {
  std::string const name = "rank" + std::to_string(rank) + ".h5",
                    path = (std::filesystem::path(folder_) / name).string();
  if (std::ranges::count(files_, name) == 0)
    throw InputError(path + ": is not named by the manifest, which therefore has no checksum of it");
  auto file = Hdf5File::open(path);
  require_attribute(file, "step", step_, "as in the manifest");
  require_attribute(file, "ranks", ranks_, "as in the manifest");
  require_attribute(file, "rank", rank, "as in its name");
  return file;
}

std::string CheckpointReader::stored_path(std::string_view name) const {
  auto const today = path(name), earlier = earlier_path(today);
  return !earlier.empty() && stored_.contains(earlier) && !stored_.contains(today) ? earlier : today;
}

bool CheckpointReader::expect(char const* kind, std::string const& path) {
  if (unread_.erase(std::string(kind) + " " + path) == 1) return true;
  fault(folder_ + ": " + path + ": no " + kind + " state of this name");
  return false;
}

bool CheckpointReader::attempt(std::function<void()> const& read) {
  try {
    io_.run(input::IoThread::Priority::checkpoint, read);
    return true;
  } catch (std::exception const& error) {
    fault(what_of(error));
    return false;
  }
}

void CheckpointReader::require_sound(std::string const& file, std::string const& path, std::span<float const> values,
                                     std::int64_t first, ValueRange range) const {
  auto const found = first_unsound(values, range);
  if (!found) return;
  std::int64_t const at = first + *found;
  std::string of;
  if (std::ssize(values) == layout_.count())
    for (auto const& tensor : layout_.tensors())
      if (at >= tensor.offset && at < tensor.offset + tensor.count) of = " of " + tensor.name;
  throw InputError(file + ": " + path + of + ": " + unsound_text(at, values[static_cast<std::size_t>(*found)], range) +
                   "; remove this checkpoint to resume from an older one");
}

void CheckpointReader::read_shared(std::string const& path, Shape const& shape, std::span<float> values,
                                   ValueRange range) {
  std::vector<float> host(values.size());
  if (group_.rank() == 0)
    attempt([&] {
      auto const from = Hdf5File::open(shared_file());
      require_shape(from, path, shape);
      from.read_slab<float>(path, Shape(shape.size(), 0), shape, host);
      require_sound(from.path(), path, host, 0, range);
    });
  group_.broadcast_host(std::as_writable_bytes(std::span(host)), 0, "bellwether::checkpoint::replicated");
  copy_to_device(host, values);
}

void CheckpointReader::parameter(TensorInfo const& tensor, std::span<float> values, bool per_rank_state) {
  if (!per_rank_state) {
    if (expect("replicated", path(tensor.name)))
      read_shared(path(tensor.name), tensor.shape, values, ValueRange::finite);
  } else if (expect("per_rank", path(tensor.name))) {
    read_own_or_reshard(path(tensor.name), tensor.shape, values, Reshard::mean, ValueRange::finite);
  }
}

void CheckpointReader::array(ArraySpec const& spec, std::span<float> values) {
  auto const path = stored_path(spec.name);
  auto const shape = shape_of(values);
  switch (spec.placement) {
    case Placement::replicated:
      if (expect("replicated", path)) read_shared(path, shape, values, spec.range);
      return;
    case Placement::partitioned:
      if (expect("partitioned", path)) read_partitioned(spec, values);
      return;
    case Placement::per_rank:
      if (expect("per_rank", path)) read_own_or_reshard(path, shape, values, spec.reshard, spec.range);
      return;
    case Placement::held:
      if (expect("per_rank", path)) read_own_or_mean(path, shape, values, spec.first, spec.total, spec.range);
      return;
  }
}

void CheckpointReader::read_partitioned(ArraySpec const& spec, std::span<float> slice) {
  auto const path = stored_path(spec.name);
  std::vector<float> host(slice.size());
  if (attempt([&] {
        gather_slices(
            {.open = [this](int rank) { return open(rank); }, .ranks = ranks_, .try_first = group_.rank() % ranks_},
            path, host, spec.first, spec.total);
        require_sound(folder_, path, host, spec.first, spec.range);
      }))
    copy_to_device(host, slice);
}

void CheckpointReader::read_own_or_reshard(std::string const& path, Shape const& shape, std::span<float> values,
                                           Reshard reshard, ValueRange range) {
  if (reshard == Reshard::mean) return read_own_or_mean(path, shape, values, 0, shape.at(0), range);
  std::vector<float> host(values.size(), 0.0F);
  if (ranks_ == group_.size()) {
    attempt([&] {
      auto const from = open(group_.rank());
      require_shape(from, path, shape);
      from.read_slab<float>(path, Shape(shape.size(), 0), shape, host);
      require_sound(from.path(), path, host, 0, range);
    });
  } else if (reshard == Reshard::refuse) {
    fault(folder_ + ": " + path + ": belongs to " + std::to_string(ranks_) +
          " ranks and cannot be resharded; resume on that number of ranks");
  }
  copy_to_device(host, values);
}

bool CheckpointReader::same_cut(std::string const& path, Shape const& shape, std::int64_t first, std::int64_t total) {
  if (ranks_ != group_.size()) return false;
  HeldRows const wanted{first, first + shape.at(0), total};
  double others = 1;
  attempt([&] { others = held_rows(open(group_.rank()), path) == wanted ? 0 : 1; });
  group_.sum_host({&others, 1}, "bellwether::checkpoint::same_cut");
  return others == 0;
}

void CheckpointReader::read_own_or_mean(std::string const& path, Shape const& shape, std::span<float> values,
                                        std::int64_t first, std::int64_t total, ValueRange range) {
  if (same_cut(path, shape, first, total)) {
    std::vector<float> host(values.size());
    attempt([&] {
      auto const from = open(group_.rank());
      require_shape(from, path, shape);
      from.read_slab<float>(path, Shape(shape.size(), 0), shape, host);
      require_sound(from.path(), path, host, first * row_width(shape), range);
    });
    copy_to_device(host, values);
    return;
  }
  Shape whole = shape;
  whole[0] = total;
  auto const width = static_cast<std::size_t>(row_width(shape));
  std::vector<float> host(static_cast<std::size_t>(total) * width, 0.0F);
  read_mean(path, whole, host, range);
  copy_to_device(std::span(host).subspan(static_cast<std::size_t>(first) * width, values.size()), values);
}

/// Every rank averages its own part of the rows, and broadcasts it to the others. In total, the old files are read only
/// once.
void CheckpointReader::read_mean(std::string const& path, Shape const& shape, std::span<float> host, ValueRange range) {
  auto const size = static_cast<std::size_t>(group_.size());
  std::int64_t const rows = shape.at(0);
  std::size_t const width = rows == 0 ? 0 : host.size() / static_cast<std::size_t>(rows);
  auto const part = [&](std::size_t rank) {
    return rows * static_cast<std::int64_t>(rank) / static_cast<std::int64_t>(size);
  };
  auto const mine = static_cast<std::size_t>(group_.rank());
  std::int64_t const first = part(mine), last = part(mine + 1);
  auto const begin = static_cast<std::size_t>(first) * width;
  attempt([&] {
    auto const own = host.subspan(begin, static_cast<std::size_t>(last - first) * width);
    mean_of_held_rows([this](int rank) { return open(rank); }, ranks_, path, shape, first, own);
    require_sound(folder_, path, own, static_cast<std::int64_t>(begin), range);
  });
  for (std::size_t root = 0; root < size; ++root) {
    auto const at = static_cast<std::size_t>(part(root)) * width,
               end = static_cast<std::size_t>(part(root + 1)) * width;
    if (end > at)
      group_.broadcast_host(std::as_writable_bytes(host.subspan(at, end - at)), static_cast<int>(root),
                            "bellwether::checkpoint::mean_over_old_holders");
  }
}

template <class T>
void CheckpointReader::read_scalar(std::string const& path, T& value, std::function<void(T)> const& check) {
  if (!expect("scalar", path)) return;
  T read = value;
  if (group_.rank() == 0)
    attempt([&] {
      T stored = value;
      Hdf5File::open(shared_file()).read_slab<T>(path, {}, {}, std::span(&stored, 1));
      check(stored);
      read = stored;
    });
  group_.broadcast_host(std::as_writable_bytes(std::span(&read, 1)), 0, "bellwether::checkpoint::scalar");
  value = read;
}

void CheckpointReader::scalar(ScalarSpec<std::int64_t> const& spec, std::int64_t& value) {
  auto const path = stored_path(spec.name);
  read_scalar<std::int64_t>(path, value, [&](std::int64_t const found) {
    if (!spec.least) return;
    auto const refuse = [&](std::string const& allowed) {
      throw InputError(shared_file() + ": " + path + ": " + std::to_string(found) + "; allowed: " + allowed);
    };
    bool const of_steps = path == "data/step" || path == "optimizer/applied_steps";
    if (of_steps && found != step_) refuse(std::to_string(step_) + ", as in the manifest");
    if (found < *spec.least || found > most_counted)
      refuse(std::to_string(*spec.least) + " to " + std::to_string(most_counted));
  });
}

void CheckpointReader::scalar(ScalarSpec<double> const& spec, double& value) {
  auto const path = stored_path(spec.name);
  read_scalar<double>(path, value, [&](double const found) {
    if (!spec.least || (std::isfinite(found) && found >= *spec.least)) return;
    bool const has_least = *spec.least > std::numeric_limits<double>::lowest();
    throw InputError(shared_file() + ": " + path + formatted(": %g; allowed: finite numbers", found) +
                     (has_least ? formatted(" from %g on", *spec.least) : ""));
  });
}

bool CheckpointReader::has(std::string_view name) const {
  return std::ranges::any_of(unread_, [at = stored_path(name)](auto const& line) { return path_in(line) == at; });
}

void CheckpointReader::drop(std::string_view name) {
  std::erase_if(unread_, [at = stored_path(name)](auto const& line) { return path_in(line) == at; });
}

void CheckpointReader::check_layout(std::string const& key_of_active) {
  if (group_.rank() != 0 || !faults_.empty()) return;
  attempt([&] {
    auto const from = Hdf5File::open(shared_file());
    auto const stored = from.attribute("/", "layout_fingerprint");
    if (stored == Hdf5File::Attribute(hexadecimal(layout_.fingerprint()))) return;
    auto const& tensors = layout_.tensors();
    auto const counts = from.contains("active") ? "active" : earlier_path("active");
    require_shape(from, counts, {std::ssize(tensors)});
    std::vector<std::int64_t> active(tensors.size());
    from.read_slab<std::int64_t>(counts, {0}, {std::ssize(tensors)}, active);
    if (stored != Hdf5File::Attribute(hexadecimal(layout_.fingerprint(active))))
      throw InputError(from.path() +
                       ": its model marks other elements as decaying; resume with the same model and optimizer");
    std::string names;
    for (std::size_t l = 0; l < active.size(); ++l)
      if (tensors[l].active > active[l])
        names += (names.empty() ? "" : ", ") + tensors[l].name + " (" + std::to_string(tensors[l].active) +
                 " active elements, " + std::to_string(active[l]) + " in the checkpoint)";
    if (!names.empty() && !key_of_active.empty())
      throw InputError(key_of_active + ": longer sequences than in the run of " + folder_ +
                       ", whose frozen variance does not cover the elements that they make active: " + names +
                       "; allowed: sequences as long as before, or optimizer.freeze.step above " +
                       std::to_string(integer_attribute(from, "/", "step")) +
                       ", which starts a second dense phase and recomputes the variance");
  });
}

void CheckpointReader::finish() {
  for (auto const& line : unread_) fault(folder_ + ": " + path_in(line) + ": this run has no such state");
  // One cause may produce a fault for every tensor; a few lines suffice.
  constexpr std::size_t most = 10;
  if (faults_.size() > most) {
    auto const others = std::to_string(faults_.size() - most);
    faults_.resize(most);
    fault("and " + others + " more faults");
  }
  raise_together(group_, faults_);
}

}  // namespace bellwether::app
