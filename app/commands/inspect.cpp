// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/inspect.hpp"

#include "app/checkpoint/checkpoint_folder.hpp"
#include "app/commands/inspect_tree.hpp"
#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/statistics/damaged_statistics.hpp"
#include "app/statistics/statistics_segment.hpp"
#include "core/system/error.hpp"
#include "input/deck/shard_files.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/hdf5/unopened_file.hpp"
#include "input/shards/shards.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <ostream>
#include <ranges>

namespace bellwether::app {
namespace {

using input::Hdf5File;

// ---- shards

struct ShardCounts {
  std::int64_t tokens = 0, predictions = 0, random_next = 0, shortest = 0, longest = 0;
};

void print_row(std::ostream& out, input::ShardRows const& rows, std::int64_t r, std::int64_t number, bool predictions) {
  auto const at = static_cast<std::size_t>(r);
  auto const ids = [&](auto const& values, std::int64_t width, std::int64_t count) {
    std::string text;
    for (std::int64_t i = 0; i < count; ++i)
      text += ' ' + std::to_string(values[static_cast<std::size_t>(r * width + i)]);
    return text;
  };
  out << "row " << number << (rows.next_labels[at] != 0 ? " (random next)\n" : " (true next)\n");
  out << "  ids      " << ids(rows.token_ids, rows.sequence_length, rows.lengths[at]) << '\n';
  out << "  segments " << ids(rows.segment_ids, rows.sequence_length, rows.lengths[at]) << '\n';
  if (!predictions) return;
  out << "  masked at" << ids(rows.masked_positions, rows.masked_length, rows.predictions[at]) << '\n';
  out << "  original " << ids(rows.masked_ids, rows.masked_length, rows.predictions[at]) << '\n';
}

constexpr std::int64_t rows_at_once = 8192;

void inspect_shard(std::string const& path, InspectOptions const& options, std::ostream& out) {
  input::ShardReader const reader(path);
  auto const& format_of = reader.format();
  input::ShardBounds const bounds{
      .vocabulary = format_of.vocabulary > 0 ? format_of.vocabulary : std::numeric_limits<std::int32_t>::max(),
      .segments = 2,
      .vocabulary_of = format_of.vocabulary > 0 ? " (the vocabulary that the shard records)" : ""};
  ShardCounts counts;
  reader.has_predictions(rows_at_once);
  counts.shortest = format_of.sequence_length;
  std::int32_t largest_id = 0;
  auto const summarise = [&](input::ShardRows const& rows) {
    for (auto const length : rows.lengths) {
      counts.tokens += length;
      counts.shortest = std::min<std::int64_t>(counts.shortest, length);
      counts.longest = std::max<std::int64_t>(counts.longest, length);
    }
    counts.predictions = std::accumulate(rows.predictions.begin(), rows.predictions.end(), counts.predictions);
    counts.random_next += std::ranges::count(rows.next_labels, 1);
    for (auto const id : rows.token_ids) largest_id = std::max(largest_id, id);
  };
  for (std::int64_t first = 0; first < reader.rows(); first += rows_at_once)
    summarise(reader.read(first, std::min(rows_at_once, reader.rows() - first), bounds));
  auto const rows = static_cast<double>(std::max<std::int64_t>(1, reader.rows()));
  auto const tokens = static_cast<double>(counts.tokens);
  out << path << ": " << (format_of.ours ? "Bellwether shard" : "shard of another program") << '\n';
  print_line(out, "file", bytes_text(std::filesystem::file_size(path)));
  print_line(out, "rows", std::to_string(reader.rows()));
  print_line(out, "sequence length", std::to_string(format_of.sequence_length) + " tokens");
  print_line(out, "tokens",
             std::to_string(counts.tokens) +
                 formatted(" (%.1f a row, %lld to %lld; padding %.1f %%)", tokens / rows,
                           static_cast<long long>(reader.rows() > 0 ? counts.shortest : 0),
                           static_cast<long long>(counts.longest),
                           100 - 100 * tokens / (rows * static_cast<double>(format_of.sequence_length))));
  print_line(out, "masks",
             format_of.static_masks ? formatted("static, %.2f a row", static_cast<double>(counts.predictions) / rows)
                                    : std::string("dynamic: drawn at training time"));
  print_line(out, "most masks a row", std::to_string(format_of.masked_length));
  print_line(out, "random next", formatted("%.1f %%", 100 * static_cast<double>(counts.random_next) / rows));
  print_line(out, "vocabulary",
             format_of.vocabulary > 0 ? std::to_string(format_of.vocabulary)
                                      : "not recorded; largest id " + std::to_string(largest_id));
  if (!format_of.vocabulary_checksum.empty()) print_line(out, "vocabulary xxh3", format_of.vocabulary_checksum);
  if (format_of.vocabulary > 0)
    print_line(
        out, "special ids",
        formatted("[CLS] %lld, [SEP] %lld, [MASK] %lld", static_cast<long long>(format_of.special.classify),
                  static_cast<long long>(format_of.special.separate), static_cast<long long>(format_of.special.mask)));
  print_line(out, "values", "all in range");
  std::int64_t const shown = std::min(options.rows, reader.rows());
  if (shown == 0) return;
  auto const first_rows = reader.read(0, shown, bounds);
  for (std::int64_t r = 0; r < shown; ++r) print_row(out, first_rows, r, r, format_of.static_masks);
}

/// Compares files with their checkpoint's manifest, or with the checksum at their end, before HDF5 reads them: HDF5 can
/// crash on a damaged file.
///
/// \throws InputError naming all damaged files.
void require_undamaged(std::vector<std::string> const& files) {
  std::vector<std::string> faults;
  for (auto const& file : files)
    if (input::is_locked_by_another(file))  // a writer may be changing it, so the manifest need not match
      faults.push_back(file + ": " + input::why_unopened(file, ""));
    else if (auto const fault = recorded_fault(file); !fault.empty())
      faults.push_back(fault + "; inspect --damaged reads it anyway");
    else if (auto const other = statistics_fault(file); !other.empty())
      faults.push_back(other);
  if (!faults.empty()) throw InputError(std::move(faults));
}

/// Prints one line per checkpoint, oldest first, then the incomplete ones.
void inspect_checkpoints(std::string const& path, CheckpointFolder const& folder, std::ostream& out) {
  auto steps = folder.steps();
  auto const unfinished = folder.unfinished();
  out << path << ": " << counted(std::ssize(steps), "checkpoint") << '\n';
  for (auto const step : std::views::reverse(steps)) {
    std::string text;
    try {
      auto const manifest = folder.read_manifest(step);
      std::int64_t bytes = 0;
      for (auto const& file : manifest.files) {
        bytes += file.bytes;
        if (auto const fault = folder.size_fault_in(step, file); !fault.empty()) throw InputError(fault);
      }
      text = "of " + counted(manifest.ranks, "rank") + ", " + bytes_text(bytes) + " in " +
             counted(std::ssize(manifest.files), "file");
    } catch (InputError const& error) {
      text = std::string("not complete: ") + error.what();
    }
    print_line(out, std::filesystem::path(folder.complete_path(step)).filename().string(), text);
  }
  for (auto const& left : unfinished)
    print_line(out, std::filesystem::path(left).filename().string(), "not complete: its writing did not end");
}

/// The kind of a file, from the names of its objects and its attribute `format`.
struct FileKind {
  std::string name = foreign;  ///< what the file calls its format
  bool shard = false, deck = false;

  static constexpr auto foreign = "HDF5 file of another program";
  bool is_foreign() const { return name == foreign; }
};

bool holds(Hdf5File const& file, std::vector<std::string> const& names, std::string const& name) {
  return std::ranges::find(names, name) != names.end() && file.kind(name) != Hdf5File::Kind::group;
}

FileKind kind_of(Hdf5File const& file) {
  FileKind kind;
  auto const names = file.list("/");
  kind.shard = holds(file, names, "input_ids") && holds(file, names, "masked_lm_positions");
  kind.deck = holds(file, names, "deck");
  try {
    if (auto const format = file.attribute("/", "format"))
      if (auto const* text = std::get_if<std::string>(&*format)) kind.name = plain(*text);
  } catch (InputError const&) {  // a file of another program, whose attribute is not one text
  }
  return kind;
}

void inspect_tables(Hdf5File const& file, FileKind const& kind, std::ostream& out) {
  auto const names = file.list("/");
  for (char const* table : {"steps", "evaluation"}) {
    if (!holds(file, names, table) || file.kind(table) != Hdf5File::Kind::data_set) continue;
    if (auto const info = file.info(table); info.type != input::ElementType::table || info.is_null) continue;
    try {
      print_last_row(out, file, table, kind.name);
    } catch (InputError const& error) {
      if (!kind.is_foreign()) throw;
      out << table << ": not shown: " << plain(error.what()) << '\n';
    }
  }
}

void inspect_file(std::string const& path, InspectOptions const& options, std::ostream& out) {
  FileKind kind;
  {
    auto const file = open_statistics(path);
    kind = kind_of(file);
    if (!kind.shard) {
      bool const statistics = kind.name == "bellwether statistics";
      if (statistics) require_segments(path);
      out << path << ": " << kind.name << ", " << bytes_text(std::filesystem::file_size(path)) << '\n';
      print_tree(out, file, kind.name);
      inspect_tables(Hdf5File::open(path, statistics ? input::VirtualData::show : input::VirtualData::refuse), kind,
                     out);
      if (auto const sent = statistics ? read_traffic(file) : std::nullopt)
        for (auto const& text : traffic_lines(*sent)) out << text << '\n';
      if (options.show_deck && kind.deck)
        for (auto const& text : file.read_texts("deck")) out << text;
      return;
    }
  }
  inspect_shard(path, options, out);
}

/// \throws InputError if an option applies to none of the files.
void require_meaning(std::string const& path, std::vector<std::string> const& files, InspectOptions const& options) {
  std::vector<std::string> faults;
  bool shard = false, deck = false;
  if (options.rows > 0 || options.show_deck)
    for (auto const& file : files) {
      auto const kind = kind_of(open_statistics(file));
      shard = shard || kind.shard;
      deck = deck || (kind.deck && !kind.shard);
    }
  if (options.rows > 0 && !shard) faults.push_back("--rows: " + path + " is not a shard; allowed only for shards");
  if (options.show_deck && !deck)
    faults.push_back("--deck: " + path + " contains no deck; allowed only for a checkpoint, such as step_1000");
  if (options.damaged && std::ranges::none_of(files, is_of_checkpoint))
    faults.push_back("--damaged: " + path +
                     " is not part of a checkpoint with a manifest; allowed only for files of one");
  if (!faults.empty()) throw InputError(std::move(faults));
}

}  // namespace

void inspect(std::string const& path, InspectOptions const& options, std::ostream& out) {
  auto const whole = std::filesystem::weakly_canonical(path);
  if (std::filesystem::is_directory(whole) && whole.filename() == "checkpoints") {
    if (options.rows > 0 || options.show_deck || options.damaged)
      throw InputError("--rows, --deck and --damaged apply to files; " + path +
                       " is a folder of checkpoints: name one of them, such as step_1000");
    inspect_checkpoints(path, CheckpointFolder(whole.parent_path().string()), out);
    return;
  }
  auto const files = input::find_shards({path});
  if (!options.damaged) require_undamaged(files);
  require_meaning(path, files, options);
  for (auto const& file : files) inspect_file(file, options, out);
}

}  // namespace bellwether::app
