#include "core/real.hpp"

namespace attn {

#ifdef ATTN_DOUBLE
extern const bool this_library_computes_in_double = true;
#else
extern const bool this_library_computes_in_float = true;
#endif

}  // namespace attn
