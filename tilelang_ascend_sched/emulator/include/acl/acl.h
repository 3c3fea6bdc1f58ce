// The host API is not emulated; templates only name its types.
#pragma once

typedef int aclError;
enum { ACL_SUCCESS = 0, ACL_RT_THREAD_LEVEL = 0 };
