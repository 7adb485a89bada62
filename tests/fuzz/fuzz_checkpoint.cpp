// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Input: a manifest up to a zero byte, then bytes from which the files of a checkpoint are generated. An accepted
/// manifest must be written as it was read. A reader of the files must report every fault and access nothing else.
/// `inspect` must print the files or report why it cannot.
#include "app/checkpoint/checkpoint_folder.hpp"
#include "app/checkpoint/checkpoint_reader.hpp"
#include "app/commands/inspect.hpp"
#include "app/launch/collective_errors.hpp"
#include "comm/transport/communicator.hpp"
#include "core/system/error.hpp"
#include "core/types.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/fuzz/made_file.hpp"
#include "tests/fuzz/made_links.hpp"

#include <xxhash.h>

#include <iomanip>
#include <sstream>

using namespace bellwether;

namespace {

void read_manifest(std::string const& text) {
  try {
    auto const manifest = app::Manifest::parse(text);
    auto const again = app::Manifest::parse(manifest.text());
    fuzz::must(again.text() == manifest.text() && again.step == manifest.step, "a manifest parses back to itself");
    for (auto const& file : manifest.files)
      fuzz::must(file.name.find('/') == std::string::npos && file.name != "..", "files are in the folder");
  } catch (InputError const&) {
  }
}

constexpr std::int64_t count = 5;

void make(std::filesystem::path const& folder, int ranks, fuzz::Bytes& bytes) {
  std::vector<std::string> const lines{"replicated optimizer/momentum", "partitioned optimizer/server",
                                       "per_rank optimizer/own",        "per_rank optimizer/held",
                                       "replicated parameters/weight",  "scalar optimizer/steps",
                                       "scalar optimizer/share"};
  auto shared = input::Hdf5File::create((folder / "replicated.h5").string());
  std::vector<std::string> index;
  for (auto const& line : lines)
    if (bytes.byte() < 240) index.push_back(line);
  if (bytes.byte() > 240) index.emplace_back(bytes.text(12));
  if (auto const form = bytes.byte(); form < 250)
    shared.write_texts("index", index);
  else
    fuzz::make_data_set(shared, "index", {count}, bytes);
  if (auto const form = bytes.byte(); form < 128)
    shared.write_texts("deck", {std::string(bytes.text(form % 16))});
  else
    fuzz::make_data_set(shared, "deck", {1}, bytes);
  if (bytes.byte() < 200) shared.set_attribute("/", "format", std::string("bellwether checkpoint"));
  fuzz::make_data_set(shared, "optimizer/momentum", {count}, bytes);
  fuzz::make_data_set(shared, "parameters/weight", {1, count}, bytes);
  fuzz::make_data_set(shared, "optimizer/steps", {}, bytes);
  fuzz::make_data_set(shared, "optimizer/share", {}, bytes);
  fuzz::make_data_set(shared, "active", {1}, bytes);
  if (bytes.byte() < 128) shared.set_attribute("/", "layout_fingerprint", std::string(bytes.text(16)));
  if (bytes.byte() < 128) shared.set_attribute("/", "step", static_cast<std::int64_t>(bytes.number()));
  shared.close();
  for (int rank = 0; rank < ranks; ++rank) {
    auto own = input::Hdf5File::create((folder / ("rank" + std::to_string(rank) + ".h5")).string());
    for (auto const* name : {"optimizer/server", "optimizer/own", "optimizer/held"}) {
      std::int64_t const part = bytes.byte() < 128 ? count : bytes.byte() % (count + 1);
      fuzz::make_data_set(own, name, {part}, bytes);
      if (!own.contains(name)) continue;
      for (auto const* attribute : {"first", "total"})
        if (auto const kind = bytes.byte(); kind < 100)
          own.set_attribute(name, attribute, std::int64_t{kind % 8});
        else if (kind < 120)
          own.set_attribute(name, attribute, static_cast<std::int64_t>(bytes.number()));
        else if (kind < 130)
          own.set_attribute(name, attribute, std::string(bytes.text(2)));
    }
    own.close();
  }
  fuzz::lead_elsewhere((folder / "replicated.h5").string(), {"index", "deck", "optimizer/momentum", "optimizer/steps"},
                       bytes);
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static Kokkos::ScopeGuard const kokkos;
  static input::IoThread io;
  fuzz::Bytes bytes(data, size);
  std::string const manifest(bytes.up_to('\0'));
  read_manifest(manifest);
  std::ostringstream sealed;  // with a valid checksum, so that the parser reads what follows it
  sealed << manifest << "checksum " << std::hex << std::setfill('0') << std::setw(16)
         << XXH3_64bits(manifest.data(), manifest.size()) << '\n';
  read_manifest(sealed.str());
  int const ranks = 1 + bytes.byte() % 3;
  std::filesystem::path const folder = fuzz::scratch() / "step_1";
  std::filesystem::create_directories(folder);
  make(folder, ranks, bytes);
  auto const alone = comm::make_self_communicator();
  Vec<float> const values("bellwether::fuzz::values", static_cast<std::size_t>(count));
  std::span<float> const span(values.data(), values.extent(0));
  ParameterLayout layout;
  layout.add({.name = "weight", .shape = {1, count}});
  try {
    app::CheckpointReader reader({.path = folder.string(), .step = 1, .ranks = ranks, .deck = ""}, layout, *alone, io);
    reader.enter("parameters");
    reader.parameter(layout.tensors()[0], span, false);
    reader.enter("optimizer");
    if (bytes.byte() % 2 != 0)
      reader.array(replicated("momentum"), span);
    else
      reader.array(replicated("momentum").not_negative(), span);
    reader.array(partitioned("server", 0, count), span);
    reader.array(per_rank("own", bytes.byte() % 2 ? Reshard::mean : Reshard::zero), span);
    reader.array(held("held", 1, count), span.first(2));
    std::int64_t steps = 0;
    double share = 0;
    reader.scalar(counter("steps"), steps);
    fuzz::must(steps >= 0 && steps <= StateVisitor::most_counted, "an accepted count is in its range");
    reader.scalar({"share"}, share);
    reader.check_layout("data.heldout");
    reader.finish();
  } catch (InputError const&) {
  }
  try {
    std::ostringstream shown;
    app::inspect(folder.string(), {.show_deck = true}, shown);
  } catch (InputError const&) {
  }
  return 0;
}
