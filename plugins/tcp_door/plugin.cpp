#include "tcp_door/tcp_door.hpp"

ROLLCALL_DEFINE_PLUGIN("rollcall.tcp_door", ROLLCALL_DOOR_VERSION, "Rollcall",
                       rollcall::doors::TcpDoor);
