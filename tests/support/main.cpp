// The main() of the test programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Poco/Net/Net.h>

#include "support/test_process.hpp"

int main(int argc, char** argv) {
  rollcall::test::prepare_test_process();
  Poco::Net::initializeNetwork();  // nothing but on Windows, where sockets need it
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
