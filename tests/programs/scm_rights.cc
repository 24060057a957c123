// One child opens a file of the cache and hands the descriptor to the other by SCM_RIGHTS; only the other writes, and
// never names the file.  scm_rights CACHE
#include <sys/socket.h>

#include "cache_file.h"
#include "meet.h"

namespace {

// A message of one byte with room for one descriptor beside it.
struct Message {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  char byte = 'd';
  iovec content{&byte, 1};
  msghdr header{};

  Message() {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
};

int give(int socket, const char* cache) {
  const int fd = open_in(cache, "passed", O_WRONLY | O_CREAT | O_TRUNC);
  Message message;
  cmsghdr* beside = CMSG_FIRSTHDR(&message.header);
  beside->cmsg_level = SOL_SOCKET;
  beside->cmsg_type = SCM_RIGHTS;
  beside->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(beside), &fd, sizeof fd);
  return ::sendmsg(socket, &message.header, 0) == 1 ? 0 : 1;
}

int take(int socket) {
  Message message;
  if (::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC) != 1) return 1;
  const cmsghdr* beside = CMSG_FIRSTHDR(&message.header);
  if (beside == nullptr || beside->cmsg_type != SCM_RIGHTS) return 1;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(beside), sizeof fd);
  write_pieces(fd, 3);
  return ::close(fd) == 0 ? 0 : 1;
}

}  // namespace

int main(int, char** argv) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 70;
  const pid_t giver = ::fork();
  if (giver == 0) ::_exit(give(ends[0], argv[1]));
  const pid_t taker = ::fork();
  if (taker == 0) ::_exit(take(ends[1]));
  if (giver < 0 || taker < 0) return 70;
  const int gave = outcome_of(giver);
  const int took = outcome_of(taker);
  return gave == 0 && took == 0 && has_pieces(argv[1], "passed", 3) ? 0 : 1;
}
