#include "event/board.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <new>
#include <utility>

#include "event/checksum.h"

namespace jitrace {
namespace {

constexpr std::uint64_t board_magic = 0x31647262'6372746aULL;  // "jtrcbrd1"

// Shared (not FUTEX_PRIVATE): the word lies in a file that several processes map.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, nullptr, nullptr, 0);
}
void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Asking the kernel costs as much as all the rest of an append. It wipes this page in a forked child, which asks again.
std::uint32_t own_pid() {
  static auto* const cached = [] {
    void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool wiped = page != MAP_FAILED && ::madvise(page, 4096, MADV_WIPEONFORK) == 0;
    if (!wiped) return static_cast<std::atomic<std::uint32_t>*>(nullptr);
    return new (page) std::atomic<std::uint32_t>(0);
  }();
  if (cached == nullptr) return static_cast<std::uint32_t>(::getpid());
  std::uint32_t pid = cached->load(std::memory_order_relaxed);
  if (pid == 0) {
    pid = static_cast<std::uint32_t>(::getpid());
    cached->store(pid, std::memory_order_relaxed);
  }
  return pid;
}

}  // namespace

struct Board::Header {
  std::uint64_t magic;
  std::uint32_t slots;
  std::uint32_t records;
  std::atomic<std::uint64_t> next;
  std::atomic<std::uint32_t> overflow;
  std::atomic<std::uint32_t> next_slot;
  std::atomic<std::uint32_t> round;
  std::array<std::atomic<std::uint32_t>, point_count> armed;
};

struct alignas(64) Board::Gate {
  std::atomic<std::uint32_t> order;
};

struct alignas(64) Board::Record {
  // 0 while the record is being written, else a checksum of all that follows up to the end of the text. Written last.
  std::atomic<std::uint64_t> seal;
  std::int64_t stamp;
  std::uint16_t kind;
  std::uint16_t point;
  std::uint16_t slot;
  std::uint16_t key;
  std::uint32_t pid;
  std::uint32_t length;
  std::uint64_t attempt;
  std::int64_t a;
  std::int64_t b;
  char text[event_text_limit];

  std::uint64_t checksum() const {
    const std::size_t bytes = offsetof(Record, text) - offsetof(Record, stamp) + std::min<std::size_t>(length, sizeof text);
    const std::uint64_t sum = checksum64(&stamp, bytes);
    return sum == 0 ? 1 : sum;
  }
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

namespace {
constexpr std::size_t header_bytes = 4096;
}

Board::Board(std::string path, void* memory, std::size_t bytes, Fd bell)
    : path_(std::move(path)), memory_(memory), bytes_(bytes), bell_(std::move(bell)) {
  static_assert(sizeof(Header) <= header_bytes && sizeof(Gate) == 64 && sizeof(Record) == 256);
  (void)own_pid();  // made before anybody forks
}

Board::Board(Board&& other) noexcept
    : path_(std::move(other.path_)), memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_),
      bell_(std::move(other.bell_)), torn_(other.torn_) {}

Board& Board::operator=(Board&& other) noexcept {
  if (this != &other) {
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
    path_ = std::move(other.path_);
    memory_ = std::exchange(other.memory_, nullptr);
    bytes_ = other.bytes_;
    bell_ = std::move(other.bell_);
    torn_ = other.torn_;
  }
  return *this;
}

Board::~Board() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

Board::Header& Board::header() const { return *static_cast<Header*>(memory_); }

Board::Gate& Board::gate(Slot slot) const {
  char* gates = static_cast<char*>(memory_) + header_bytes;
  return reinterpret_cast<Gate*>(gates)[slot];
}

Board::Record& Board::record(std::uint64_t index) const {
  char* records = static_cast<char*>(memory_) + header_bytes + sizeof(Gate) * header().slots;
  return reinterpret_cast<Record*>(records)[index];
}

Result<Board> Board::create(const std::string& path, Size size, std::uint32_t worker_slots) {
  const std::size_t bytes = header_bytes + sizeof(Gate) * size.slots + sizeof(Record) * size.records;
  const std::string bell_path = path + ".bell";
  TRY_ASSIGN(Fd file, open_fd(path, O_RDWR | O_CREAT | O_EXCL, 0600));
  // fallocate would reserve what most trials never write; a full disk shows as SIGBUS at the first touch of a page
  // instead, so the first pages are reserved and the rest is not.
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return last_error("size", path);
  if (const int code = ::posix_fallocate(file.get(), 0, std::min<off_t>(static_cast<off_t>(bytes), 1 << 20)); code != 0) {
    return make_error("reserve space for", path, code);
  }
  if (::mkfifo(bell_path.c_str(), 0600) != 0) return last_error("create fifo", bell_path);
  TRY_ASSIGN(Fd bell, open_fd(bell_path, O_RDWR | O_NONBLOCK));
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return last_error("map", path);
  Board board(path, memory, bytes, std::move(bell));
  Header& header = board.header();
  header.slots = size.slots;
  header.records = size.records;
  header.next_slot = worker_slots;
  std::atomic_ref(header.magic).store(board_magic, std::memory_order_release);
  return board;
}

Result<Board> Board::attach(const std::string& path) {
  TRY_ASSIGN(Fd file, open_fd(path, O_RDWR));
  struct stat s {};
  if (::fstat(file.get(), &s) != 0) return last_error("stat", path);
  const auto bytes = static_cast<std::size_t>(s.st_size);
  if (bytes < header_bytes) return make_error("attach to board", path, 0, "it is too short");
  TRY_ASSIGN(Fd bell, open_fd(path + ".bell", O_RDWR | O_NONBLOCK));
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return last_error("map", path);
  Board board(path, memory, bytes, std::move(bell));
  if (board.header().magic != board_magic) return make_error("attach to board", path, 0, "it is no board of this version");
  return board;
}

void Board::append(Event& event) {
  Header& head = header();
  const std::uint64_t index = head.next.fetch_add(1, std::memory_order_relaxed);
  if (index >= head.records) {
    head.overflow.store(1, std::memory_order_relaxed);
    return;
  }
  if (event.stamp == 0) event.stamp = now();
  if (event.pid == 0) event.pid = own_pid();
  Record& to = record(index);
  to.stamp = event.stamp;
  to.kind = static_cast<std::uint16_t>(event.kind);
  to.point = static_cast<std::uint16_t>(event.point);
  to.slot = event.slot;
  to.key = event.key;
  to.pid = event.pid;
  to.length = static_cast<std::uint32_t>(std::min(event.text.size(), sizeof to.text));
  to.attempt = event.attempt;
  to.a = event.a;
  to.b = event.b;
  std::memcpy(to.text, event.text.data(), to.length);
  to.seal.store(to.checksum(), std::memory_order_release);
}

bool Board::overflowed() const { return header().overflow.load(std::memory_order_relaxed) != 0; }

Order Board::reach(Event event) {
  event.kind = EventKind::reached;
  Header& head = header();
  const auto armed = head.armed[static_cast<std::size_t>(event.point)].load(std::memory_order_acquire) != 0;
  if (!armed || event.slot >= head.slots) {
    append(event);
    return Order::go;
  }
  std::atomic<std::uint32_t>& word = gate(event.slot).order;
  word.store(static_cast<std::uint32_t>(Order::wait), std::memory_order_release);
  event.a = 1;
  append(event);
  ring();
  std::uint32_t seen = 0;
  while ((seen = word.load(std::memory_order_acquire)) == static_cast<std::uint32_t>(Order::wait)) futex_wait(word, seen);
  Event resumed;
  resumed.kind = EventKind::resumed;
  resumed.point = event.point;
  resumed.slot = event.slot;
  resumed.key = event.key;
  resumed.attempt = event.attempt;
  append(resumed);
  return static_cast<Order>(seen);
}

void Board::wait_for_start(Slot slot, std::uint32_t round) {
  Event event;
  event.kind = EventKind::ready;
  event.slot = slot;
  append(event);
  ring();
  std::uint32_t seen = 0;
  while ((seen = header().round.load(std::memory_order_acquire)) < round) futex_wait(header().round, seen);
  event = Event{};
  event.kind = EventKind::released;
  event.slot = slot;
  append(event);
}

Slot Board::claim_slot() {
  const std::uint32_t slot = header().next_slot.fetch_add(1, std::memory_order_relaxed);
  return slot < header().slots ? static_cast<Slot>(slot) : driver_slot;
}

void Board::ring() {
  // EAGAIN means that the bell is full of rings that nobody has read yet: the driver will look anyway.
  const char one = 1;
  [[maybe_unused]] const ssize_t n = ::write(bell_.get(), &one, 1);
}

void Board::arm(Point point) { header().armed[static_cast<std::size_t>(point)].store(1, std::memory_order_release); }
void Board::disarm(Point point) { header().armed[static_cast<std::size_t>(point)].store(0, std::memory_order_release); }

void Board::start(std::uint32_t round) {
  header().round.store(round, std::memory_order_release);
  futex_wake(header().round);
}

void Board::order(Slot slot, Order order) {
  std::atomic<std::uint32_t>& word = gate(slot).order;
  word.store(static_cast<std::uint32_t>(order), std::memory_order_release);
  futex_wake(word);
}

void Board::clear_bell() {
  char buffer[4096];
  while (::read(bell_.get(), buffer, sizeof buffer) > 0) {
  }
}

std::vector<Event> Board::read(std::uint64_t* next, Torn torn) {
  std::vector<Event> events;
  const std::uint64_t end = std::min<std::uint64_t>(header().next.load(std::memory_order_acquire), header().records);
  for (; *next < end; ++*next) {
    const Record& from = record(*next);
    const std::uint64_t seal = from.seal.load(std::memory_order_acquire);
    if (seal == 0 || seal != from.checksum()) {
      if (torn == Torn::stop) break;
      ++torn_;
      continue;
    }
    Event& event = events.emplace_back();
    event.stamp = from.stamp;
    event.kind = static_cast<EventKind>(from.kind);
    event.point = static_cast<Point>(from.point);
    event.slot = from.slot;
    event.key = from.key;
    event.pid = from.pid;
    event.attempt = from.attempt;
    event.a = from.a;
    event.b = from.b;
    event.text.assign(from.text, std::min<std::size_t>(from.length, sizeof from.text));
  }
  return events;
}

}  // namespace jitrace
