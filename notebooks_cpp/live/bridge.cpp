// What JavaScript calls. The text stays valid until the next call.
#include "notebooks_cpp/live/live.hpp"

extern "C" const char* live_answer(const char* request) {
  static attn::Live live;
  static std::string text;
  text = live.answer(request);
  return text.c_str();
}
