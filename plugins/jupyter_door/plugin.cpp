#include "jupyter_door/jupyter_door.hpp"

ROLLCALL_DEFINE_PLUGIN("rollcall.jupyter_door", ROLLCALL_DOOR_VERSION, "Rollcall",
                       rollcall::doors::JupyterDoor);
