// A library of objects needs one source for its precompiled header.
