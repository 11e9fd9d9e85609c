// real: the number type of the whole library. Float, unless built with -DATTN_DOUBLE, where the same
// sources compute in double so that gradients can be checked against central differences to 1e-6.
#pragma once

namespace attn {

#ifdef ATTN_DOUBLE
using real = double;
#else
using real = float;
#endif

}  // namespace attn
