#include "verdict/finding.h"

#include <array>

namespace jitrace {
namespace {

struct ClassText {
  std::string_view name;
  std::string_view sentence;
};

constexpr std::array class_texts = std::to_array<ClassText>({
    {"hang", "No worker can go on, and nobody who could change that is left."},
    {"wedged", "The hang is still there for workers that start afresh on the same cache."},
    {"two_owners", "Two workers held one lock at the same time."},
    {"orphan_write", "A compiler whose builder was gone changed an entry after the successor had started on it."},
    {"missing", "A loader found no file where it was told that one is."},
    {"source_missing", "The compiler found its source file gone."},
    {"torn", "An artifact that is cut or half written was visible or loaded."},
    {"poisoned", "A torn artifact stays: nobody ever repairs it."},
    {"foreign", "A whole artifact, but of another build, key or architecture than was promised."},
    {"loud", "A worker failed with an error where it should have been served."},
    {"wrong_error", "The error that a worker gave hides the cause."},
    {"herd", "More builds of one key than were promised."},
    {"serialised", "Builds of different keys waited for each other."},
    {"starved", "A worker got no further than its bound although others did."},
    {"leak", "Files, locks or processes were left behind."},
});
static_assert(class_texts.size() == static_cast<std::size_t>(FindingClass::leak) + 1);

}  // namespace

std::string_view name_of(FindingClass value) { return class_texts[static_cast<std::size_t>(value)].name; }
std::string_view describe(FindingClass value) { return class_texts[static_cast<std::size_t>(value)].sentence; }

std::optional<FindingClass> parse_finding_class(std::string_view name) {
  for (std::size_t i = 0; i < class_texts.size(); ++i) {
    if (class_texts[i].name == name) return static_cast<FindingClass>(i);
  }
  return std::nullopt;
}

std::vector<std::string> finding_class_names() {
  std::vector<std::string> names;
  for (const ClassText& text : class_texts) names.emplace_back(text.name);
  return names;
}

std::string_view name_of(Grade grade) {
  switch (grade) {
    case Grade::pass: return "pass";
    case Grade::inconclusive: return "inconclusive";
    case Grade::fail: return "fail";
  }
  return "unknown";
}

}  // namespace jitrace
