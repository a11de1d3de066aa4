// What the backend uses of Apple's sys/proc.h.
#pragma once

#define SRUN 2
#define SSTOP 4
#define SZOMB 5
