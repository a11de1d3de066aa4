// What the backend uses of Apple's libproc.h, for building it on Linux. ../abi.cpp holds this
// folder and Apple's headers to the same numbers.
#pragma once

#include <stdint.h>

#include "sys/proc_info.h"

extern "C" {
int proc_listallpids(void* buffer, int size);
int proc_pidinfo(int pid, int flavor, uint64_t argument, void* buffer, int size);
int proc_pidfdinfo(int pid, int fd, int flavor, void* buffer, int size);
}
