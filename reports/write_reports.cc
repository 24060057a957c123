#include "reports/write_reports.h"

#include "base/atomic_file.h"
#include "base/file.h"
#include "reports/console.h"
#include "reports/json.h"
#include "reports/junit.h"
#include "reports/markdown.h"

namespace jitrace {

Result<void> write_reports(const Report& report, const std::string& directory) {
  TRY(write_file_atomically(join(directory, "report.json"), render_json(report)));
  TRY(write_file_atomically(join(directory, "junit.xml"), render_junit(report)));
  TRY(write_file_atomically(join(directory, "summary.md"), render_markdown(report)));
  return write_file_atomically(join(directory, "report.txt"), render_console(report));
}

}  // namespace jitrace
