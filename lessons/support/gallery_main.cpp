// Makes DIR/index.html again from the pictures that lessons left there.
#include "core/viz/gallery.hpp"

int main(int argc, char** argv) { attn::viz::write_gallery(argc > 1 ? argv[1] : "out"); }
