/* Fetches URLs with libcurl on several threads, each host guarded by breakers of its own.
 *
 *     fetch RULES TIMEOUT_MS THREADS
 *
 * RULES is a file of Sentinel JSON; a rule's resource is a host with its port, or a regex for it. Each
 * line of the input, "call ID URL", is answered by a line "done ID ok", "done ID failed" or "done ID
 * blocked"; changes of a breaker's state are told in between. So by hand:
 *
 *     echo 'call 1 https://example.org/' | fetch rules.json 1000 4
 */
#define _POSIX_C_SOURCE 200112L
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tripcoil.h>

enum { MAX_LINE = 4096, MAX_HOST = 300, MAX_THREADS = 256, MAX_RULES = 1 << 20 };

struct options {
    tripcoil_registry *registry;
    long timeout_ms;
};

/* What a thread keeps from call to call. */
struct worker {
    const struct options *options;
    CURL *curl;
    char host[MAX_HOST];
    tripcoil_resource *resource; /* the last host's, so that it is seldom looked up */
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "fetch: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void must(tripcoil_status status, const char *what)
{
    if (status != TRIPCOIL_OK)
        die(what, tripcoil_status_message(status));
}

/* Runs on the thread whose call changed the state. */
static void tell(void *user_data, const tripcoil_change *change)
{
    (void)user_data;
    printf("change %zu %s %s %.*s\n", change->position, tripcoil_state_name(change->from),
           tripcoil_state_name(change->to), (int)change->explanation_len,
           change->explanation ? change->explanation : "");
}

static size_t ignore_body(char *data, size_t size, size_t count, void *user_data)
{
    (void)data;
    (void)user_data;
    return size * count;
}

/* The URL's host and port, as in "example.org:443"; 0 if it has none. */
static int host_of(const char *url, char *host, size_t capacity)
{
    CURLU *parts = curl_url();
    char *name = NULL, *port = NULL;
    int length = 0;

    if (parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &name, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK)
        length = snprintf(host, capacity, "%s:%s", name, port);
    curl_free(name);
    curl_free(port);
    curl_url_cleanup(parts);
    return length > 0 && (size_t)length < capacity;
}

/* Has `worker->resource` be the host's. */
static void use_host(struct worker *worker, const char *host)
{
    if (worker->resource && strcmp(worker->host, host) == 0)
        return;
    must(tripcoil_resource_free(worker->resource), "resource");
    must(tripcoil_registry_resource(worker->options->registry, host, strlen(host), &worker->resource), host);
    strcpy(worker->host, host);
}

/* An answer that says that the server is well, whatever it thinks of the request. */
static int get(struct worker *worker, const char *url)
{
    long code = 0;

    curl_easy_setopt(worker->curl, CURLOPT_URL, url);
    if (curl_easy_perform(worker->curl) != CURLE_OK)
        return 0;
    curl_easy_getinfo(worker->curl, CURLINFO_RESPONSE_CODE, &code);
    return code < 500;
}

static const char *guarded_get(struct worker *worker, const char *url)
{
    char host[MAX_HOST];
    tripcoil_entry entry;
    tripcoil_status status;
    int well;

    if (!host_of(url, host, sizeof host))
        return "failed";
    use_host(worker, host);
    status = tripcoil_resource_enter(worker->resource, &entry);
    if (status == TRIPCOIL_BLOCKED)
        return "blocked";
    must(status, "enter");
    well = get(worker, url);
    must(tripcoil_entry_end(&entry, well ? TRIPCOIL_GOOD : TRIPCOIL_BAD), "end");
    return well ? "ok" : "failed";
}

/* Takes lines from the input, which the threads share, until there are no more. */
static void *work(void *options)
{
    struct worker worker = {options, curl_easy_init(), "", NULL};
    char line[MAX_LINE], id[64], url[MAX_LINE];

    if (!worker.curl)
        die("curl", "no handle");
    curl_easy_setopt(worker.curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(worker.curl, CURLOPT_TIMEOUT_MS, worker.options->timeout_ms);
    curl_easy_setopt(worker.curl, CURLOPT_WRITEFUNCTION, ignore_body);
    while (fgets(line, sizeof line, stdin)) {
        if (!strchr(line, '\n') || sscanf(line, "call %63s %4095s", id, url) != 2)
            die("not a call", line);
        printf("done %s %s\n", id, guarded_get(&worker, url));
    }
    must(tripcoil_resource_free(worker.resource), "resource");
    curl_easy_cleanup(worker.curl);
    return NULL;
}

static void load(tripcoil_registry *registry, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *rules = malloc(MAX_RULES), why[512];
    tripcoil_report *report;
    size_t length;

    if (!file || !rules)
        die(path, "cannot be read");
    length = fread(rules, 1, MAX_RULES, file);
    if (tripcoil_registry_load(registry, rules, length, &report) != TRIPCOIL_OK) {
        if (tripcoil_report_text(report, 0, TRIPCOIL_TEXT_MESSAGE, why, sizeof why, NULL) == TRIPCOIL_OK)
            die(path, why);
        die(path, "cannot be loaded");
    }
    tripcoil_report_free(report);
    free(rules);
    fclose(file);
}

int main(int argc, char **argv)
{
    struct options options = {NULL, argc > 2 ? atol(argv[2]) : 0};
    const long threads = argc > 3 ? atol(argv[3]) : 0;
    pthread_t running[MAX_THREADS];
    long i;

    if (argc != 4 || options.timeout_ms <= 0 || threads < 1 || threads > MAX_THREADS)
        die("usage", "fetch RULES TIMEOUT_MS THREADS (1 to 256)");
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        die("curl", "cannot be used");
    must(tripcoil_registry_new(NULL, 0, &options.registry), "registry");
    load(options.registry, argv[1]);
    must(tripcoil_registry_observe(options.registry, TRIPCOIL_STR("stdout"), tell, NULL, NULL), "observer");
    puts("ready");
    for (i = 0; i < threads; i++)
        if (pthread_create(&running[i], NULL, work, &options) != 0)
            die("thread", "cannot be started");
    for (i = 0; i < threads; i++)
        pthread_join(running[i], NULL);
    must(tripcoil_registry_free(options.registry), "registry");
    curl_global_cleanup();
    return 0;
}
