// Looks at the live page (notebooks_cpp/live): does it compute what the native program does, and answer?
#pragma once

#include <filesystem>  // path
#include <set>         // set
#include <string>      // string

#include "notebooks_cpp/check/chromium.hpp"

namespace attn::press {

// What is wrong with the live page that is open in the browser; nothing if all is well.
//
//   same      ten translations and thirty steps of training: the page and `build/live_answers`, on the
//             baseline kernels, give the same sentences, the same losses and the same bits of every weight;
//             what the page saves the native program loads, and translates the same
//   switches  every switch changes what it should, and the address keeps it
//   files     weights that the native program saved translate the same when they are dropped or chosen; a
//             file that is no model gets one line, and the model stays
//
// It prints how long a translation with all its maps takes: that depends on what else the machine does.
//
// `root` is the folder of the pages, out: there lie the weights that the page may have in it.
std::set<std::string> check_live_page(Chromium& browser, const std::filesystem::path& root);

}  // namespace attn::press
