// Compiled against the fake headers (on Linux) and against Apple's (on macOS and by cross.sh, both
// architectures): the same numbers, or no build. So the fake cannot drift from what it stands for.
#include <fcntl.h>
#include <libproc.h>
#include <sys/event.h>
#include <sys/proc.h>
#include <sys/proc_info.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// The process.
static_assert(PROC_PIDTBSDINFO == 3 && MAXCOMLEN == 16);
static_assert(SSTOP == 4 && SZOMB == 5);
static_assert(sizeof(proc_bsdinfo) == 136);
static_assert(offsetof(proc_bsdinfo, pbi_status) == 4);
static_assert(offsetof(proc_bsdinfo, pbi_pid) == 12);
static_assert(offsetof(proc_bsdinfo, pbi_ppid) == 16);
static_assert(offsetof(proc_bsdinfo, pbi_uid) == 20);
static_assert(offsetof(proc_bsdinfo, pbi_comm) == 48 && sizeof(proc_bsdinfo::pbi_comm) == 16);
static_assert(offsetof(proc_bsdinfo, pbi_name) == 64 && sizeof(proc_bsdinfo::pbi_name) == 32);
static_assert(offsetof(proc_bsdinfo, pbi_start_tvsec) == 120);
static_assert(offsetof(proc_bsdinfo, pbi_start_tvusec) == 128);

// Its working directory.
static_assert(PROC_PIDVNODEPATHINFO == 9);
static_assert(sizeof(vinfo_stat) == 136 && sizeof(vnode_info) == 152);
static_assert(sizeof(vnode_info_path) == 1176 && offsetof(vnode_info_path, vip_path) == 152);
static_assert(sizeof(proc_vnodepathinfo) == 2352 && offsetof(proc_vnodepathinfo, pvi_cdir) == 0);

// Its descriptors and sockets.
static_assert(PROC_PIDLISTFDS == 1 && PROX_FDTYPE_SOCKET == 2 && sizeof(proc_fdinfo) == 8);
static_assert(PROC_PIDFDSOCKETINFO == 3 && SOCKINFO_TCP == 2 && SOCKINFO_UN == 3);
static_assert(sizeof(proc_fileinfo) == 24 && sizeof(sockbuf_info) == 24);
static_assert(INI_IPV4 == 1 && INI_IPV6 == 2 && TSI_S_LISTEN == 1 && TSI_S_ESTABLISHED == 4);
static_assert(sizeof(in_sockinfo) == 80);
static_assert(offsetof(in_sockinfo, insi_fport) == 0 && offsetof(in_sockinfo, insi_lport) == 4);
static_assert(offsetof(in_sockinfo, insi_vflag) == 24);
static_assert(offsetof(in_sockinfo, insi_faddr) == 32 && offsetof(in_sockinfo, insi_laddr) == 48);
static_assert(offsetof(in4in6_addr, i46a_addr4) == 12 && sizeof(in6_addr) == 16);
static_assert(sizeof(tcp_sockinfo) == 120 && offsetof(tcp_sockinfo, tcpsi_state) == 80);
static_assert(sizeof(un_sockinfo) == 528);
static_assert(offsetof(socket_info, soi_so) == 136 && offsetof(socket_info, soi_kind) == 232);
static_assert(offsetof(socket_info, soi_proto) == 240 && sizeof(socket_info) == 768);
static_assert(offsetof(socket_fdinfo, psi) == 24 && sizeof(socket_fdinfo) == 792);

// Its end.
static_assert(sizeof(struct kevent) == 32);
static_assert(offsetof(struct kevent, filter) == 8 && offsetof(struct kevent, flags) == 10);
static_assert(offsetof(struct kevent, fflags) == 12 && offsetof(struct kevent, data) == 16);
static_assert(EVFILT_PROC == -5 && EV_ADD == 1 && EV_ONESHOT == 0x10 && EV_RECEIPT == 0x40);
static_assert(EV_ERROR == 0x4000 && NOTE_EXIT == 0x80000000u);

// What else a watcher is told.
static_assert(EVFILT_VNODE == -4 && EVFILT_USER == -10 && EV_DELETE == 2 && EV_CLEAR == 0x20);
static_assert(NOTE_DELETE == 1 && NOTE_WRITE == 2 && NOTE_EXTEND == 4 && NOTE_RENAME == 0x20);
static_assert(NOTE_REVOKE == 0x40 && NOTE_TRIGGER == 0x01000000 && O_EVTONLY == 0x8000);
static_assert(sizeof(struct rlimit) == 16 && offsetof(struct rlimit, rlim_cur) == 0);

// Names and settings.
static_assert(CTL_KERN == 1 && KERN_ARGMAX == 8 && KERN_PROCARGS2 == 49);
static_assert(SOL_LOCAL == 0 && LOCAL_PEERPID == 2);

// What crosses between the x86-64 dylib and the fake kernel as it is.
static_assert(sizeof(timespec) == 16 && sizeof(timeval) == 16 && sizeof(std::size_t) == 8);
static_assert(sizeof(pid_t) == 4 && sizeof(uid_t) == 4 && sizeof(gid_t) == 4);

// The calls.
static_assert(std::is_same_v<decltype(&proc_listallpids), int (*)(void*, int)>);
static_assert(std::is_same_v<decltype(&proc_pidfdinfo), int (*)(int, int, int, void*, int)>);
static_assert(std::is_same_v<decltype(&kqueue), int (*)()>);
static_assert(std::is_same_v<decltype(&gethostuuid), int (*)(unsigned char*, const timespec*)>);
static_assert(std::is_same_v<decltype(&getpeereid), int (*)(int, uid_t*, gid_t*)>);
