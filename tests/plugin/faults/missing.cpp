// What fault_missing_symbol is linked with on Windows, and never finds.
extern "C" __declspec(dllexport) int rollcall_test_symbol_that_nobody_defines() { return 0; }
