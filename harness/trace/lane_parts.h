#pragma once

#include <string>

#include "base/result.h"
#include "event/history.h"
#include "trace/traced_process.h"

namespace jitrace {

// What the files of the lane share.

// Without the white space around it.
std::string trimmed(const std::string& text);
// With times, links, modes and extended attributes: what a tool finds afterwards is what lay there.
Result<void> copy_contents(const std::string& from, const std::string& to);
Result<void> copy_as(const std::string& from, const std::string& to);  // `to` is not there yet
SnapshotEntry entry_of(const std::string& name, const std::string& path);  // a directory's name ends in '/'
Event event_of(EventKind kind, std::string text = {});
Event event_of(EventKind kind, const TracedProcess& process, std::string text = {});

}  // namespace jitrace
