#include "http_door/http_door.hpp"

ROLLCALL_DEFINE_PLUGIN("rollcall.http_door", ROLLCALL_DOOR_VERSION, "Rollcall",
                       rollcall::doors::HttpDoor);
