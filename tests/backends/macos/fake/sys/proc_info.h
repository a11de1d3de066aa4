// What the backend uses of Apple's sys/proc_info.h: the same names, fields, order and sizes.
#pragma once

#include <netinet/in.h>
#include <stdint.h>
#include <sys/types.h>

#define MAXCOMLEN 16

#define PROC_PIDLISTFDS 1
#define PROC_PIDTBSDINFO 3
#define PROC_PIDVNODEPATHINFO 9
#define PROC_PIDFDSOCKETINFO 3
#define PROX_FDTYPE_SOCKET 2

struct proc_bsdinfo {
  uint32_t pbi_flags;
  uint32_t pbi_status;
  uint32_t pbi_xstatus;
  uint32_t pbi_pid;
  uint32_t pbi_ppid;
  uid_t pbi_uid;
  gid_t pbi_gid;
  uid_t pbi_ruid;
  gid_t pbi_rgid;
  uid_t pbi_svuid;
  gid_t pbi_svgid;
  uint32_t rfu_1;
  char pbi_comm[MAXCOMLEN];
  char pbi_name[2 * MAXCOMLEN];
  uint32_t pbi_nfiles;
  uint32_t pbi_pgid;
  uint32_t pbi_pjobc;
  uint32_t e_tdev;
  uint32_t e_tpgid;
  int32_t pbi_nice;
  uint64_t pbi_start_tvsec;
  uint64_t pbi_start_tvusec;
};

struct vinfo_stat {
  uint32_t vst_dev;
  uint16_t vst_mode;
  uint16_t vst_nlink;
  uint64_t vst_ino;
  uid_t vst_uid;
  gid_t vst_gid;
  int64_t vst_times[8];
  off_t vst_size;
  int64_t vst_blocks;
  int32_t vst_blksize;
  uint32_t vst_flags;
  uint32_t vst_gen;
  uint32_t vst_rdev;
  int64_t vst_qspare[2];
};

struct vnode_info {
  struct vinfo_stat vi_stat;
  int vi_type;
  int vi_pad;
  int32_t vi_fsid[2];
};

struct vnode_info_path {
  struct vnode_info vip_vi;
  char vip_path[1024];
};

struct proc_vnodepathinfo {
  struct vnode_info_path pvi_cdir;
  struct vnode_info_path pvi_rdir;
};

struct proc_fdinfo {
  int32_t proc_fd;
  uint32_t proc_fdtype;
};

struct proc_fileinfo {
  uint32_t fi_openflags;
  uint32_t fi_status;
  off_t fi_offset;
  int32_t fi_type;
  uint32_t fi_guardflags;
};

#define INI_IPV4 0x1
#define INI_IPV6 0x2

struct in4in6_addr {
  uint32_t i46a_pad32[3];
  struct in_addr i46a_addr4;
};

struct in_sockinfo {
  int insi_fport;
  int insi_lport;
  uint64_t insi_gencnt;
  uint32_t insi_flags;
  uint32_t insi_flow;
  uint8_t insi_vflag;
  uint8_t insi_ip_ttl;
  uint32_t rfu_1;
  union {
    struct in4in6_addr ina_46;
    struct in6_addr ina_6;
  } insi_faddr;
  union {
    struct in4in6_addr ina_46;
    struct in6_addr ina_6;
  } insi_laddr;
  struct {
    unsigned char in4_tos;
  } insi_v4;
  struct {
    uint8_t in6_hlim;
    int in6_cksum;
    unsigned short in6_ifindex;
    short in6_hops;
  } insi_v6;
};

#define TSI_S_LISTEN 1
#define TSI_S_ESTABLISHED 4

struct tcp_sockinfo {
  struct in_sockinfo tcpsi_ini;
  int tcpsi_state;
  int tcpsi_timer[4];
  int tcpsi_mss;
  uint32_t tcpsi_flags;
  uint32_t rfu_1;
  uint64_t tcpsi_tp;
};

struct un_sockinfo {
  uint64_t unsi_conn_so;
  uint64_t unsi_conn_pcb;
  char unsi_addr[255];
  char unsi_caddr[255];
};

struct sockbuf_info {
  uint32_t sbi_cc;
  uint32_t sbi_hiwat;
  uint32_t sbi_mbcnt;
  uint32_t sbi_mbmax;
  uint32_t sbi_lowat;
  short sbi_flags;
  short sbi_timeo;
};

enum { SOCKINFO_GENERIC = 0, SOCKINFO_IN = 1, SOCKINFO_TCP = 2, SOCKINFO_UN = 3 };

struct socket_info {
  struct vinfo_stat soi_stat;
  uint64_t soi_so;
  uint64_t soi_pcb;
  int soi_type;
  int soi_protocol;
  int soi_family;
  short soi_options;
  short soi_linger;
  short soi_state;
  short soi_qlen;
  short soi_incqlen;
  short soi_qlimit;
  short soi_timeo;
  unsigned short soi_error;
  uint32_t soi_oobmark;
  struct sockbuf_info soi_rcv;
  struct sockbuf_info soi_snd;
  int soi_kind;
  uint32_t rfu_1;
  union {
    struct in_sockinfo pri_in;
    struct tcp_sockinfo pri_tcp;
    struct un_sockinfo pri_un;
  } soi_proto;
};

struct socket_fdinfo {
  struct proc_fileinfo pfi;
  struct socket_info psi;
};
