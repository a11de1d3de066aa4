#include "a2a_door/a2a_door.hpp"

ROLLCALL_DEFINE_PLUGIN("rollcall.a2a_door", ROLLCALL_DOOR_VERSION, "Rollcall",
                       rollcall::doors::A2aDoor);
