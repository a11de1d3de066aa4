// glibc's unistd.h and what macOS has there besides.
#pragma once

#include_next <unistd.h>

extern "C" {
int gethostuuid(unsigned char* uuid, const struct timespec* wait);
int getpeereid(int fd, uid_t* uid, gid_t* gid);
}
