/* The single file `fencepost`: this program, and after it a folder as gzip.
 *
 * The first start unpacks the folder into the user's cache, and each start replaces this process by
 * the folder's own program. So there is one process, whose id is the one that the caller knows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define PATH_BYTES 4096

/* The last bytes of the file; build.py writes them. */
struct trailer {
    char digest[16];
    uint64_t offset;
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

static int read_whole(gzFile packed, void *out, unsigned size)
{
    return gzread(packed, out, size) == (int)size ? 0 : -1;
}

static int copy_content(gzFile packed, const char *path, const struct entry *entry)
{
    static char buffer[1 << 17];
    int out = open(path, O_WRONLY | O_CREAT | O_EXCL, entry->mode);
    if (out < 0) {
        return -1;
    }
    uint64_t left = entry->content_bytes;
    while (left) {
        unsigned piece = left < sizeof buffer ? (unsigned)left : (unsigned)sizeof buffer;
        if (read_whole(packed, buffer, piece) || write(out, buffer, piece) != (ssize_t)piece) {
            close(out);
            return -1;
        }
        left -= piece;
    }
    return close(out);
}

static int unpack(const char *own, uint64_t offset, const char *folder)
{
    int in = open(own, O_RDONLY | O_CLOEXEC);
    if (in < 0 || lseek(in, (off_t)offset, SEEK_SET) < 0) {
        return -1;
    }
    gzFile packed = gzdopen(in, "rb");
    if (!packed || mkdir(folder, 0700)) {
        return -1;
    }
    struct entry entry;
    int failed;
    while (!(failed = read_whole(packed, &entry, sizeof entry)) && entry.path_bytes) {
        char name[PATH_BYTES], path[PATH_BYTES];
        failed = entry.path_bytes >= PATH_BYTES || read_whole(packed, name, entry.path_bytes);
        if (!failed) {
            name[entry.path_bytes] = 0;
            failed = join(path, folder, name) || make_parents(path, strlen(folder) + 1)
                || copy_content(packed, path, &entry);
        }
        if (failed) {
            break;
        }
    }
    gzclose(packed);
    return failed ? -1 : 0;
}

static int removed(const char *path, const struct stat *s, int kind, struct FTW *ftw)
{
    (void)s, (void)kind, (void)ftw;
    return remove(path);
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
    snprintf(name, sizeof name, "%.16s.%ld", trailer->digest, (long)getpid());
    if (join(passing, cache, name)) {
        return -1;
    }
    int failed = unpack(own, trailer->offset, passing) || rename(passing, folder);
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
