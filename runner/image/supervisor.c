/*
 * Process 1 of a sandbox: starts the program, passes the host's SIGINT on to it, reaps orphans, and ends with the
 * program. Also ends, and every process of the sandbox with it, when no worker has touched `keep_alive` for a while:
 * a container then needs no worker and no reaper to end.
 *
 *   supervisor SECONDS STOPPED_SECONDS PROGRAM [ARGUMENT...]
 *
 * The program is hostile and has the same user. It can't prevent the end:
 * 1. Only root may write in the folder of `keep_alive`. No process of the sandbox is root; a worker touches the file
 *    with `docker exec`.
 * 2. The kernel drops signals to process 1 of a container that it does not handle, SIGKILL and SIGSTOP among them.
 *    gVisor does not: there a timer of the kernel, which no other process can reach, kills a process 1 that was stopped.
 *    Its time (STOPPED_SECONDS) is long, because it goes on while a checkpoint of the sandbox is parked on disk.
 * 3. This process is not dumpable, so no other process of its user can trace it or open its memory.
 * 4. After its start it allocates nothing and opens nothing. A limit that the program sets for it can only end it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The status of timeout(1). */
enum { ORPHANED = 124, NOT_STARTED = 127, LOOKS = 60 };

static const char keep_alive[] = "/run/durable-ptc/keep-alive";

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/* Ends this process with the program. Reaps everything else. */
static void reap(pid_t program) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == program) _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* Sends SIGKILL to this process after some time. Linux drops it, since this is process 1; gVisor does not. */
static int kill_after(timer_t timer, long long milliseconds) {
    struct itimerspec time = {{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000000}};
    return timer_settime(timer, 0, &time, NULL);
}

int main(int count, char **arguments) {
    if (count < 4) return NOT_STARTED;
    long long limit = atoll(arguments[1]) * 1000, stopped_limit = atoll(arguments[2]) * 1000;
    if (limit <= 0 || stopped_limit <= 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return NOT_STARTED;

    timer_t timer;
    struct sigevent on_expiry = {0};
    on_expiry.sigev_notify = SIGEV_SIGNAL;
    on_expiry.sigev_signo = SIGKILL;
    if (timer_create(CLOCK_MONOTONIC, &on_expiry, &timer) != 0) return NOT_STARTED;

    sigset_t handled, original;
    sigemptyset(&handled);
    sigaddset(&handled, SIGCHLD);
    sigaddset(&handled, SIGINT);
    sigprocmask(SIG_BLOCK, &handled, &original);

    pid_t program = fork();
    if (program < 0) return NOT_STARTED;
    if (program == 0) {
        setpgid(0, 0);
        sigprocmask(SIG_SETMASK, &original, NULL);
        execv(arguments[3], arguments + 3);
        _exit(NOT_STARTED);
    }

    /*
     * Counts looks, sixty within the limit, instead of comparing clocks: under gVisor the monotonic clock jumps when a
     * checkpoint is restored. The times of the file are compared with each other only.
     */
    long long interval = limit / LOOKS, next = now() + interval;
    struct timespec pause = {interval / 1000, interval % 1000 * 1000000}, touched = {0, 0};
    kill_after(timer, stopped_limit);
    for (int left = LOOKS; left > 0;) {
        int signal = sigtimedwait(&handled, NULL, &pause);
        if (signal == SIGINT) kill(program, SIGINT);
        reap(program);
        if (now() < next) continue;
        next = now() + interval;
        left -= 1;
        struct stat found;
        if (stat(keep_alive, &found) == 0 &&
            (found.st_mtim.tv_sec != touched.tv_sec || found.st_mtim.tv_nsec != touched.tv_nsec)) {
            touched = found.st_mtim;
            left = LOOKS;
            kill_after(timer, stopped_limit);
        }
    }
    return ORPHANED;
}
