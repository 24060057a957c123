#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "event/board.h"
#include "strategy/daemon_wire.h"

namespace jitrace {

// One build of the server, in a thread of its own. Privately, as `sound` builds; published by directory rename.
class Builder {
 public:
  // `board` may be null. `done` is called from the thread, last of all.
  Builder(DaemonRequest request, std::string root, std::string scratch, Board* board, std::function<void()> done);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder();  // waits for the thread

  bool finished() const { return finished_.load(std::memory_order_acquire); }
  const DaemonReply& reply() const { return reply_; }  // once finished
  const DaemonRequest& request() const { return request_; }
  // Whether the build goes on: not so while its compiler, or anything below it, is stopped.
  bool alive() const;

 private:
  void run();
  DaemonReply build();

  const DaemonRequest request_;
  const std::string root_;
  const std::string scratch_;
  Board* board_;
  std::function<void()> done_;
  std::atomic<pid_t> compiler_ = 0;
  std::atomic<bool> finished_ = false;
  DaemonReply reply_;
  std::thread thread_;
};

}  // namespace jitrace
