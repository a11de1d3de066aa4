// What the backend uses of Apple's sys/event.h.
#pragma once

#include <stdint.h>
#include <time.h>

struct kevent {
  uintptr_t ident;
  int16_t filter;
  uint16_t flags;
  uint32_t fflags;
  intptr_t data;
  void* udata;
};

#define EVFILT_VNODE (-4)
#define EVFILT_PROC (-5)
#define EVFILT_USER (-10)
#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ONESHOT 0x0010
#define EV_CLEAR 0x0020
#define EV_RECEIPT 0x0040
#define EV_ERROR 0x4000
#define NOTE_DELETE 0x00000001
#define NOTE_WRITE 0x00000002
#define NOTE_EXTEND 0x00000004
#define NOTE_RENAME 0x00000020
#define NOTE_REVOKE 0x00000040
#define NOTE_EXIT 0x80000000
#define NOTE_TRIGGER 0x01000000

#define EV_SET(event, a, b, c, d, e, f)      \
  do {                                       \
    struct kevent* set_ = (event);           \
    set_->ident = (a);                       \
    set_->filter = static_cast<int16_t>(b);  \
    set_->flags = static_cast<uint16_t>(c);  \
    set_->fflags = static_cast<uint32_t>(d); \
    set_->data = (e);                        \
    set_->udata = (f);                       \
  } while (0)

extern "C" {
int kqueue(void);
int kevent(int queue, const struct kevent* changes, int change_count, struct kevent* events,
           int event_count, const struct timespec* timeout);
}
