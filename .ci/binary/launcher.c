/* The single file `fencepost`: this program, and after it a folder in parts, each a frame of zstd.
 *
 * The first start unpacks the folder into the user's cache, a thread for each part, and each start
 * replaces this process by the folder's own program. So there is one process, whose id is the one
 * that the caller knows. No start waits for another one: each unpacks into a folder of its own, which
 * gets its name when it is whole.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#define PATH_BYTES 4096
#define PARTS 4
#define LEFTOVER_SECONDS 3600

/* The last bytes of the file; build.py writes them. */
struct trailer {
    char digest[16];
    uint64_t offsets[PARTS + 1]; /* where each part begins, and where the last one ends */
};

/* Before each file's content; a size of the path of zero ends the folder. */
struct entry {
    uint32_t path_bytes;
    uint32_t mode;
    uint64_t content_bytes;
};

static int join(char *out, const char *folder, const char *name)
{
    return snprintf(out, PATH_BYTES, "%s/%s", folder, name) < PATH_BYTES ? 0 : -1;
}

static int make_parents(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int failed = mkdir(path, 0700) && errno != EEXIST;
        *slash = '/';
        if (failed) {
            return -1;
        }
    }
    return 0;
}

/* A part, which a thread of its own unpacks. */
struct part {
    pthread_t thread;
    const char *folder;
    ZSTD_DStream *stream;
    ZSTD_inBuffer packed;
    int failed;
    char buffer[1 << 17];
};

static int read_whole(struct part *part, void *out, size_t size)
{
    ZSTD_outBuffer given = {out, size, 0};
    while (given.pos < size) {
        size_t before = given.pos, taken = part->packed.pos;
        if (ZSTD_isError(ZSTD_decompressStream(part->stream, &given, &part->packed))
            || (given.pos == before && part->packed.pos == taken)) {
            return -1;
        }
    }
    return 0;
}

static int copy_content(struct part *part, const char *path, const struct entry *entry)
{
    int out = open(path, O_WRONLY | O_CREAT | O_EXCL, entry->mode);
    if (out < 0) {
        return -1;
    }
    uint64_t left = entry->content_bytes;
    while (left) {
        size_t piece = left < sizeof part->buffer ? left : sizeof part->buffer;
        if (read_whole(part, part->buffer, piece)
            || write(out, part->buffer, piece) != (ssize_t)piece) {
            close(out);
            return -1;
        }
        left -= piece;
    }
    return close(out);
}

static void *unpack_part(void *given)
{
    struct part *part = given;
    struct entry entry;
    part->stream = ZSTD_createDStream();
    part->failed = !part->stream;
    while (!part->failed && !(part->failed = read_whole(part, &entry, sizeof entry))
           && entry.path_bytes) {
        char name[PATH_BYTES], path[PATH_BYTES];
        part->failed = entry.path_bytes >= PATH_BYTES || read_whole(part, name, entry.path_bytes);
        if (!part->failed) {
            name[entry.path_bytes] = 0;
            part->failed = join(path, part->folder, name)
                || make_parents(path, strlen(part->folder) + 1) || copy_content(part, path, &entry);
        }
    }
    ZSTD_freeDStream(part->stream);
    return NULL;
}

static int unpack(const char *own, const struct trailer *trailer, const char *folder)
{
    static struct part parts[PARTS];
    size_t size = trailer->offsets[PARTS];
    int in = open(own, O_RDONLY | O_CLOEXEC);
    const char *file = in < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, in, 0);
    if (in >= 0) {
        close(in);
    }
    if (file == MAP_FAILED) {
        return -1;
    }
    int failed = 0, threads = 0;
    for (int i = 0; i < PARTS; i++) {
        uint64_t begin = trailer->offsets[i], end = trailer->offsets[i + 1];
        parts[i].folder = folder;
        parts[i].packed = (ZSTD_inBuffer){file + begin, end - begin, 0};
    }
    while (threads < PARTS - 1
           && !pthread_create(&parts[threads].thread, NULL, unpack_part, &parts[threads])) {
        threads++;
    }
    for (int i = threads; i < PARTS; i++) { /* this thread takes what is left */
        unpack_part(&parts[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(parts[i].thread, NULL);
    }
    for (int i = 0; i < PARTS; i++) {
        failed |= parts[i].failed;
    }
    munmap((void *)file, size);
    return failed ? -1 : 0;
}

static int removed(const char *path, const struct stat *s, int kind, struct FTW *ftw)
{
    (void)s, (void)kind, (void)ftw;
    return remove(path);
}

/* Folders of starts that were killed while they unpacked. */
static void remove_leftovers(const char *folder)
{
    char pattern[PATH_BYTES];
    glob_t found;
    struct stat seen;
    if (snprintf(pattern, sizeof pattern, "%s.*", folder) >= (int)sizeof pattern
        || glob(pattern, 0, NULL, &found)) {
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (!lstat(found.gl_pathv[i], &seen) && seen.st_mtime + LEFTOVER_SECONDS < time(NULL)) {
            nftw(found.gl_pathv[i], removed, 16, FTW_DEPTH | FTW_PHYS);
        }
    }
    globfree(&found);
}

/* A folder of another user might hold another program. */
static int is_ours(const char *folder)
{
    struct stat found;
    return !lstat(folder, &found) && S_ISDIR(found.st_mode) && found.st_uid == geteuid()
        && !(found.st_mode & 022);
}

/* Give the program's path below `cache`, unpacked if it was not; -1 if that cannot be. */
static int program_in(const char *cache, const char *own, const struct trailer *trailer, char *out)
{
    char folder[PATH_BYTES], passing[PATH_BYTES], name[64];
    snprintf(name, sizeof name, "%.16s", trailer->digest);
    if (join(folder, cache, name) || join(out, folder, "fencepost")) {
        return -1;
    }
    char parents[PATH_BYTES];
    strcpy(parents, folder);
    if (make_parents(parents, 1) || !is_ours(cache)) {
        return -1;
    }
    if (!access(out, X_OK)) {
        return 0;
    }
    remove_leftovers(folder);
    /* Not named by the process: in containers, all have the same id. */
    snprintf(name, sizeof name, "%.16s.XXXXXX", trailer->digest);
    if (join(passing, cache, name) || !mkdtemp(passing)) {
        return -1;
    }
    int failed = unpack(own, trailer, passing) || rename(passing, folder);
    if (failed) { /* or another process was first */
        nftw(passing, removed, 16, FTW_DEPTH | FTW_PHYS);
    }
    return access(out, X_OK);
}

int main(int argc, char **argv)
{
    (void)argc;
    char own[PATH_BYTES], cache[PATH_BYTES], program[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    struct trailer trailer;
    int file = -1;
    if (length > 0) {
        own[length] = 0;
        file = open(own, O_RDONLY | O_CLOEXEC);
    }
    if (file < 0 || lseek(file, -(off_t)sizeof trailer, SEEK_END) < 0
        || read(file, &trailer, sizeof trailer) != sizeof trailer) {
        fprintf(stderr, "fencepost: its own file cannot be read: is /proc mounted?\n");
        return 70;
    }
    close(file);
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *tmp = getenv("TMPDIR");
    char choices[3][PATH_BYTES] = {"", "", ""};
    if (xdg && *xdg == '/') {
        snprintf(choices[0], PATH_BYTES, "%s/fencepost", xdg);
    }
    if (home && *home == '/') {
        snprintf(choices[1], PATH_BYTES, "%s/.cache/fencepost", home);
    }
    snprintf(choices[2], PATH_BYTES, "%s/fencepost-%ld", tmp && *tmp == '/' ? tmp : "/tmp",
             (long)geteuid());
    for (int choice = 0; choice < 3; choice++) {
        strcpy(cache, choices[choice]);
        if (*cache && !program_in(cache, own, &trailer, program)) {
            execv(program, argv);
        }
    }
    fprintf(stderr,
            "fencepost: it cannot be unpacked: set XDG_CACHE_HOME to a directory that can be written"
            " and whose files can be run (40 MB)\n");
    return 71;
}
