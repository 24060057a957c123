#pragma once

#include <string>

#include "strategy/files.h"
#include "strategy/job.h"

namespace jitrace {

// Renames a file onto a shared name, as this client's file system does it. With RenameMode::nfs_busy a target that a
// process of this client has open is moved aside first, as the Linux NFS client does, and for a moment (`rename_gap`)
// nobody finds the name.
Result<void> rename_onto(const std::string& from, const std::string& to, Files& files, const Job& job);

// Whether another process of this client has the file open. Nobody at all: F_SETLEASE grants a write lease.
bool busy_on_client(const std::string& path, int client);

}  // namespace jitrace
