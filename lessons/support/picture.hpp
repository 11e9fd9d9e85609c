// A picture as pages need it: drawn twice, and with its numbers.
//
//   write_picture("out/06_self_attention/attention.png", image);
//
// writes attention.png, attention-dark.png for dark pages, and, if the picture shows matrices,
// attention.json with the numbers, names and place of each, so that a page can say what is under the pointer.
// On dark paper light and dark change places while hues stay; the cells of heatmaps keep their colours, which
// stand for numbers.
#pragma once

#include <filesystem>  // path
#include <functional>  // function
#include <string>      // string

#include "core/json.hpp"
#include "core/viz/image.hpp"
#include "core/viz/matrix.hpp"  // Numbers

namespace attn {

void write_picture(const std::filesystem::path& png, const viz::Image& image);

viz::Image on_dark_paper(const viz::Image& image);
std::filesystem::path dark_twin(const std::filesystem::path& png);  // attention-dark.png

// Data for the scripts of a page, inside of the page. Four digits are as many as anybody reads off a picture.
Json short_numbers(const viz::Numbers& numbers);
std::string json_script(const std::string& kind, std::string json);

// The picture in HTML, both ways if its twin is there: the page's style shows the one that fits. `address`
// tells how the page names a file.
std::string picture_html(const std::filesystem::path& png, const std::string& alt,
                         const std::function<std::string(const std::filesystem::path&)>& address);

}  // namespace attn
