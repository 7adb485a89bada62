// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/prepare_checks.hpp"

#include "core/system/error.hpp"
#include "input/text/vocabulary.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace bellwether::input {
namespace {

namespace fs = std::filesystem;

/// \throws InputError if --alphabet is given without --train-vocab, or exceeds the room that its size leaves.
void check_alphabet(PrepareOptions const& options) {
  if (options.alphabet == 0) return;
  std::string const given = "--alphabet " + std::to_string(options.alphabet) + ": ";
  if (options.trained_vocabulary == 0)
    throw InputError(
        given + "applies only to a vocabulary that is trained; leave it out, or train one with --train-vocab SIZE");
  auto const most = options.trained_vocabulary - static_cast<std::int64_t>(std::size(special_token_names));
  if (options.alphabet > most)
    throw InputError(given + "with --train-vocab " + std::to_string(options.trained_vocabulary) + " at most " +
                     std::to_string(most) +
                     " characters are allowed, beside the special tokens; reduce --alphabet or raise --train-vocab");
}

/// Returns true if `path` is `folder` or lies in it. Both are canonical.
bool is_within(fs::path const& path, fs::path const& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

/// \throws InputError if the trained vocabulary and the folder of shards cannot both get their names. Links are
/// followed.
void check_places(PrepareOptions const& options) {
  auto const canonical = [](std::string const& path) {
    std::error_code status;
    auto const found = fs::weakly_canonical(fs::absolute(path, status), status);
    return found.has_filename() ? found : found.parent_path();
  };
  if (options.trained_vocabulary == 0 || options.vocabulary.empty() || options.out.empty()) return;
  auto const file = canonical(options.vocabulary), folder = canonical(options.out);
  std::string const both = "--vocab " + options.vocabulary + ", --out " + options.out + ": ";
  std::string const remedy = "; name a file outside, or leave --vocab out: the folder gets a vocab.txt";
  if (file == folder) throw InputError(both + "are the same path" + remedy);
  if (is_within(file, folder) || is_within(file, folder.string() + ".partial"))
    throw InputError(both + "the file lies in the folder, which must be new or empty" + remedy);
  if (is_within(folder, file)) throw InputError(both + "the folder lies below the file's name" + remedy);
}

}  // namespace

void check_options(PrepareOptions const& options) {
  require(options.trained_vocabulary > 0 || !options.vocabulary.empty(), "a vocabulary is either read or trained");
  require(!options.out.empty() || (options.trained_vocabulary > 0 && !options.vocabulary.empty()),
          "there is something to write");
  if (options.predictions > options.sequence_length - 3)
    throw InputError("--max-predictions " + std::to_string(options.predictions) + ": at most " +
                     std::to_string(options.sequence_length - 3) + ", the tokens of a row without [CLS] and two [SEP]");
  // NaN fails this test, too.
  if (!(options.heldout >= 0 && options.heldout <= 0.9))
    throw InputError("--heldout: the share of documents to hold out; allowed: a number from 0 to 0.9");
  check_alphabet(options);
  check_places(options);
}

}  // namespace bellwether::input
