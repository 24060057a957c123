// The least extension that torch.utils.cpp_extension can be asked for. pybind11 alone: <torch/extension.h> would only
// make the compiler run longer, and a sweep builds this often.
#include <pybind11/pybind11.h>

static int plus(int a, int b) { return a + b; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("plus", &plus); }
