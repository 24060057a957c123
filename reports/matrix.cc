#include "reports/matrix.h"

#include "base/atomic_file.h"
#include "base/file.h"

namespace jitrace {

Result<void> write_matrix_reports(const SweepMatrix& matrix, const std::string& directory) {
  TRY(write_file_atomically(join(directory, "sweep.json"), render_matrix_json(matrix)));
  TRY(write_file_atomically(join(directory, "junit.xml"), render_matrix_junit(matrix)));
  TRY(write_file_atomically(join(directory, "summary.md"), render_matrix_markdown(matrix)));
  return write_file_atomically(join(directory, "report.txt"), render_matrix_console(matrix));
}

}  // namespace jitrace
