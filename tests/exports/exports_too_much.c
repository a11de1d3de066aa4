/* A library that exports one datum more than a plugin may. */
#include "rollcall/plugin.h"

ROLLCALL_EXPORT const int rollcall_plugin_v1 = 1;
ROLLCALL_EXPORT const int another_export = 2;
