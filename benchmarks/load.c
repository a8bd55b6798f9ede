/* A load that costs little, and an echo to send it to.

   load http  PORT CONNECTIONS SECONDS REQUESTS   requests of a file, one after the other, one under way per connection
   load echo  PORT CONNECTIONS SECONDS REQUESTS   the same for WebSockets: an upgrade, then messages of 64 bytes
   load hold  PORT CONNECTIONS SECONDS REQUESTS   open WebSockets and keep them
   load serve PORT                                answer every upgrade and echo what comes

   A load prints one line of JSON: how many answers, in how many seconds, and how long they took. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BUFFER (1 << 20)
#define MESSAGE 64
#define SAMPLES 4000000

struct connection {
    int fd, upgraded, head_length;
    char head[8192];
    long left;      /* bytes of the answer still to come; -1 while its head has not come whole */
    double began;
};

static char buffer[BUFFER], *requests[20000];
static int request_count, next_request, sample_count;
static float *samples;
static long answers, failures, upgrades;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) { perror(what); exit(1); }

static void read_requests(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) fail(path);
    static char all[64 << 20];
    all[fread(all, 1, sizeof all - 1, file)] = 0;
    for (char *at = all, *end; (end = strstr(at, "\r\n\r\n")) && request_count < 20000; at = end + 4)
        requests[request_count++] = strndup(at, end + 4 - at);
    fclose(file);
}

static struct sockaddr_in local(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return address;
}

static void send_all(struct connection *c, const char *data, long size) {
    while (size > 0) {
        long sent = send(c->fd, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) continue;
        if (sent <= 0) { failures++; return; }
        data += sent, size -= sent;
    }
}

static void ask(struct connection *c, int websockets) {
    static const char message[6 + MESSAGE] = {(char)0x82, (char)(0x80 | MESSAGE)};
    c->began = now();
    if (websockets && c->upgraded) { c->left = 2 + MESSAGE; send_all(c, message, sizeof message); return; }
    c->left = -1, c->head_length = 0;
    const char *request = requests[next_request++ % request_count];
    send_all(c, request, strlen(request));
}

/* The length of the body, once the head is there; -1 before, -2 where the answer is not the one wanted. */
static long body_length(struct connection *c, const char *data, long size, long *used, int websockets) {
    long room = sizeof c->head - 1 - c->head_length, taken = size < room ? size : room;
    memcpy(c->head + c->head_length, data, taken);
    c->head[c->head_length + taken] = 0;
    char *end = strstr(c->head, "\r\n\r\n");
    if (!end) { c->head_length += taken; *used = taken; return room ? -1 : -2; }
    *used = end + 4 - c->head - c->head_length;
    if (websockets) return strncmp(c->head + 9, "101", 3) ? -2 : 0;
    char *length = strcasestr(c->head, "\r\ncontent-length:");
    return strncmp(c->head + 9, "200", 3) || !length ? -2 : atol(length + 17);
}

static int answered(struct connection *c, int websockets) {
    if (websockets && !c->upgraded) { c->upgraded = 1, upgrades++; return 0; }
    answers++;
    if (sample_count < SAMPLES) samples[sample_count++] = now() - c->began;
    return 1;
}

static void receive(struct connection *c, int websockets, int stops) {
    long size = recv(c->fd, buffer, BUFFER, 0);
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) { failures++; close(c->fd); return; }
    for (char *data = buffer; size > 0;) {
        long used = 0;
        if (c->left < 0) {
            c->left = body_length(c, data, size, &used, websockets && !c->upgraded);
            if (c->left == -2) { failures++; close(c->fd); return; }
        } else {
            used = size < c->left ? size : c->left;
            c->left -= used;
        }
        data += used, size -= used;
        if (c->left == 0) {
            answered(c, websockets);
            if (!stops) ask(c, websockets);
        }
    }
}

static int compare(const void *a, const void *b) { return (*(float *)a > *(float *)b) - (*(float *)a < *(float *)b); }

static void load(int port, int count, double seconds, int websockets, int holds) {
    samples = malloc(SAMPLES * sizeof *samples);
    struct connection *all = calloc(count, sizeof *all);
    int poll = epoll_create1(0);
    for (int i = 0; i < count; i++) {
        struct sockaddr_in address = local(port);
        struct connection *c = &all[i];
        int on = 1;
        c->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(c->fd, (void *)&address, sizeof address)) fail("connect");
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        fcntl(c->fd, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &event);
        ask(c, websockets);
    }
    struct epoll_event events[256];
    while (holds && upgrades < count && !failures) {
        int ready = epoll_wait(poll, events, 256, 100);
        for (int i = 0; i < ready; i++) receive(events[i].data.ptr, 1, 1);
    }
    if (holds) { printf("{\"open\": %d, \"failures\": %ld}\n", count, failures); fflush(stdout); sleep(seconds); return; }
    double began = now(), end = began + seconds;
    for (double time = began; time < end; time = now()) {
        int ready = epoll_wait(poll, events, 256, 100);
        for (int i = 0; i < ready; i++) receive(events[i].data.ptr, websockets, 0);
    }
    double took = now() - began;
    qsort(samples, sample_count, sizeof *samples, compare);
    double p50 = sample_count ? samples[sample_count / 2] : 0, p99 = sample_count ? samples[(int)(sample_count * 0.99)] : 0;
    printf("{\"answers\": %ld, \"failures\": %ld, \"seconds\": %f, \"p50\": %f, \"p99\": %f}\n", answers, failures, took, p50, p99);
}

static void serve(int port) {
    static const char agreed[] = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                                 "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1, poll = epoll_create1(0);
    static char upgraded[1 << 20];
    struct sockaddr_in address = local(port);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (void *)&address, sizeof address) || listen(listener, 4096)) fail("listen");
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int ready = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                int accepted = accept4(listener, 0, 0, SOCK_NONBLOCK);
                if (accepted < 0) continue;
                setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                upgraded[accepted] = 0;
                event = (struct epoll_event){.events = EPOLLIN, .data.fd = accepted};
                epoll_ctl(poll, EPOLL_CTL_ADD, accepted, &event);
                continue;
            }
            long size = recv(fd, buffer, BUFFER, 0);
            if (size <= 0) { if (size == 0 || errno != EAGAIN) close(fd); continue; }
            if (!upgraded[fd]) { upgraded[fd] = 1; (void)!write(fd, agreed, sizeof agreed - 1); continue; }
            for (long at = 0; at + 6 + MESSAGE <= size; at += 6 + MESSAGE) { /* unmasked: the mask of the load is zero */
                char frame[2 + MESSAGE] = {(char)0x82, MESSAGE};
                memcpy(frame + 2, buffer + at + 6, MESSAGE);
                (void)!write(fd, frame, sizeof frame);
            }
        }
    }
}

int main(int count, char **words) {
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    signal(SIGPIPE, SIG_IGN);
    if (count == 3 && !strcmp(words[1], "serve")) serve(atoi(words[2]));
    if (count != 6) { fprintf(stderr, "see the top of load.c\n"); return 2; }
    read_requests(words[5]);
    load(atoi(words[2]), atoi(words[3]), atof(words[4]), !!strcmp(words[1], "http"), !strcmp(words[1], "hold"));
    return 0;
}
