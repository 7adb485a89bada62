// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/inspect_tree.hpp"

#include "app/checkpoint/checksum.hpp"
#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"
#include "core/system/error.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/text/unicode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <ostream>
#include <set>

namespace bellwether::app {
namespace {

using input::Hdf5File;

constexpr std::size_t longest_text = 1000;  // maximum bytes of an attribute to print

/// Returns false for control characters and for those that change the writing direction.
bool is_plain(char32_t c) {
  bool const control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  bool const turns = c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return !control && !turns;
}

std::string escaped(std::string_view bytes) {
  std::string text;
  for (char const c : bytes) text += formatted("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text;
}

std::string number_text(double value) { return formatted("%g", value); }
std::string number_text(std::int64_t value) { return std::to_string(value); }

/// Returns the number of written rows of a data set in a statistics segment, which has room for more. The attribute
/// `rows` of the table or, for matrices, of their group holds it. Returns nullopt for other files.
std::optional<std::int64_t> rows_in_use(Hdf5File const& file, std::string const& path, std::string const& kind) {
  if (kind != "bellwether statistics segment") return std::nullopt;
  for (auto const& object : {path, path.substr(0, path.rfind('/'))})
    if (auto const rows = object.empty() ? std::nullopt : file.attribute(object, "rows"))
      if (auto const* count = std::get_if<std::int64_t>(&*rows))
        if (auto const shape = file.info(path).shape; !shape.empty())
          return std::clamp<std::int64_t>(*count, 0, shape[0]);
  return std::nullopt;
}

/// Returns the number of elements of a shape, or the largest integer if it overflows.
std::int64_t elements_of(input::Shape const& shape) {
  if (std::ranges::count(shape, 0) > 0) return 0;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::int64_t elements = 1;
  for (auto const extent : shape) elements = extent > most / elements ? most : elements * extent;
  return elements;
}

/// Returns a warning if the recorded checksum of a data set differs from `digest`, otherwise an empty text.
std::string damage(Hdf5File const& file, std::string const& name, std::string const& digest) {
  auto const recorded = file.attribute(name, checksum_name);
  return recorded && *recorded != Hdf5File::Attribute(digest) ? "  DAMAGED: its checksum does not hold" : "";
}

/// Returns the root mean square of a data set of floats, which reveals zeros and NaNs, and damage().
std::string magnitude(Hdf5File const& file, std::string const& name, std::string const& kind) {
  auto const info = file.info(name);
  auto shape = info.shape;
  shape[0] = rows_in_use(file, name, kind).value_or(shape[0]);
  std::int64_t const elements = elements_of(shape);
  if (elements == 0) return damage(file, name, checksum_of(std::string_view()));
  if (!info.may_hold(elements)) return "  more than is stored";
  std::int64_t const rows = shape[0];
  std::int64_t const at_once = std::max<std::int64_t>(1, (std::int64_t{1} << 20) / (elements / rows));
  input::Shape first(shape.size(), 0);
  std::vector<float> values;
  double squares = 0;
  Checksum sum;
  for (std::int64_t row = 0; row < rows; row += at_once) {
    first[0] = row;
    shape[0] = std::min(at_once, rows - row);
    values.resize(static_cast<std::size_t>(elements_of(shape)));
    file.read_slab<float>(name, first, shape, values);
    for (float const value : values) squares += static_cast<double>(value) * value;
    sum.add(std::as_bytes(std::span(values)));
  }
  return formatted("  rms %.4g", std::sqrt(squares / static_cast<double>(elements))) + damage(file, name, sum.digest());
}

/// Returns the value of a scalar, and damage() of any data set of numbers of type T.
template <class T>
std::string numbers(Hdf5File const& file, std::string const& name, bool scalar) {
  auto const values = file.read<T>(name);
  std::string text;
  if constexpr (std::is_integral_v<T>)
    text = "  = " + std::to_string(values.front());
  else
    text = formatted("  = %.10g", static_cast<double>(values.front()));
  return (scalar ? text : "") + damage(file, name, checksum_of(std::as_bytes(std::span(values))));
}

/// Prints a file's groups and data sets. It visits each group once, because several names may refer to one object, even
/// to a parent group.
class Tree {
 public:
  Tree(std::ostream& out, Hdf5File const& file, std::string const& kind) : out_(out), file_(file), kind_(kind) {}

  void print(std::string const& group = "/", int depth = 0) {
    seen_.insert(file_.address(group));
    for (auto const& attribute : file_.attribute_names(group))
      out_ << "  " << plain(group) << (group.ends_with('/') ? "@" : "/@") << plain(attribute) << " = "
           << plain(file_.attribute_description(group, attribute)) << '\n';
    for (auto const& name : file_.list(group)) {
      std::string const path = group.ends_with('/') ? group + name : group + "/" + name;
      auto const kind = file_.kind(path);
      if (kind == Hdf5File::Kind::data_set)
        print_data_set(path);
      else if (kind == Hdf5File::Kind::link)
        out_ << "  " << plain(path) << "  a link to another place, not followed\n";
      else if (kind == Hdf5File::Kind::other)
        out_ << "  " << plain(path) << "  neither group nor data set\n";
      else if (seen_.contains(file_.address(path)))
        out_ << "  " << plain(path) << "  a group shown before\n";
      else if (depth == deepest)
        out_ << "  " << plain(path) << "  deeper than shown\n";
      else
        print(path, depth + 1);
    }
  }
  std::size_t unreadable() const { return unreadable_; }  ///< data sets

 private:
  static constexpr int deepest = 32;

  void print_data_set(std::string const& path) {
    out_ << "  " << plain(path) << "  ";
    try {
      auto const info = file_.info(path);
      out_ << plain(file_.type_description(path));
      if (info.is_null) {
        out_ << ", without a value\n";
        return;
      }
      std::string shape;
      for (auto const extent : info.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
      out_ << " (" << shape << ")";
      if (info.is_virtual) out_ << " virtual";
      if (info.is_external) out_ << " external";
      if (info.gzip) out_ << " gzip";
      if (auto const rows = rows_in_use(file_, path, kind_)) out_ << ", " << counted(*rows, "row") << " in use";
      if (!info.is_virtual && !info.is_external) print_values(path, info);
    } catch (InputError const& error) {
      ++unreadable_;
      std::string what = error.what();
      std::string const place = file_.path() + ": data set '" + path + "': ";
      out_ << "  UNREADABLE: " << plain(what.starts_with(place) ? what.substr(place.size()) : what);
    }
    out_ << '\n';
  }
  void print_values(std::string const& path, input::DataSetInfo const& info) {
    bool const scalar = info.shape.empty();
    bool const checked = file_.attribute(path, checksum_name) && info.may_hold(elements_of(info.shape));
    if ((scalar || checked) && input::is_integer(info.type)) {
      if (info.type == input::ElementType::u64)
        out_ << numbers<std::uint64_t>(file_, path, scalar);
      else
        out_ << numbers<std::int64_t>(file_, path, scalar);
    }
    if ((scalar || checked) && info.type == input::ElementType::f64) out_ << numbers<double>(file_, path, scalar);
    if (checked && info.type == input::ElementType::text)
      out_ << damage(file_, path, checksum_of(file_.read_texts(path)));
    if (info.type == input::ElementType::f32)
      out_ << (scalar ? numbers<float>(file_, path, scalar) : magnitude(file_, path, kind_));
  }

  std::ostream& out_;
  Hdf5File const& file_;
  std::string kind_;
  std::set<std::uint64_t> seen_;
  std::size_t unreadable_ = 0;
};

}  // namespace

std::string plain(std::string const& text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    if (at >= longest_text) return shown + formatted("... (%zu bytes)", text.size());
    std::size_t const first = at;
    char32_t const c = input::decode_utf8(text, at);
    std::string_view const bytes(text.data() + first, at - first);
    // A replacement character in the text itself is valid; it has these three bytes.
    bool const is_text = c != input::replacement_character || bytes == "\xef\xbf\xbd";
    shown += is_text && is_plain(c) ? std::string(bytes) : escaped(bytes);
  }
  return shown;
}

void print_line(std::ostream& out, std::string const& name, std::string const& value) {
  out << "  " << name << std::string(name.size() < 20 ? 20 - name.size() : 1, ' ') << value << '\n';
}

void print_tree(std::ostream& out, Hdf5File const& file, std::string const& kind) {
  Tree tree(out, file, kind);
  tree.print();
  if (auto const count = tree.unreadable(); count > 0)
    throw InputError(file.path() + ": " + counted(static_cast<std::int64_t>(count), "data set") +
                     " cannot be read; see UNREADABLE above");
}

void print_last_row(std::ostream& out, Hdf5File const& file, std::string const& table, std::string const& kind) {
  auto const shape = file.info(table).shape;
  if (shape.size() != 1) return;
  std::int64_t const rows = rows_in_use(file, "/" + table, kind).value_or(shape[0]);
  if (rows == 0) {
    out << table << ": 0 rows\n";
    return;
  }
  auto const columns = file.read_table(table, rows - 1, 1);
  out << table << ": " << counted(rows, "row") << ", the last one:\n";
  for (auto const& column : columns)
    std::visit([&](auto const& values) { print_line(out, plain(column.name), number_text(values.front())); },
               column.values);
}

}  // namespace bellwether::app
