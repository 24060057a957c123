#include "reports/write_reports.h"

#include "base/atomic_file.h"
#include "base/file.h"
#include "reports/annotations.h"
#include "reports/console.h"
#include "reports/json.h"
#include "reports/junit.h"
#include "reports/markdown.h"

namespace jitrace {

Result<void> write_reports(const Report& report, const std::string& directory) {
  TRY(write_file_atomically(join(directory, "report.json"), render_json(report)));
  TRY(write_file_atomically(join(directory, "junit.xml"), render_junit(report)));
  TRY(write_file_atomically(join(directory, "summary.md"), render_markdown(report)));
  std::string annotations;
  for (const std::string& line : github_annotations(report)) annotations += line + "\n";
  TRY(write_file_atomically(join(directory, "annotations.txt"), annotations));
  return write_file_atomically(join(directory, "report.txt"), render_console(report));
}

}  // namespace jitrace
