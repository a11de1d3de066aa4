/* Does nothing until it is ended, whatever its arguments. */
#include <unistd.h>

int main(void) {
  for (;;) pause();
}
