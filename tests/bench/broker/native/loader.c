/* Replays frames that were encoded before, as fast as a broker answers them.
 *
 *     loader HOST PORT CONNECTIONS DEPTH WARM REQUESTS SECONDS PID FRAMES
 *
 * Each connection keeps DEPTH requests in flight and goes round and round through the frames, each
 * connection from another one on. After WARM answers the measurement begins; it ends after REQUESTS
 * more or after SECONDS. What is in flight then is still awaited. PID is the broker's process: its
 * CPU time is read at both ends of the measurement (0: not).
 *
 * FRAMES is a file of frames, each behind three integers of 32 bits in this machine's byte order:
 * the frame's size, the size of the right answer, and where in the answer an error code stands that
 * must be 0 (0: nowhere). Both sizes include the four bytes of Kafka's own size in front. Every
 * answer is checked: its size, its correlation id, that error code. Of the rest nothing is looked
 * at, so that it need not even be copied to here: whoever wrote FRAMES has looked at it.
 *
 * One line of JSON on the standard output tells the result; a wrong answer ends all with code 1.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    PREFIX = 12,           /* size, API key, API version, correlation id: ours for each request */
    DEPTH_MAX = 64,
    FRAMES_MAX = 65536,
    HEAD_MAX = 256,        /* as much of an answer is kept as an error code may stand in */
    BUFFER = 256 * 1024,
    DISCARD_MIN = 16 * 1024, /* from here on the kernel throws away what nobody looks at */
    LATENCY_MAX_US = 1000000,
    GIVE_UP_MS = 30000,    /* no answer for so long is a broker that hangs */
};

struct frame {
    const unsigned char *bytes;
    uint32_t size, answer_size, error_at;
};

struct connection {
    int fd;
    uint32_t first_frame;
    uint32_t sent, answered;       /* requests that were written whole, and answers */
    uint32_t send_offset;          /* of the request behind those */
    uint32_t have;                 /* bytes of the answer that is being received */
    int waits_to_write;
    uint64_t sent_at_ns[DEPTH_MAX];
    unsigned char head[HEAD_MAX];
};

static struct frame *frames;
static uint32_t frame_count;
static struct connection *connections;
static int connection_count, depth, epoll_fd;
static uint64_t warm, wanted, limit_ns;
static pid_t broker;

static uint64_t answers;           /* of all connections, warm-up included */
static uint64_t sent_bytes, received_bytes;
static int measuring, stopping;
static uint32_t *latency_us;       /* how many answers took so many microseconds */
static unsigned char buffer[BUFFER];

struct reading {
    uint64_t at_ns, broker_cpu_ns, own_cpu_ns, answers, sent_bytes, received_bytes;
};
static struct reading begin, end;

static void fail(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    fputs("loader: ", stderr);
    vfprintf(stderr, format, rest);
    fputc('\n', stderr);
    va_end(rest);
    exit(1);
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        fail("cannot read a clock: %s", strerror(errno));
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t broker_cpu_ns(void) {
    clockid_t clock;
    if (broker == 0)
        return 0;
    int code = clock_getcpuclockid(broker, &clock);
    if (code != 0)
        fail("cannot read the CPU time of process %d: %s", (int)broker, strerror(code));
    return clock_ns(clock);
}

static struct reading read_all(void) {
    struct reading now = {
        .at_ns = clock_ns(CLOCK_MONOTONIC),
        .broker_cpu_ns = broker_cpu_ns(),
        .own_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
        .answers = answers,
        .sent_bytes = sent_bytes,
        .received_bytes = received_bytes,
    };
    return now;
}

static uint32_t big_endian(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return ntohl(value);
}

static void load_frames(const char *path) {
    int fd = open(path, O_RDONLY);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0)
        fail("cannot open %s: %s", path, strerror(errno));
    unsigned char *all = malloc((size_t)about.st_size);
    frames = calloc(FRAMES_MAX, sizeof *frames);
    if (!all || !frames)
        fail("not enough memory for %s", path);
    for (off_t have = 0; have < about.st_size;) {
        ssize_t more = read(fd, all + have, (size_t)(about.st_size - have));
        if (more <= 0)
            fail("cannot read %s", path);
        have += more;
    }
    close(fd);
    for (off_t at = 0; at < about.st_size; frame_count++) {
        uint32_t numbers[3];
        if (frame_count == FRAMES_MAX || about.st_size - at < (off_t)sizeof numbers)
            fail("%s is not a file of frames", path);
        memcpy(numbers, all + at, sizeof numbers);
        at += sizeof numbers;
        if (numbers[0] < PREFIX || numbers[0] > (uint64_t)(about.st_size - at)
            || numbers[2] + 2 > HEAD_MAX)
            fail("%s: frame %u cannot be", path, frame_count);
        frames[frame_count] = (struct frame){all + at, numbers[0], numbers[1], numbers[2]};
        at += numbers[0];
    }
    if (frame_count == 0)
        fail("%s holds no frame", path);
}

static struct frame *frame_of(const struct connection *c, uint32_t number) {
    return &frames[(c->first_frame + number) % frame_count];
}

static void wait_for_writing(struct connection *c, int waits) {
    if (c->waits_to_write == waits)
        return;
    c->waits_to_write = waits;
    struct epoll_event event = {.events = EPOLLIN | (waits ? EPOLLOUT : 0u), .data.ptr = c};
    epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &event);
}

/* Describes what may be sent now: the rest of a request that was begun, and whole ones. */
static int gather(struct connection *c, struct iovec *pieces,
                  unsigned char prefixes[][PREFIX]) {
    int count = 0;
    uint32_t skip = c->send_offset;
    uint64_t now = 0;
    for (uint32_t number = c->sent; number < c->answered + (uint32_t)depth; number++) {
        if (stopping && skip == 0)
            break;
        struct frame *frame = frame_of(c, number);
        unsigned char *prefix = prefixes[number - c->sent];
        uint32_t correlation_id = htonl(number);
        memcpy(prefix, frame->bytes, PREFIX - 4);
        memcpy(prefix + PREFIX - 4, &correlation_id, 4);
        if (skip < PREFIX)
            pieces[count++] = (struct iovec){prefix + skip, PREFIX - skip};
        uint32_t from = skip < PREFIX ? PREFIX : skip;
        if (frame->size > from)
            pieces[count++] = (struct iovec){(void *)(frame->bytes + from), frame->size - from};
        if (skip == 0) {
            now = now ? now : clock_ns(CLOCK_MONOTONIC);
            c->sent_at_ns[number % DEPTH_MAX] = now;
        }
        skip = 0;
    }
    return count;
}

static void send_more(struct connection *c) {
    static struct iovec pieces[2 * DEPTH_MAX];
    static unsigned char prefixes[DEPTH_MAX][PREFIX];
    for (;;) {
        int count = gather(c, pieces, prefixes);
        if (count == 0)
            break;
        ssize_t written = writev(c->fd, pieces, count);
        if (written < 0) {
            if (errno != EAGAIN)
                fail("cannot send: %s", strerror(errno));
            wait_for_writing(c, 1);
            return;
        }
        sent_bytes += (uint64_t)written;
        c->send_offset += (uint32_t)written;
        while (c->send_offset >= frame_of(c, c->sent)->size) {
            c->send_offset -= frame_of(c, c->sent)->size;
            c->sent++;
        }
    }
    wait_for_writing(c, 0);
}

static void check(struct connection *c, const struct frame *frame) {
    if (big_endian(c->head) + 4 != frame->answer_size)
        fail("answer %u has %u bytes, not %u", c->answered, big_endian(c->head) + 4,
             frame->answer_size);
    if (big_endian(c->head + 4) != c->answered)
        fail("answer %u has correlation id %u", c->answered, big_endian(c->head + 4));
    if (frame->error_at && (c->head[frame->error_at] | c->head[frame->error_at + 1]))
        fail("answer %u has error code %d", c->answered,
             (int16_t)(c->head[frame->error_at] << 8 | c->head[frame->error_at + 1]));
}

static void take_answer(struct connection *c, uint64_t now) {
    check(c, frame_of(c, c->answered));
    if (measuring) {
        uint64_t took = (now - c->sent_at_ns[c->answered % DEPTH_MAX]) / 1000;
        latency_us[took < LATENCY_MAX_US ? took : LATENCY_MAX_US]++;
    }
    c->answered++;
    c->have = 0;
    answers++;
    if (answers == warm) {
        begin = read_all();
        measuring = 1;
    } else if (measuring && (answers >= warm + wanted || now > begin.at_ns + limit_ns)) {
        end = read_all();
        measuring = 0;
        stopping = 1;
    }
}

/* Takes what was received; gives how much of it. */
static void take(struct connection *c, const unsigned char *bytes, size_t size, uint64_t now) {
    while (size > 0) {
        struct frame *frame = frame_of(c, c->answered);
        if (c->answered == c->sent)
            fail("%zu bytes came that nobody asked for", size);
        size_t part = frame->answer_size - c->have;
        part = part < size ? part : size;
        if (c->have < HEAD_MAX) {
            size_t kept = HEAD_MAX - c->have < part ? HEAD_MAX - c->have : part;
            memcpy(c->head + c->have, bytes, kept);
            if (c->have < 8 && c->have + kept >= 8 && big_endian(c->head) + 4 != frame->answer_size)
                check(c, frame);
        }
        c->have += (uint32_t)part;
        bytes += part;
        size -= part;
        if (c->have == frame->answer_size)
            take_answer(c, now);
    }
}

static void receive_more(struct connection *c) {
    for (;;) {
        uint32_t rest = frame_of(c, c->answered)->answer_size - c->have;
        int discards = c->have >= HEAD_MAX && rest > DISCARD_MIN;
        ssize_t size = discards ? recv(c->fd, NULL, rest, MSG_TRUNC)
                                : recv(c->fd, buffer, BUFFER, 0);
        if (size == 0)
            fail("the broker has closed the connection");
        if (size < 0) {
            if (errno == EAGAIN)
                return;
            fail("cannot receive: %s", strerror(errno));
        }
        received_bytes += (uint64_t)size;
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        if (discards) {
            c->have += (uint32_t)size;
            if (c->have == frame_of(c, c->answered)->answer_size)
                take_answer(c, now);
        } else {
            take(c, buffer, (size_t)size, now);
            if (size < BUFFER)
                return;
        }
    }
}

static void connect_all(const char *host, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int one = 1;
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        fail("%s is not an IPv4 address", host);
    epoll_fd = epoll_create1(0);
    for (int i = 0; i < connection_count; i++) {
        struct connection *c = &connections[i];
        c->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0)
            fail("cannot connect to %s:%d: %s", host, port, strerror(errno));
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        fcntl(c->fd, F_SETFL, O_NONBLOCK);
        c->first_frame = (uint32_t)((uint64_t)i * frame_count / (uint64_t)connection_count);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event);
    }
}

static int outstanding(void) {
    for (int i = 0; i < connection_count; i++)
        if (connections[i].answered < connections[i].sent || connections[i].send_offset > 0)
            return 1;
    return 0;
}

static void run(void) {
    struct epoll_event events[64];
    for (int i = 0; i < connection_count; i++)
        send_more(&connections[i]);
    while (!stopping || outstanding()) {
        int count = epoll_wait(epoll_fd, events, 64, GIVE_UP_MS);
        if (count == 0)
            fail("no answer for %d s", GIVE_UP_MS / 1000);
        if (count < 0 && errno != EINTR)
            fail("cannot wait: %s", strerror(errno));
        for (int i = 0; i < count; i++) {
            struct connection *c = events[i].data.ptr;
            if (events[i].events & ~(uint32_t)EPOLLOUT)
                receive_more(c);
            send_more(c);
        }
    }
}

static uint32_t latency_at(double share) {
    uint64_t total = 0, seen = 0;
    for (int us = 0; us <= LATENCY_MAX_US; us++)
        total += latency_us[us];
    for (int us = 0; us <= LATENCY_MAX_US; us++) {
        seen += latency_us[us];
        if (seen > 0 && (double)seen >= share * (double)total)
            return (uint32_t)us;
    }
    return 0;
}

static unsigned long long number(const char *text) {
    char *rest;
    unsigned long long value = strtoull(text, &rest, 10);
    if (*text == 0 || *rest != 0)
        fail("%s is not a number", text);
    return value;
}

int main(int count, char **words) {
    if (count != 10)
        fail("usage: loader HOST PORT CONNECTIONS DEPTH WARM REQUESTS SECONDS PID FRAMES");
    connection_count = (int)number(words[3]);
    depth = (int)number(words[4]);
    warm = number(words[5]) ? number(words[5]) : 1;
    wanted = number(words[6]);
    limit_ns = number(words[7]) * 1000000000u;
    broker = (pid_t)number(words[8]);
    if (depth < 1 || depth > DEPTH_MAX || connection_count < 1)
        fail("at least one connection, and 1 to %d requests in flight", DEPTH_MAX);
    signal(SIGPIPE, SIG_IGN);
    load_frames(words[9]);
    connections = calloc((size_t)connection_count, sizeof *connections);
    latency_us = calloc(LATENCY_MAX_US + 1, sizeof *latency_us);
    if (!connections || !latency_us)
        fail("not enough memory");
    connect_all(words[1], (int)number(words[2]));
    run();
    printf("{\"seconds\": %.9f, \"answers\": %llu, \"answers_in_all\": %llu, "
           "\"broker_cpu_seconds\": %.9f, \"own_cpu_seconds\": %.9f, \"sent_bytes\": %llu, "
           "\"received_bytes\": %llu, \"p50_us\": %u, \"p99_us\": %u, \"max_us\": %u}\n",
           (double)(end.at_ns - begin.at_ns) / 1e9,
           (unsigned long long)(end.answers - begin.answers), (unsigned long long)answers,
           (double)(end.broker_cpu_ns - begin.broker_cpu_ns) / 1e9,
           (double)(end.own_cpu_ns - begin.own_cpu_ns) / 1e9,
           (unsigned long long)(end.sent_bytes - begin.sent_bytes),
           (unsigned long long)(end.received_bytes - begin.received_bytes),
           latency_at(0.5), latency_at(0.99), latency_at(1.0));
    return 0;
}
