// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/statistics_segment.hpp"

#include "app/checkpoint/checksum.hpp"
#include "app/checkpoint/durable_file.hpp"
#include "app/checkpoint/earlier_names.hpp"
#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/statistics/checksum_trailer.hpp"
#include "app/statistics/damaged_statistics.hpp"
#include "core/system/error.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/hdf5/unopened_file.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace bellwether::app {
namespace {

using input::Column;
using input::ElementType;
using input::Hdf5File;

template <class Row>
std::vector<Column> columns_of(std::vector<Row> const& rows) {
  std::vector<Column> columns;
  Row shape;
  Row::describe(shape, [&]<class T>(char const* name, char const*, T&) {
    columns.push_back({name, std::vector<T>()});
    std::get<std::vector<T>>(columns.back().values).reserve(rows.size());
  });
  for (auto const& row : rows) {
    std::size_t c = 0;
    Row::describe(row, [&]<class T>(char const*, char const*, T const& value) {
      std::get<std::vector<T>>(columns[c++].values).push_back(value);
    });
  }
  return columns;
}

Column const* find_column(std::vector<Column> const& columns, std::string_view name) {
  auto const found = std::ranges::find(columns, name, &Column::name);
  return found == columns.end() ? nullptr : &*found;
}

template <class Row>
std::vector<Row> rows_of(std::vector<Column> const& columns, std::int64_t count, std::string const& where) {
  std::vector<Row> rows(static_cast<std::size_t>(count));
  std::vector<Column const*> wanted;
  Row shape;
  Row::describe(shape, [&]<class T>(char const* name, char const*, T&) {
    auto const* column = find_column(columns, name);
    if (column == nullptr) column = find_column(columns, earlier_name(name));
    if (column == nullptr || !std::holds_alternative<std::vector<T>>(column->values))
      throw InputError(where + ": column '" + name + "' is missing or of another type");
    wanted.push_back(column);
  });
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::size_t c = 0;
    Row::describe(rows[r], [&]<class T>(char const*, char const*, T& member) {
      member = std::get<std::vector<T>>(wanted[c++]->values)[r];
    });
  }
  return rows;
}

template <class Row>
std::string units() {
  std::string text;
  Row shape;
  Row::describe(shape, [&](std::string const& name, std::string const& unit, auto&) {
    if (!unit.empty()) text += (text.empty() ? "" : ", ") + name + ": " + unit;
  });
  return text;
}

std::string listed(std::vector<std::string> const& names) {
  std::string text;
  for (auto const& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing" : text;
}

void add(Checksum& sum, std::vector<Column> const& columns) {
  for (auto const& column : columns)
    std::visit([&](auto const& values) { sum.add(std::as_bytes(std::span(values))); }, column.values);
}

/// Returns a checksum of all rows in use, regardless of the segment's capacity.
std::string checksum_of_rows(StatisticsSegment const& segment) {
  Checksum sum;
  add(sum, columns_of(segment.steps));
  add(sum, columns_of(segment.evaluations));
  sum.add(std::as_bytes(std::span(segment.layer_steps)));
  for (auto const& quantity : segment.layers) sum.add(std::as_bytes(std::span(quantity)));
  return sum.digest();
}

void require_quantities(Hdf5File const& file, std::string const& path, std::vector<std::string> wanted) {
  auto shown = file.list("layers");
  std::erase_if(shown, [](std::string const& name) { return name == "name" || name == "step"; });
  std::ranges::sort(shown);
  std::ranges::sort(wanted);
  if (shown != wanted)
    throw InputError(path + ": layers holds " + listed(shown) + ", but this run measures " + listed(wanted) +
                     "; resume with the optimizer.method that wrote it, or name another run.directory");
}

}  // namespace

namespace {

/// Returns the number of rows written to a segment's data set; the rest of its extent is zeros.
std::int64_t rows_in_use(Hdf5File const& segment, std::string const& data_set) {
  auto const extent = segment.info(data_set).shape.at(0);
  auto const counted_at = data_set.starts_with("layers/") ? std::string("layers") : data_set;
  auto const rows = segment.attribute(counted_at, "rows");
  auto const* const count = rows ? std::get_if<std::int64_t>(&*rows) : nullptr;
  return count == nullptr ? extent : std::min(*count, extent);
}

/// Call it before HDF5 opens the file. \throws InputError if the file differs from the checksum at its end.
void require_intact(std::string const& path) {
  if (auto const fault = statistics_fault(path); !fault.empty()) throw InputError(fault);
}

/// \throws InputError if a segment lacks rows that `main_file` shows of it.
void require_rows(std::string const& main_file, std::string const& segment_path,
                  std::vector<input::VirtualSource> const& shown) {
  require_intact(segment_path);
  auto const segment = open_statistics(segment_path);
  for (auto const& source : shown) {
    auto const rows = segment.contains(source.data_set) ? rows_in_use(segment, source.data_set) : 0;
    if (rows < source.rows)
      throw InputError(segment_path + ": holds " + counted(rows, "row") + " of " + source.data_set + ", but " +
                       main_file + " shows " + std::to_string(source.rows) +
                       "; it is an older file or another run's: restore the one that was written with " + main_file);
  }
}

}  // namespace

void require_segments(std::string const& main_file) {
  require_intact(main_file);
  Hdf5File const file = open_statistics(main_file);
  auto const folder = std::filesystem::path(main_file).parent_path();
  std::vector<std::string> tables = {"steps", "evaluation"};
  if (file.contains("layers"))
    for (auto const& name : file.list("layers")) tables.push_back("layers/" + name);
  std::map<std::string, std::vector<input::VirtualSource>> segments;
  for (auto const& name : tables)
    if (file.contains(name))
      for (auto const& source : file.virtual_sources(name)) segments[source.file].push_back(source);
  for (auto const& [name, shown] : segments) {
    auto const segment = folder / name;
    if (!std::filesystem::is_regular_file(segment))
      throw InputError(segment.string() + (std::filesystem::exists(segment) ? ": not a file" : ": missing") + ", but " +
                       main_file + " shows its rows; the folder " + std::filesystem::path(name).parent_path().string() +
                       " belongs beside it");
    require_rows(main_file, segment.string(), shown);
  }
}

SegmentRows rows_in(StatisticsSegment const& segment) {
  return {std::ssize(segment.steps), std::ssize(segment.evaluations), std::ssize(segment.layer_steps)};
}

StatisticsFiles::StatisticsFiles(std::string directory, RunDescription run, LayerTable table, SegmentRows capacity)
    : directory_(std::move(directory)),
      main_((std::filesystem::path(directory_) / "statistics.h5").string()),
      run_(std::move(run)),
      table_(std::move(table)),
      capacity_(capacity) {}

std::string StatisticsFiles::relative_segment(std::int64_t index) const {
  return formatted("statistics/segment_%06lld.h5", static_cast<long long>(index));
}

std::string StatisticsFiles::segment_file(std::int64_t index) const {
  return (std::filesystem::path(directory_) / relative_segment(index)).string();
}

// Every segment has its full extent from the beginning. A reader with an older or newer statistics.h5 then sees zeros
// for missing rows. Beyond the end of a data set, HDF5 would return undefined values.
void StatisticsFiles::write(StatisticsSegment const& segment) const {
  std::string const path = segment_file(segment.index), temporary = path + ".part";
  Hdf5File file = Hdf5File::create(temporary);
  file.set_attribute("/", "format", "bellwether statistics segment");
  file.set_attribute("/", "format_version", "1.0");
  file.write_table("steps", columns_of(segment.steps), capacity_.steps);
  file.write_table("evaluation", columns_of(segment.evaluations), capacity_.evaluations);
  auto const rows = rows_in(segment);
  auto const room = std::max(rows.layers, capacity_.layers), chunk = std::min<std::int64_t>(64, room);
  file.create_data_set("layers/step", ElementType::i64, {room}, {.chunk = {chunk}});
  file.write_slab<std::int64_t>("layers/step", {0}, {rows.layers}, segment.layer_steps);
  for (std::size_t q = 0; q < table_.quantities.size(); ++q) {
    auto const name = "layers/" + table_.quantities[q];
    file.create_data_set(name, ElementType::f32, {room, layers()}, {.chunk = {chunk, layers()}});
    file.write_slab<float>(name, {0, 0}, {rows.layers, layers()}, segment.layers[q]);
  }
  file.set_attribute("steps", "rows", rows.steps);
  file.set_attribute("evaluation", "rows", rows.evaluations);
  file.set_attribute("layers", "rows", rows.layers);
  file.set_attribute("/", checksum_name, checksum_of_rows(segment));
  file.close();
  append_checksum(temporary);
  replace_file(temporary, path);
}

void StatisticsFiles::publish(std::vector<SegmentRows> const& segments, TrafficTotals const& traffic) const {
  std::string const temporary = main_ + ".part";
  Hdf5File file = Hdf5File::create(temporary);
  file.set_attribute("/", "format", "bellwether statistics");
  file.set_attribute("/", "format_version", "1.0");
  if (!run_.name.empty()) file.set_attribute("/", "run_name", run_.name);
  auto const show = [&](std::string const& name, std::int64_t SegmentRows::*rows) {
    std::vector<input::VirtualSource> sources;
    for (std::size_t i = 0; i < segments.size(); ++i)
      if (segments[i].*rows > 0)
        sources.push_back({relative_segment(static_cast<std::int64_t>(i)), name, segments[i].*rows});
    if (!sources.empty()) file.write_virtual(name, sources);
    return !sources.empty();
  };
  if (!show("steps", &SegmentRows::steps)) file.write_table("steps", columns_of(std::vector<StepRow>()));
  file.set_attribute("steps", "units", units<StepRow>());
  if (!show("evaluation", &SegmentRows::evaluations))
    file.write_table("evaluation", columns_of(std::vector<EvaluationRow>()));
  file.set_attribute("evaluation", "units", units<EvaluationRow>());
  auto const record_loss = [&](char const* name, double loss) {
    if (loss > 0) file.set_attribute("evaluation", name, loss);
  };
  record_loss("frequency_loss", run_.frequency_loss);
  record_loss("context_free_loss", run_.context_free_loss);
  file.write_table("traffic", columns_of(std::vector{traffic.dense, traffic.compressed}));
  file.set_attribute("traffic", "units", units<PhaseTraffic>());
  if (!show("layers/step", &SegmentRows::layers)) file.write<std::int64_t>("layers/step", {0}, {});
  for (auto const& quantity : table_.quantities)
    if (!show("layers/" + quantity, &SegmentRows::layers)) file.write<float>("layers/" + quantity, {0, layers()}, {});
  file.write_texts("layers/name", table_.layers);
  file.close();
  append_checksum(temporary);
  replace_file(temporary, main_);
}

std::optional<TrafficTotals> read_traffic(Hdf5File const& file) {
  if (!file.contains("traffic")) return std::nullopt;
  auto const columns = file.read_table("traffic");
  TrafficTotals totals;
  for (auto const& phase : rows_of<PhaseTraffic>(columns, columns.front().rows(), file.path() + ": traffic"))
    totals.add(phase);
  return totals;
}

StatisticsSegment StatisticsFiles::read(std::int64_t index) const {
  std::string const path = segment_file(index);
  if (auto const fault = checksum_fault(path); !fault.empty()) throw InputError(path + ": " + fault);
  Hdf5File const file = Hdf5File::open(path);
  StatisticsSegment segment;
  segment.index = index;
  auto const rows = [&](std::string const& object) {
    auto const value = file.attribute(object, "rows");
    auto const* const count = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    auto const extent = file.info(object == "layers" ? "layers/step" : object).shape.at(0);
    if (count == nullptr || *count < 0 || *count > extent)
      throw InputError(path + ": " + object + ": attribute 'rows' is missing or not in [0, " + std::to_string(extent) +
                       "]");
    return *count;
  };
  auto const steps = file.read_table("steps");
  segment.steps = rows_of<StepRow>(steps, rows("steps"), path + ": steps");
  segment.has_earlier_names = find_column(steps, "intra_node_bytes") == nullptr;
  segment.evaluations =
      rows_of<EvaluationRow>(file.read_table("evaluation"), rows("evaluation"), path + ": evaluation");
  auto const layer_rows = rows("layers");
  require_quantities(file, path, table_.quantities);
  segment.layers.resize(table_.quantities.size());
  segment.layer_steps.resize(static_cast<std::size_t>(layer_rows));
  file.read_rows<std::int64_t>("layers/step", 0, layer_rows, segment.layer_steps);
  for (std::size_t q = 0; q < table_.quantities.size(); ++q) {
    auto const name = "layers/" + table_.quantities[q];
    auto const shape = file.info(name).shape;
    if (shape.size() != 2 || shape[1] != layers() || shape[0] < layer_rows)
      throw InputError(path + ": " + name + " has another shape than (rows, " + std::to_string(layers()) + ")");
    segment.layers[q].resize(static_cast<std::size_t>(layer_rows * layers()));
    file.read_rows<float>(name, 0, layer_rows, segment.layers[q]);
  }
  auto const wanted = file.attribute("/", checksum_name);  // files of earlier versions have none
  if (wanted && *wanted != Hdf5File::Attribute{checksum_of_rows(segment)})
    throw InputError(path + ": damaged: the checksum of its rows does not match");
  return segment;
}

void StatisticsFiles::check_layers() const {
  auto const opened = [this] {
    try {
      if (auto const fault = checksum_fault(main_); !fault.empty()) throw InputError(main_ + ": " + fault);
      return Hdf5File::open(main_);
    } catch (InputError const& error) {
      bool const sound = !std::filesystem::exists(main_) || input::is_locked_by_another(main_);
      if (sound || count_segments() == 0) throw;
      throw InputError(std::string(error.what()) + "; remove it, and it is created again from the segments beside it");
    }
  };
  auto const file = opened();
  if (file.read_texts("layers/name") != table_.layers)
    throw InputError(main_ + ": layers/name differs from the layers of this model");
  require_quantities(file, main_, table_.quantities);
}

void StatisticsFiles::remove(std::int64_t first_index) const {
  for (std::int64_t index = first_index; std::filesystem::remove(segment_file(index)); ++index) continue;
}

void StatisticsFiles::make_folder() const {
  std::error_code status;
  std::filesystem::create_directories(std::filesystem::path(segment_file(0)).parent_path(), status);
  if (status) throw RuntimeError(segment_file(0) + ": its folder cannot be made: " + status.message());
}

std::int64_t StatisticsFiles::count_segments() const {
  std::int64_t there = 0, count = 0;
  std::error_code status;
  auto const folder = std::filesystem::path(segment_file(0)).parent_path();
  for (std::filesystem::directory_iterator entry(folder, status), end; !status && entry != end; entry.increment(status))
    if (auto const name = entry->path().filename(); name.extension() == ".h5" && name.string().starts_with("segment_"))
      ++there;
  while (std::filesystem::exists(segment_file(count))) ++count;
  if (count < there) throw InputError(segment_file(count) + ": missing, but later segments exist; restore it");
  return count;
}

}  // namespace bellwether::app
