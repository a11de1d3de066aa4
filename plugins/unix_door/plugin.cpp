#include "unix_door/unix_door.hpp"

ROLLCALL_DEFINE_PLUGIN("rollcall.unix_door", ROLLCALL_DOOR_VERSION, "Rollcall",
                       rollcall::doors::UnixDoor);
