// real: the number type of the whole library. Float, unless built with -DATTN_DOUBLE, where the same
// sources compute in double so that gradients can be checked against central differences to 1e-6.
//
// A program and the library it links must agree, so every source that uses the library refers to a name
// that only the matching library defines: a program compiled with the other `real` does not link, instead of
// reading wrong numbers.
#pragma once

namespace attn {

#ifdef ATTN_DOUBLE
using real = double;
extern const bool this_library_computes_in_double;
[[gnu::used]] static const bool* const library_check = &this_library_computes_in_double;
#else
using real = float;
extern const bool this_library_computes_in_float;
[[gnu::used]] static const bool* const library_check = &this_library_computes_in_float;
#endif

}  // namespace attn
