// What the backend uses of Apple's sys/sysctl.h.
#pragma once

#include <stddef.h>

#define CTL_KERN 1
#define KERN_ARGMAX 8
#define KERN_PROCARGS2 49

extern "C" {
int sysctl(int* name, unsigned length, void* old, size_t* old_size, void* fresh, size_t fresh_size);
int sysctlbyname(const char* name, void* old, size_t* old_size, void* fresh, size_t fresh_size);
}
