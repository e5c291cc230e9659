/* A wall clock that is wrong by PLANT_CLOCK seconds, for one process: LD_PRELOAD it. The monotonic clock stays right,
   as it does on a machine whose clock was set wrongly. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift(void) {
    const char *seconds = getenv("PLANT_CLOCK");
    return seconds ? atol(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, now);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
    return status;
}

int gettimeofday(struct timeval *now, void *zone) {
    static int (*real)(struct timeval *, void *);
    if (!real) real = dlsym(RTLD_NEXT, "gettimeofday");
    int status = real(now, zone);
    if (status == 0) now->tv_sec += shift();
    return status;
}

time_t time(time_t *now) {
    struct timespec instant;
    clock_gettime(CLOCK_REALTIME, &instant);
    if (now) *now = instant.tv_sec;
    return instant.tv_sec;
}
