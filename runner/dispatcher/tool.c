/*
 * The commands `tool`, `sleep` and `date` of a sandbox with the dispatcher: clients of its socket (tools/server.py).
 *
 *   tool NAME [PARAMETER=VALUE...]   calls a tool; the result is JSON on stdout. PARAMETER:=JSON passes JSON
 *   tool NAME -                      the arguments are a JSON object on stdin
 *   tool [NAME] --help
 *   sleep NUMBER[smhd]...            like sleep(1), in the time of the program: it survives the sandbox
 *   date [...]                       like date(1), by the clock of the program
 *
 * Exit codes: 0; 1 the tool failed; 2 the call is wrong, nothing ran; 3 denied; 4 timed out; 5 the outcome is unknown;
 * 6 cancelled; 69 there is no dispatcher; 75 too many calls at once.
 *
 * 1. Only connecting is repeated, for 30 seconds: a request that was sent may have an effect, and is never sent again.
 * 2. An answer may take any time. The host limits calls.
 * 3. Words of the command line are only data: they become JSON strings. So is stdin: it is a body of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { WRONG = 2, UNAVAILABLE = 69, CONNECT_SECONDS = 30, CHUNK = 65536, HEAD_BYTES = 16384 };

struct buffer {
    char *data;
    size_t length, capacity;
};

static int fail(int code, const char *command, const char *message) {
    fprintf(stderr, "%s: %s\n", command, message);
    return code;
}

static void append(struct buffer *buffer, const char *data, size_t length) {
    if (buffer->length + length > buffer->capacity) {
        buffer->capacity = (buffer->length + length) * 2;
        buffer->data = realloc(buffer->data, buffer->capacity);
        if (!buffer->data) exit(fail(UNAVAILABLE, "tool", "out of memory"));
    }
    memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
}

static void append_text(struct buffer *buffer, const char *text) { append(buffer, text, strlen(text)); }

/* Appends a JSON string. Bytes that are not UTF-8 are left to the server, which refuses them. */
static void append_string(struct buffer *buffer, const char *text) {
    char escape[8];
    append(buffer, "\"", 1);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\') append(buffer, "\\", 1);
        if (byte >= 0x20 && byte != 0x7f) append(buffer, text, 1);
        else append(buffer, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", byte));
    }
    append(buffer, "\"", 1);
}

static void read_all(struct buffer *buffer, int descriptor) {
    char chunk[CHUNK];
    ssize_t count;
    while ((count = read(descriptor, chunk, sizeof chunk)) != 0) {
        if (count > 0) append(buffer, chunk, (size_t)count);
        else if (errno != EINTR) return;
    }
}

static int write_all(int descriptor, const char *data, size_t length) {
    while (length > 0) {
        ssize_t count = write(descriptor, data, length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return -1;
        data += count;
        length -= (size_t)count;
    }
    return 0;
}

static int connected(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("PTC_TOOLS");
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path ? path : "/run/tools/tools.sock");
    struct timespec pause = {0, 10000000};
    for (time_t end = time(NULL) + CONNECT_SECONDS;;) {
        int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (descriptor < 0) return -1;
        if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
        int problem = errno;
        close(descriptor);
        /* Without the socket there is no dispatcher. It may only be busy, or begin to listen again. */
        if ((problem != EAGAIN && problem != ECONNREFUSED && problem != EINTR) || time(NULL) >= end) return -1;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 500000000) pause.tv_nsec *= 2;
    }
}

/* Sends a request. Writes the body of the answer to `success`, or to stderr after a failure. Returns the exit code. */
static int request(const char *command, const char *method, const char *target, const struct buffer *body,
                   struct buffer *success) {
    int descriptor = connected();
    if (descriptor < 0) return fail(UNAVAILABLE, command, "tools can't be called here: there is no dispatcher");
    struct buffer message = {0};
    char length[64];
    append_text(&message, method);
    append_text(&message, " ");
    append_text(&message, target);
    append_text(&message, " HTTP/1.1\r\nHost: tools\r\nAccept: text/plain\r\nConnection: close\r\n");
    snprintf(length, sizeof length, "Content-Length: %zu\r\n\r\n", body ? body->length : 0);
    append_text(&message, length);
    if (body) append(&message, body->data, body->length);
    /* The server may have refused the request before it has read all of it: its answer counts. */
    write_all(descriptor, message.data, message.length);
    struct buffer answer = {0};
    read_all(&answer, descriptor);
    append(&answer, "", 1);
    char *content = strstr(answer.data, "\r\n\r\n");
    if (!content) return fail(UNAVAILABLE, command, "the dispatcher has closed the connection: the outcome is unknown");
    *content = 0;
    content += 4;
    size_t size = answer.length - 1 - (size_t)(content - answer.data);
    char *code = strstr(answer.data, "\r\nExit-Code: "), *expected = strstr(answer.data, "\r\nContent-Length: ");
    if (!code || !expected || strtoul(expected + 18, NULL, 10) != size)
        return fail(UNAVAILABLE, command, "the answer of the dispatcher is not complete");
    int exit_code = atoi(code + 13);
    if (exit_code == 0) append(success, content, size);
    else fprintf(stderr, "%s: %.*s", command, (int)size, content);
    return exit_code;
}

/* The target of a request, with a name as its query. */
static struct buffer target_of(const char *path, const char *name) {
    struct buffer target = {0};
    char escape[4];
    append_text(&target, path);
    if (name) append_text(&target, "?name=");
    for (; name && *name; name++)
        append(&target, escape, (size_t)snprintf(escape, sizeof escape, "%%%02X", (unsigned char)*name));
    append(&target, "", 1);
    return target;
}

static int call(int count, char **words) {
    struct buffer body = {0}, result = {0}, target = target_of("/tools/call", NULL);
    if (count == 2 && strcmp(words[1], "-") == 0) {
        target = target_of("/tools/call", words[0]);
        read_all(&body, 0);
        if (body.length == 0) append_text(&body, "{}");
    } else {
        append_text(&body, "{\"name\": ");
        append_string(&body, words[0]);
        append_text(&body, ", \"words\": [");
        for (int index = 1; index < count; index++) {
            if (index > 1) append(&body, ",", 1);
            append_string(&body, words[index]);
        }
        append_text(&body, "]}");
    }
    int code = request("tool", "POST", target.data, &body, &result);
    if (code == 0 && write_all(1, result.data, result.length) != 0) return fail(74, "tool", "can't write the result");
    return code;
}

static int help(const char *name) {
    struct buffer target = target_of("/tools/help", name), text = {0};
    int code = request("tool", "GET", target.data, NULL, &text);
    if (code == 0 && write_all(1, text.data, text.length) != 0) return 74;
    return code;
}

static int sleep_for(int count, char **words) {
    double seconds = 0;
    if (count == 0) return fail(1, "sleep", "missing operand");
    for (int index = 0; index < count; index++) {
        char *end;
        double value = strtod(words[index], &end);
        double factor = *end == 'm' ? 60 : *end == 'h' ? 3600 : *end == 'd' ? 86400 : 1;
        if (*end && strchr("smhd", *end)) end++;
        if (end == words[index] || *end || !(value >= 0)) {
            fprintf(stderr, "sleep: invalid time interval '%s'\n", words[index]);
            return 1;
        }
        seconds += value * factor;
    }
    struct buffer body = {0}, nothing = {0};
    char text[64];
    append(&body, text, (size_t)snprintf(text, sizeof text, "{\"seconds\": %.6f}", seconds > 1e9 ? 1e9 : seconds));
    return request("sleep", "POST", "/sleep", &body, &nothing);
}

/* Executes date(1). Without a date of its own, it gets the one of the program. */
static int show_date(int count, char **words) {
    char **arguments = calloc((size_t)count + 4, sizeof *arguments), time_text[64];
    int has_date = 0, length = 1;
    if (!arguments) return UNAVAILABLE;
    for (int index = 0; index < count; index++) {
        const char *word = words[index];
        has_date |= strncmp(word, "--d", 3) == 0 || strncmp(word, "--f", 3) == 0 || strncmp(word, "--r", 3) == 0 ||
                    strncmp(word, "--s", 3) == 0 ||
                    (word[0] == '-' && word[1] != '-' && strpbrk(word, "dfrs") != NULL) ||
                    (word[0] != '-' && word[0] != '+');
    }
    struct buffer result = {0};
    arguments[0] = "date";
    if (!has_date && request("date", "GET", "/time", NULL, &result) == 0) {
        append(&result, "", 1);
        char *value = strchr(result.data, ':');
        snprintf(time_text, sizeof time_text, "@%.6f", value ? strtod(value + 1, NULL) : 0);
        arguments[length++] = "-d";
        arguments[length++] = time_text;
    }
    for (int index = 0; index < count; index++) arguments[length++] = words[index];
    execv("/bin/date", arguments);
    return fail(127, "date", "there is no /bin/date");
}

int main(int count, char **words) {
    const char *slash = strrchr(words[0], '/'), *name = slash ? slash + 1 : words[0];
    if (strcmp(name, "sleep") == 0) return sleep_for(count - 1, words + 1);
    if (strcmp(name, "date") == 0) return show_date(count - 1, words + 1);
    if (count < 2) {
        help(NULL);
        return WRONG;
    }
    if (strcmp(words[1], "--help") == 0) return help(NULL);
    if (count == 3 && strcmp(words[2], "--help") == 0) return help(words[1]);
    return call(count - 1, words + 1);
}
