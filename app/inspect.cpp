// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/inspect.hpp"

#include "app/checkpoint_folder.hpp"
#include "app/checksum.hpp"
#include "app/formatted.hpp"
#include "app/progress_text.hpp"
#include "app/statistics_segment.hpp"
#include "core/error.hpp"
#include "input/hdf5_file.hpp"
#include "input/shard_files.hpp"
#include "input/shards.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <ostream>
#include <ranges>
#include <set>

namespace bellwether::app {
namespace {

using input::Hdf5File;

/// Names and texts of others as they go to a terminal: what would move its cursor is written as `\x1b`.
std::string plain(std::string const& text) {
  std::string shown;
  for (char const c : text) {
    auto const code = static_cast<unsigned char>(c);
    shown += code < 0x20 || code == 0x7F ? formatted("\\x%02x", code) : std::string(1, c);
  }
  return shown;
}

std::string text_of(Hdf5File::Attribute const& value) {
  if (auto const* text = std::get_if<std::string>(&value)) return plain(*text);
  if (auto const* real = std::get_if<double>(&value)) return formatted("%g", *real);
  return std::to_string(std::get<std::int64_t>(value));
}

void line(std::ostream& out, std::string const& name, std::string const& value) {
  out << "  " << name << std::string(name.size() < 20 ? 20 - name.size() : 1, ' ') << value << '\n';
}

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

void inspect_shard(std::string const& path, InspectOptions const& options, std::ostream& out) {
  input::ShardReader const reader(path);
  auto const& format_of = reader.format();
  input::ShardBounds const bounds{
      .vocabulary = format_of.vocabulary > 0 ? format_of.vocabulary : std::numeric_limits<std::int32_t>::max(),
      .segments = 2,
      .vocabulary_of = format_of.vocabulary > 0 ? " (the vocabulary that the shard records)" : ""};
  ShardCounts counts;
  counts.shortest = format_of.sequence_length;
  std::int32_t largest_id = 0;
  std::int64_t constexpr piece = 8192;
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
  for (std::int64_t first = 0; first < reader.rows(); first += piece)
    summarise(reader.read(first, std::min(piece, reader.rows() - first), bounds));
  auto const rows = static_cast<double>(std::max<std::int64_t>(1, reader.rows()));
  auto const tokens = static_cast<double>(counts.tokens);
  out << path << ": " << (format_of.ours ? "Bellwether shard" : "shard of another program") << '\n';
  line(out, "file", bytes_text(std::filesystem::file_size(path)));
  line(out, "rows", std::to_string(reader.rows()));
  line(out, "sequence length", std::to_string(format_of.sequence_length) + " tokens");
  line(out, "tokens",
       std::to_string(counts.tokens) +
           formatted(" (%.1f a row, %lld to %lld; padding %.1f %%)", tokens / rows,
                     static_cast<long long>(reader.rows() > 0 ? counts.shortest : 0),
                     static_cast<long long>(counts.longest),
                     100 - 100 * tokens / (rows * static_cast<double>(format_of.sequence_length))));
  line(out, "masks",
       format_of.static_masks ? formatted("static, %.2f a row", static_cast<double>(counts.predictions) / rows)
                              : std::string("dynamic: drawn at training time"));
  line(out, "most masks a row", std::to_string(format_of.masked_length));
  line(out, "random next", formatted("%.1f %%", 100 * static_cast<double>(counts.random_next) / rows));
  line(out, "vocabulary",
       format_of.vocabulary > 0 ? std::to_string(format_of.vocabulary)
                                : "not recorded; largest id " + std::to_string(largest_id));
  if (!format_of.vocabulary_checksum.empty()) line(out, "vocabulary xxh3", format_of.vocabulary_checksum);
  if (format_of.vocabulary > 0)
    line(out, "special ids",
         formatted("[CLS] %lld, [SEP] %lld, [MASK] %lld", static_cast<long long>(format_of.special.classify),
                   static_cast<long long>(format_of.special.separate), static_cast<long long>(format_of.special.mask)));
  line(out, "values", "all in range");
  std::int64_t const shown = std::min(options.rows, reader.rows());
  if (shown == 0) return;
  auto const first_rows = reader.read(0, shown, bounds);
  for (std::int64_t r = 0; r < shown; ++r) print_row(out, first_rows, r, r, format_of.static_masks);
}

// ---- everything else

/// Rows that hold something: segments of statistics have room for more. They are counted at the table or, for all
/// matrices together, at their group.
std::optional<std::int64_t> rows_in_use(Hdf5File const& file, std::string const& path) {
  if (file.attribute("/", "format") != Hdf5File::Attribute("bellwether statistics segment")) return std::nullopt;
  for (auto const& object : {path, path.substr(0, path.rfind('/'))})
    if (auto const rows = object.empty() ? std::nullopt : file.attribute(object, "rows"))
      if (auto const* count = std::get_if<std::int64_t>(&*rows))
        if (auto const shape = file.info(path).shape; !shape.empty())
          return std::clamp<std::int64_t>(*count, 0, shape[0]);
  return std::nullopt;
}

void print_last_row(std::ostream& out, Hdf5File const& file, std::string const& table) {
  auto const shape = file.info(table).shape;
  if (shape.size() != 1) return;
  std::int64_t const rows = rows_in_use(file, "/" + table).value_or(shape[0]);
  out << table << ": " << rows << (rows == 1 ? " row" : " rows") << (rows > 0 ? ", the last one:\n" : "\n");
  if (rows == 0) return;
  for (auto const& column : file.read_table(table, rows - 1, 1))
    std::visit([&](auto const& values) { line(out, plain(column.name), text_of(values.front())); }, column.values);
}

/// Elements of a shape; the largest number where there are more.
std::int64_t elements_of(input::Shape const& shape) {
  if (std::ranges::count(shape, 0) > 0) return 0;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::int64_t elements = 1;
  for (auto const extent : shape) elements = extent > most / elements ? most : elements * extent;
  return elements;
}

/// What is wrong where a data set has a checksum on record that its values do not have.
std::string damage(Hdf5File const& file, std::string const& name, std::string const& digest) {
  auto const recorded = file.attribute(name, checksum_name);
  return recorded && *recorded != Hdf5File::Attribute(digest) ? "  DAMAGED: its checksum does not hold" : "";
}

/// Root mean square of a data set of floats: zeros and not-a-numbers in a checkpoint are seen at a glance.
std::string magnitude(Hdf5File const& file, std::string const& name) {
  auto const info = file.info(name);
  auto shape = info.shape;
  if (!shape.empty()) shape[0] = rows_in_use(file, name).value_or(shape[0]);
  std::int64_t const elements = elements_of(shape);
  if (elements == 0) return damage(file, name, checksum_of(std::string_view()));
  if (!info.may_hold(elements)) return "  more than is stored";
  std::int64_t const rows = shape.empty() ? 1 : shape[0];
  std::int64_t const at_once = std::max<std::int64_t>(1, (std::int64_t{1} << 20) / (elements / rows));
  input::Shape first(shape.size(), 0);
  std::vector<float> values;
  double squares = 0;
  Checksum sum;
  for (std::int64_t row = 0; row < rows; row += at_once) {
    if (!shape.empty()) {
      first[0] = row;
      shape[0] = std::min(at_once, rows - row);
    }
    values.resize(static_cast<std::size_t>(elements_of(shape)));
    file.read_slab<float>(name, first, shape, values);
    for (float const value : values) squares += static_cast<double>(value) * value;
    sum.add(std::as_bytes(std::span(values)));
  }
  return formatted("  rms %.4g", std::sqrt(squares / static_cast<double>(elements))) + damage(file, name, sum.digest());
}

/// Of a scalar its value; of every data set of such numbers what is wrong with it.
template <class T>
std::string numbers(Hdf5File const& file, std::string const& name, bool scalar) {
  auto const values = file.read<T>(name);
  std::string text;
  if constexpr (std::is_integral_v<T>)
    text = "  = " + std::to_string(values.front());
  else
    text = formatted("  = %.10g", values.front());
  return (scalar ? text : "") + damage(file, name, checksum_of(std::as_bytes(std::span(values))));
}

/// Groups and data sets with their attributes. Several names may lead to one object, even to a group around it.
class Tree {
 public:
  Tree(std::ostream& out, Hdf5File const& file) : out_(out), file_(file) {}
  void print(std::string const& group = "/", int depth = 0) {
    seen_.insert(file_.address(group));
    for (auto const& attribute : file_.attribute_names(group))
      out_ << "  " << plain(group) << (group.ends_with('/') ? "@" : "/@") << plain(attribute) << " = "
           << (file_.has_variable_text(group, attribute) ? "(text of variable length)"
                                                         : text_of(file_.attribute(group, attribute).value()))
           << '\n';
    for (auto const& name : file_.list(group)) {
      std::string const path = group.ends_with('/') ? group + name : group + "/" + name;
      if (!file_.is_group(path))
        print_data_set(path);
      else if (seen_.contains(file_.address(path)))
        out_ << "  " << plain(path) << "  a group shown before\n";
      else if (depth == deepest)
        out_ << "  " << plain(path) << "  deeper than shown\n";
      else
        print(path, depth + 1);
    }
  }

 private:
  static constexpr int deepest = 32;
  void print_data_set(std::string const& path) {
    auto const info = file_.info(path);
    std::string shape;
    for (auto const extent : info.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    out_ << "  " << plain(path) << "  " << to_string(info.type) << " (" << shape << ")";
    if (info.is_virtual) out_ << " virtual";
    if (info.is_external) out_ << " external";
    if (info.gzip) out_ << " gzip";
    if (auto const rows = rows_in_use(file_, path)) out_ << ", " << counted(*rows, "row") << " in use";
    if (!info.is_virtual && !info.is_external) print_values(path, info);
    out_ << '\n';
  }
  void print_values(std::string const& path, input::DataSetInfo const& info) {
    bool const scalar = info.shape.empty();
    bool const checked = file_.attribute(path, checksum_name) && info.may_hold(elements_of(info.shape));
    if ((scalar || checked) && input::is_integer(info.type)) out_ << numbers<std::int64_t>(file_, path, scalar);
    if ((scalar || checked) && info.type == input::ElementType::f64) out_ << numbers<double>(file_, path, scalar);
    if (checked && info.type == input::ElementType::text)
      out_ << damage(file_, path, checksum_of(file_.read_texts(path)));
    if (info.type == input::ElementType::f32) out_ << magnitude(file_, path);
  }

  std::ostream& out_;
  Hdf5File const& file_;
  std::set<std::uint64_t> seen_;
};

/// HDF5 is not to be trusted with damaged files: what it makes of them may be a crash.
void require_undamaged(std::vector<std::string> const& files) {
  std::vector<std::string> faults;
  for (auto const& file : files)
    if (auto const fault = recorded_fault(file); !fault.empty())
      faults.push_back(fault + "; inspect --damaged looks into it all the same");
  if (!faults.empty()) throw InputError(std::move(faults));
}

/// One line each, oldest first.
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
      text = std::string("not whole: ") + error.what();
    }
    line(out, std::filesystem::path(folder.complete_path(step)).filename().string(), text);
  }
  for (auto const& left : unfinished)
    line(out, std::filesystem::path(left).filename().string(), "not whole: incomplete");
}

void inspect_file(std::string const& path, InspectOptions const& options, std::ostream& out) {
  std::string kind = "HDF5 file of another program";
  {
    auto const file = Hdf5File::open(path);
    if (auto const found = file.attribute("/", "format")) kind = text_of(*found);
    bool const shard = file.contains("input_ids") && file.contains("masked_lm_positions");
    if (!shard) {
      bool const statistics = kind == "bellwether statistics";
      if (statistics) require_segments(path);
      out << path << ": " << kind << ", " << bytes_text(std::filesystem::file_size(path)) << '\n';
      Tree(out, file).print();
      auto const shown = Hdf5File::open(path, statistics ? input::VirtualData::show : input::VirtualData::refuse);
      for (char const* table : {"steps", "evaluation"})
        if (file.contains(table) && !file.is_group(table) && file.info(table).type == input::ElementType::table)
          print_last_row(out, shown, table);
      if (auto const sent = statistics ? read_traffic(file) : std::nullopt)
        for (auto const& text : traffic_lines(*sent)) out << text << '\n';
      if (options.show_deck && file.contains("deck"))
        for (auto const& text : file.read_texts("deck")) out << text;
      return;
    }
  }
  inspect_shard(path, options, out);
}

}  // namespace

void inspect(std::string const& path, InspectOptions const& options, std::ostream& out) {
  auto const whole = std::filesystem::weakly_canonical(path);
  if (std::filesystem::is_directory(whole) && whole.filename() == "checkpoints") {
    inspect_checkpoints(path, CheckpointFolder(whole.parent_path().string()), out);
    return;
  }
  auto const files = input::find_shards({path});
  if (!options.damaged) require_undamaged(files);
  for (auto const& file : files) inspect_file(file, options, out);
}

}  // namespace bellwether::app
