// glibc's fcntl.h and what macOS has there besides.
#pragma once

#include_next <fcntl.h>

#define O_EVTONLY 0x8000
