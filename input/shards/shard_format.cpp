// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/shard_format.hpp"

#include "core/system/error.hpp"
#include "input/text/vocabulary_checksum.hpp"

#include <optional>

namespace bellwether::input {
namespace {

/// Reads attributes of the root.
class Attributes {
 public:
  explicit Attributes(Hdf5File const& file) : file_(file) {}

  [[noreturn]] void fail(std::string const& name, std::string const& what) const {
    throw InputError(file_.path() + ": attribute '" + name + "'" + what);
  }
  [[noreturn]] void fail_type(std::string const& name, std::string const& allowed) const {
    fail(name, " holds " + file_.attribute_type("/", name) + "; allowed: " + allowed);
  }
  std::optional<std::int64_t> integer(std::string const& name) const {
    auto const value = file_.attribute("/", name);
    if (!value) return std::nullopt;
    if (auto const* number = std::get_if<std::int64_t>(&*value)) return *number;
    fail_type(name, "an integer");
  }
  std::optional<std::string> text(std::string const& name, std::string const& allowed) const {
    auto const value = file_.attribute("/", name);
    if (!value) return std::nullopt;
    if (auto const* found = std::get_if<std::string>(&*value)) return *found;
    fail_type(name, allowed);
  }
  std::int64_t special(std::string const& name) const {
    if (auto const id = integer(name)) return *id;
    fail(name, " is missing; allowed: an integer, as `bellwether prepare` writes it");
  }
  /// If the attribute exists, it must equal `width`, the number of columns of `data_set`.
  void require_width(std::string const& name, std::int64_t width, std::string const& data_set) const {
    auto const found = integer(name);
    if (found && *found != width)
      fail(name, " is " + std::to_string(*found) + ", but " + data_set + " has " + std::to_string(width) + " columns");
  }

 private:
  Hdf5File const& file_;
};

}  // namespace

ShardFormat read_shard_format(Hdf5File const& file, ShardFormat const& widths) {
  ShardFormat format = widths;
  format.static_masks = true;
  format.vocabulary = 0;
  if (auto const name = file.attribute("/", "format"); !name || *name != Hdf5File::Attribute("bellwether shard"))
    return format;
  format.ours = true;
  Attributes const attributes(file);
  std::string const versions = "a text that begins with 1.";
  auto const version = attributes.text("format_version", versions);
  if (!version || !version->starts_with("1."))
    attributes.fail("format_version",
                    (version ? " is '" + *version + "'" : std::string(" is missing")) + "; allowed: " + versions);
  // The wrong kind would mask masked ids again, or train on text without a word to predict.
  auto const masking = attributes.text("masking", "static, dynamic");
  if (masking != "static" && masking != "dynamic")
    attributes.fail("masking",
                    (masking ? " is '" + *masking + "'" : std::string(" is missing")) + "; allowed: static, dynamic");
  format.static_masks = masking == "static";
  attributes.require_width("sequence_length", widths.sequence_length, "input_ids");
  attributes.require_width("max_predictions", widths.masked_length, "masked_lm_positions");
  format.vocabulary = attributes.integer("vocabulary_size").value_or(0);
  if (format.vocabulary < 0)
    attributes.fail("vocabulary_size",
                    " is " + std::to_string(format.vocabulary) + "; allowed: 1 or more, or no such attribute");
  format.special = {attributes.special("cls_id"), attributes.special("sep_id"), attributes.special("mask_id")};
  auto const allowed = "sixteen hexadecimal digits, 0 to 9 and a to f";
  if (auto const checksum = attributes.text(vocabulary_checksum_name, allowed)) {
    if (!is_vocabulary_checksum(*checksum))
      attributes.fail(vocabulary_checksum_name, " is '" + *checksum + "'; allowed: " + allowed);
    format.vocabulary_checksum = *checksum;
  }
  return format;
}

}  // namespace bellwether::input
