// Exponentials, logarithms and powers that are the same number everywhere: C libraries round some of them to the one
// neighbour or the other, glibc by the processor that it finds.
#pragma once

namespace llmcalc::quantity {

double exp(double x);
double exp2(double x);
double expm1(double x);  ///< e^x - 1
double log(double x);
double log2(double x);
double log10(double x);
double log1p(double x);          ///< log(1 + x)
double pow(double x, double y);  ///< \pre x is not negative
double cbrt(double x);

}  // namespace llmcalc::quantity
