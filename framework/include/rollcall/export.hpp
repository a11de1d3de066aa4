// Marks what librollcall exports. Everything else is hidden.
#pragma once

#if defined(ROLLCALL_STATIC)
#define ROLLCALL_API
#elif defined(_WIN32)
#if defined(ROLLCALL_BUILDING)
#define ROLLCALL_API __declspec(dllexport)
#else
#define ROLLCALL_API __declspec(dllimport)
#endif
#else
#define ROLLCALL_API __attribute__((visibility("default")))
#endif
