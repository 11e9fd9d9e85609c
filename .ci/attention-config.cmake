# find_package(attention) gives the target attention::attention.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(OpenMP)
get_filename_component(prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET attention::attention)
  add_library(attention::attention STATIC IMPORTED)
  set_target_properties(attention::attention PROPERTIES
    IMPORTED_LOCATION "${prefix}/lib/libattn.a"
    INTERFACE_INCLUDE_DIRECTORIES "${prefix}/include/attention"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES "fmt::fmt;utf8proc;OpenMP::OpenMP_CXX")
endif()
